/* interval.h - the confidence interval that agrees with the sign-flip test: the means that the test would not reject.
 */
#ifndef CORE_STATS_INTERVAL_H
#define CORE_STATS_INTERVAL_H

#include "core/base/error.h"
#include "core/stats/signflip.h"

#include <stddef.h>

struct interval {
    double lo, hi; /* both NaN when so few pairs bound no interval at this level */
};

/* The 1 - 2 alpha intervals of the means of n cells' differences: every m at which both one-sided sign-flip tests of
 * "the mean is m" give more than alpha. diff: [s->n_tasks][n_columns]; what is not finite is a missing pair; column:
 * [n] those wanted. All differences equal (two pairs at least): the interval is that point. alpha in (0, 0.5).
 *
 * The test of d - m is decided by whether the mean over the flipped tasks lies below m. So its limits are order
 * statistics of the means over the flipped (and over the other) tasks, and no search is needed (Hartigan 1969). */
MUST_CHECK enum status interval_signflip(const struct signflip *s, const double *diff, size_t n_columns,
                                         const size_t *column, size_t n, double alpha, struct interval *ret,
                                         struct error *err);

#endif
