/* summary.h - sums, means, deviations and quantiles of an array. */
#ifndef CORE_STATS_SUMMARY_H
#define CORE_STATS_SUMMARY_H

#include <stddef.h>

/* A running sum with its rounding error kept beside it (Neumaier 1974). Zeroed is empty. */
struct summary_sum {
    double sum, lost;
};

void summary_add(struct summary_sum *s, double x);
double summary_total(const struct summary_sum *s);

/* What is finite of an array; the rest is left out. mean, min, max are NaN when n is 0, sd (ddof 1) when n < 2. */
struct summary {
    size_t n;
    double mean, sd, min, max;
};

void summary_of(struct summary *s, const double *x, size_t n);

/* Quantile q in [0,1] of n ascending values, interpolated between order statistics (type 7, as NumPy and R do by
 * default); NaN when n is 0. */
double summary_quantile(const double *sorted, size_t n, double q);

/* Ascending, in place. NaN is not allowed. */
void summary_sort(double *x, size_t n);

/* The k-th smallest (from 0) and the k-th largest of n > k values; reorders x. Expected time O(n), fast where k is a
 * small share of n. NaN is not allowed. */
void summary_select_ends(double *x, size_t n, size_t k, double *ret_low, double *ret_high);

#endif
