/* maxt_count.h - relabelled sums against those seen: the counts of the step-down max-T test of core/stats/maxt.h.
 *
 * Each of n_draws relabellings chooses one of its rows for every task; s_k is the sum of the chosen values of cell k.
 * Counted are the draws with |s_k| >= limit_k, and those in which one of the cells 0 to k has |s| >= limit_k.
 *
 * A sum is that of the groups' sums, each that of its tasks in order, in double: every backend gives the same counts,
 * on any number of threads. On CUDA the sums come from a float product first, whose error is bounded; what the bound
 * does not decide, ties among it, and what may be the largest so far is added up again as the CPU does it. */
#ifndef KERNELS_MAXT_COUNT_H
#define KERNELS_MAXT_COUNT_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is borrowed. */
struct maxt_count_args {
    size_t n_tasks, n_groups, n_draws;
    const size_t *n_options; /* [n_tasks] rows of a task                                                        */
    const size_t *first;     /* [n_groups + 1] the first task of a group, and n_tasks                           */
    const uint8_t *pattern;  /* [n_groups][n_draws] the rows of a group's tasks, the first task the fastest     */
    const double *part;      /* for each task its n_options rows of [n_columns]; finite                         */
    size_t n_columns, n_cells;
    const size_t *column; /* [n_cells] where a cell stands in a row */
    const double *limit;  /* [n_cells] ascending                    */
};

/* ret_hits, ret_hits_max: [n_cells], written when all went well. */
MUST_CHECK enum status maxt_count_cpu(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                                      struct error *err);
MUST_CHECK enum status maxt_count_cuda(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                                       struct error *err);

/* Rows that a group's tasks can choose together. */
size_t maxt_count_patterns(const struct maxt_count_args *args, size_t group);

#ifdef __cplusplus
}
#endif
#endif
