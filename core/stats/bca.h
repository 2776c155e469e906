/* bca.h - bootstrap intervals of means, bias-corrected and accelerated (Efron 1987), for many cells at once.
 *
 * They stand beside the intervals that invert the sign-flip test and decide nothing: a reader who knows them sees
 * whether both say the same. Tasks are drawn with replacement, the same tasks for all cells; draws follow the seed
 * alone, so that any number of threads gives the same bits. As scipy.stats.bootstrap(method='BCa') has it. */
#ifndef CORE_STATS_BCA_H
#define CORE_STATS_BCA_H

#include "core/base/error.h"
#include "core/stats/interval.h"

#include <stddef.h>
#include <stdint.h>

/* Beyond so many tasks the intervals would take seconds and be those of the normal distribution: none is given. */
enum { BCA_RESAMPLES = 2000, BCA_MAX_TASKS = 20000, BCA_MIN_PAIRS = 3 };

/* diff: [n_tasks][n_columns]; what is not finite is a missing pair. column: [n] those wanted; ret: [n] their 1 - 2
 * alpha intervals. All differences equal: that point. NaN where there are fewer than BCA_MIN_PAIRS pairs, or where all
 * resampled means lie on one side of the one seen, so that the correction has no bound. */
MUST_CHECK enum status bca_intervals(const double *diff, size_t n_tasks, size_t n_columns, const size_t *column,
                                     size_t n, uint64_t seed, size_t n_resamples, double alpha, struct interval *ret,
                                     struct error *err);

#endif
