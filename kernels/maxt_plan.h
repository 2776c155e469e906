/* maxt_plan.h - what maxt_count_cuda() lays out on the host: sums as a matrix product, and how far its floats may be
 * off.
 *
 * A sum is that of every task's first row, and of what each other row that was chosen adds to it:
 *   s_k = sum_i p[i][0][k] + sum over (i, c > 0) of x[i][c] (p[i][c][k] - p[i][0][k]),   x = 1 where c was chosen, else
 * 0. So the columns of the product are a constant 1 and these (i, c), filled up to a multiple of 4. */
#ifndef KERNELS_MAXT_PLAN_H
#define KERNELS_MAXT_PLAN_H

#include "kernels/maxt_count.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The choice of a task is pattern[group] / stride % n_options. */
struct maxt_choice {
    uint32_t group, stride, n_options;
    uint32_t option; /* of a column: the choice that makes it 1 */
    size_t row;      /* the task's first row                    */
};

struct maxt_plan {
    struct maxt_choice *tasks;   /* owned: [n_tasks]                                             */
    struct maxt_choice *columns; /* owned: [depth]                                               */
    double *bound;               /* owned: [n_cells] |float product - sum in double| is at most this */
    double max_bound;            /* the largest of them */
    size_t n_rows, depth;
};

MUST_CHECK enum status maxt_plan_init(struct maxt_plan *plan, const struct maxt_count_args *args, struct error *err);
void maxt_plan_done(struct maxt_plan *plan);

/* The cells [first, first + n): part: [n_rows][n]; factor: [n][depth]. */
void maxt_plan_cells(const struct maxt_plan *plan, const struct maxt_count_args *args, size_t first, size_t n,
                     double *part, float *factor);

#ifdef __cplusplus
}
#endif
#endif
