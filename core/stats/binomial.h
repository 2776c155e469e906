/* binomial.h - shares that were counted: exact probabilities, intervals, and how many requests prove a tail objective.
 */
#ifndef CORE_STATS_BINOMIAL_H
#define CORE_STATS_BINOMIAL_H

#include <stddef.h>

/* P(X <= k) of n trials that each succeed with probability p in [0, 1]; 1 for k >= n. */
double binomial_cdf(size_t k, size_t n, double p);

/* The interval of Clopper and Pearson (1934) for k of n: it covers with at least `confidence`. 0 and 1 for n = 0. */
struct binomial_interval {
    double lo, hi;
};
struct binomial_interval binomial_interval(size_t k, size_t n, double confidence);

/* How sure it is that a share of `quantile` of all requests keeps a limit, when `over` of n seen did not: one less the
 * chance of so few if it were not so. */
double binomial_confidence(size_t over, size_t n, double quantile);

/* The requests with which `over` beyond the limit still show with `confidence` that a share `quantile` keeps it: 459,
 * 662, 838 for P99 at 99 % with 0, 1, 2 over it. 0 when more than BINOMIAL_MAX would be needed. */
enum { BINOMIAL_MAX = 100000000 };
size_t binomial_n_for(size_t over, double quantile, double confidence);

#endif
