/* relabel.h - the paired permutation test against several base runs, for many cells at once.
 *
 * Under "nothing changed" each of a task's k + 1 runs is as likely as the others to be the one that is called the
 * candidate. So the runs of whole tasks change places, the same for all cells, and the statistic is computed anew: the
 * sum over tasks of candidate less mean of the others, over the deviation that this sum has under all relabellings
 * (which does not change with them). With one base run a change of places is a change of sign, and this is the
 * sign-flip test: the same draws, the same p. */
#ifndef CORE_STATS_RELABEL_H
#define CORE_STATS_RELABEL_H

#include "core/base/error.h"
#include "core/stats/signflip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The relabellings of a set of tasks. All of them where these are no more than `max_resamples`; else max_resamples
 * random ones, which follow seed and stream alone. */
struct relabel {
    uint8_t *pattern;  /* owned: as struct maxt has it */
    size_t *first;     /* owned: [n_groups + 1]        */
    size_t *n_options; /* owned: [n_tasks]             */
    size_t n_tasks, n_groups, n_draws;
    bool is_enumerated;
};

/* stream: [n_tasks], rng_stream(task id). n_options: [n_tasks], the runs that have the task, the candidate too; from 1
 * to MAXT_OPTIONS. */
MUST_CHECK enum status relabel_init(struct relabel *r, const uint64_t *stream, const size_t *n_options, size_t n_tasks,
                                    uint64_t seed, size_t max_resamples, struct error *err);
void relabel_done(struct relabel *r);

/* diff: for each task its n_options rows of [n_cells]: the difference with each of its runs as the candidate, the real
 * one first. Not finite in the first row: a missing pair; in another: that run has no value there to change places
 * with. ret: [n_cells]; mean, sd and t are those of the first rows. */
MUST_CHECK enum status relabel_test(const struct relabel *r, const double *diff, size_t n_cells,
                                    struct signflip_cell *ret, struct error *err);

/* Pairs from which on p can be `p` or less with so many runs; 0 when no number of pairs gives it. */
size_t relabel_pairs_for(double p, size_t n_options, size_t max_resamples);

#endif
