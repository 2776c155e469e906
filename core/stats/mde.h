/* mde.h - what a sample could have shown, and how large one must be. */
#ifndef CORE_STATS_MDE_H
#define CORE_STATS_MDE_H

#include <stddef.h>

/* The standard normal distribution; the quantile is infinite at 0 and 1. */
double mde_normal_cdf(double z);
double mde_normal_quantile(double p);

/* Student's t with df >= 1 degrees of freedom. */
double mde_t_cdf(double t, size_t df);
double mde_t_quantile(double p, size_t df);

/* The smallest |mean difference| that a two-sided test at level alpha finds with probability `power`, from n pairs
 * whose differences have deviation sd: (t[1-alpha/2] + t[power]) sd / sqrt(n), t with n - 1 degrees of freedom. NaN for
 * n < 2. */
double mde_paired(double sd, size_t n, double alpha, double power);

/* The number of pairs, at least 2, from which on mde_paired() is `effect` or less; 0 when more than MDE_MAX_PAIRS would
 * be needed, or `effect` is not above 0. */
enum { MDE_MAX_PAIRS = 1000000 };
size_t mde_pairs_for(double sd, double effect, double alpha, double power);

#endif
