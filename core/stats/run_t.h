/* run_t.h - the t test where the run is the unit: what one or several new runs show against k earlier ones.
 *
 * Each run is one number (a mean, a P95 over its requests). delta = mean of the new - mean of the earlier ones, its
 * standard error sd sqrt(1/k + 1/m) with the deviation sd within the two sides pooled, t with k + m - 2 degrees of
 * freedom. With m = 1 this is the prediction test: sd is that of the k runs alone, df = k - 1. Assumes that the runs'
 * numbers are normal and as variable on both sides. */
#ifndef CORE_STATS_RUN_T_H
#define CORE_STATS_RUN_T_H

#include <stdbool.h>
#include <stddef.h>

struct run_t {
    size_t n_base, n_cand, df;
    double base, cand, delta; /* means, and cand - base                       */
    double sd;                /* between runs of one side, pooled             */
    double t, p;              /* two-sided; 1e-12 where it is less            */
    double lo, hi;            /* the 1 - 2 alpha interval of delta            */
    double mde;               /* smallest |delta| that is found with `power`  */
};

/* False when the runs show no noise to hold delta against: fewer than three in all, one side without any, or all
 * the same to the last bit. What can be said without is filled, the rest NaN. Values that are not finite are left out.
 */
bool run_t_test(struct run_t *r, const double *base, size_t n_base, const double *cand, size_t n_cand, double alpha,
                double power);

/* The smallest |delta| that so many runs find with `power` at a two-sided level alpha, runs of a side differing by sd.
 */
double run_t_detectable(double sd, size_t n_base, size_t n_cand, double alpha, double power);

/* The fewest runs on each side, from 2 to RUN_T_MAX, with which `effect` is found with `power` at a two-sided level
 * alpha; 0 when more would be needed. */
enum { RUN_T_MAX = 1000 };
size_t run_t_runs_for(double sd, double effect, double alpha, double power);

#endif
