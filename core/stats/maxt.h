/* maxt.h - step-down max-T (Westfall and Young 1993): how often a relabelled sum is at least the one seen, for a cell
 * by itself and for the largest of the cells that are no stronger.
 *
 * A relabelling chooses one of several values for every task: d or -d, or the difference that one of several runs
 * would make as the candidate. All cells are relabelled together, so that the adjusted p hold the family-wise error
 * rate however the cells depend on each other. Sums equal up to rounding count as equal.
 *
 * This is the matrix product of signs and differences with the maxima taken as the sums appear, so that the product is
 * never stored; counted by kernels/maxt_count.h, on the CPU in double, so that no tie breaks. There it is no call of a
 * BLAS on purpose: an SGEMM alone, whose product would have to be read again and its ties recounted in double, takes
 * over half of the time that all of this does. On CUDA it is cuBLAS, and the counts are the same. */
#ifndef CORE_STATS_MAXT_H
#define CORE_STATS_MAXT_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tasks are taken in groups of four at most, with no more combinations of their choices than a table should hold. */
enum { MAXT_GROUP = 4, MAXT_PATTERNS = 40, MAXT_OPTIONS = 255 };

/* The relabellings. Everything is borrowed. */
struct maxt {
    size_t n_tasks, n_groups, n_draws;
    const size_t *n_options; /* [n_tasks] choices of a task, at least 1, at most MAXT_OPTIONS                      */
    const size_t *first;     /* [n_groups + 1] the first task of a group, and n_tasks                              */
    const uint8_t *pattern;  /* [n_groups][n_draws] choices of a group's tasks, the first task the fastest         */
    bool is_enumerated;      /* these are all relabellings, the one seen among them; else p counts it as one more  */
};

/* part: for each task its n_options rows of [n_cells], every cell scaled so that its sums are of the order of
 * sqrt(n_tasks) at most; z: [n_cells], |sum| as seen, NaN for a cell that is not tested. ret_p, ret_p_adj: [n_cells],
 * written for cells that are tested. */
MUST_CHECK enum status maxt_test(const struct maxt *m, const double *part, const double *z, size_t n_cells,
                                 double *ret_p, double *ret_p_adj, struct error *err);

/* Sorts tasks into groups: ret: [n_tasks + 1]; returns how many groups. */
size_t maxt_groups(const size_t *n_options, size_t n_tasks, size_t *ret);

#endif
