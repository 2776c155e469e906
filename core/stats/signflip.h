/* signflip.h - the paired sign-flip permutation test, for many cells at once.
 *
 * Under "nothing changed" a task's difference is as likely d as -d. So the signs of whole tasks are flipped, the same
 * flip for all cells, and the share of flips that give at least what was seen is p. The statistic of a cell is
 * z = |sum d| / sqrt(sum d^2): for a fixed number of pairs it rises with |t|, flips leave its denominator as it is, and
 * it is bounded by sqrt(n), so that a cell with few pairs, where t has no bound, cannot rule the maximum. Adjusted p
 * are step-down (Westfall and Young 1993): they hold the family-wise error rate however the cells depend on each other.
 * Values equal up to rounding count as equal. All differences equal and not 0: t is infinite, p is what counting signs
 * gives. All 0: p = 1. Never NaN where there is a pair. */
#ifndef CORE_STATS_SIGNFLIP_H
#define CORE_STATS_SIGNFLIP_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flips of four tasks are kept together, so that the 16 signed sums of their differences can be looked up. */
enum { SIGNFLIP_RESAMPLES = 10000, SIGNFLIP_GROUP = 4, SIGNFLIP_PATTERNS = 16 };

/* The flips of a set of tasks. All 2^n of them where these are no more than `max_resamples` (one of each pair s, -s is
 * kept: both give the same |sum|); else max_resamples random ones, which follow seed and stream alone. */
struct signflip {
    uint8_t *pattern; /* owned: [n_groups][n_flips], bit j of group g: task 4g + j is flipped */
    size_t n_tasks, n_groups, n_flips;
    bool is_enumerated; /* then flip 0 flips nothing */
};

/* stream: [n_tasks], rng_stream(task id), so that p does not hang on the order of tasks. */
MUST_CHECK enum status signflip_init(struct signflip *s, const uint64_t *stream, size_t n_tasks, uint64_t seed,
                                     size_t max_resamples, struct error *err);
void signflip_done(struct signflip *s);

struct signflip_cell {
    size_t n; /* pairs */
    double mean, sd, t;
    double p;     /* two-sided; NaN when n is 0 */
    double p_adj; /* over all cells with a pair */
    double p_min; /* the smallest p that so many pairs can give */
};

/* Fills what needs no flips of column [n], what is not finite a missing pair: p and p_min are 1. */
void signflip_describe(const double *column, size_t n, struct signflip_cell *ret);

/* diff: n_tasks x n_cells, row-major; what is not finite is a missing pair. ret: [n_cells]. */
MUST_CHECK enum status signflip_test(const struct signflip *s, const double *diff, size_t n_cells,
                                     struct signflip_cell *ret, struct error *err);

/* The smallest two-sided p that n pairs can give: 2/2^n, or 1/(B+1) where flips are drawn. */
double signflip_p_min(size_t n_pairs, size_t max_resamples);

/* Pairs from which on p can be `p` or less; 0 when no number of pairs gives it. */
size_t signflip_pairs_for(double p, size_t max_resamples);

#endif
