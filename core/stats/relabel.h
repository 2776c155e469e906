/* relabel.h - the paired permutation test of several runs against several, for many cells at once.
 *
 * Under "nothing changed" each of a task's k + m runs is as likely as the others to stand at a place of the candidate.
 * So the runs of whole tasks change places, the same for all cells, and the statistic is computed anew: the sum over
 * tasks of mean of the candidate's places less mean of the others, over the deviation that this sum has under all
 * relabellings (which does not change with them). The caller says which changes of places there are: any set that is a
 * group, moving all runs on by 0 to k + m - 1 places say, makes a valid test. With one run against one a change of
 * places is a change of sign, and this is the sign-flip test: the same draws, the same p. */
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

/* stream: [n_tasks], rng_stream(task id). n_options: [n_tasks], the changes of places of a task's runs, that of none
 * among them; from 1 to MAXT_OPTIONS. */
MUST_CHECK enum status relabel_init(struct relabel *r, const uint64_t *stream, const size_t *n_options, size_t n_tasks,
                                    uint64_t seed, size_t max_resamples, struct error *err);
void relabel_done(struct relabel *r);

/* diff: for each task its n_options rows of [n_cells]: the difference after each change of places, the real one first.
 * Not finite in the first row: a missing pair; in another: then one of the sides has no value. ret: [n_cells]; mean, sd
 * and t are those of the first rows. */
MUST_CHECK enum status relabel_test(const struct relabel *r, const double *diff, size_t n_cells,
                                    struct signflip_cell *ret, struct error *err);

/* Pairs from which on p can be `p` or less with so many changes of places; 0 when no number of pairs gives it. */
size_t relabel_pairs_for(double p, size_t n_options, size_t max_resamples);

#endif
