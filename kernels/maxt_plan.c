#include "kernels/maxt_plan.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_STEP = 4 }; /* of kernels/gemm.h */

void maxt_plan_done(struct maxt_plan *plan)
{
    free(plan->tasks);
    free(plan->columns);
    free(plan->bound);
    memset(plan, 0, sizeof *plan);
}

static enum status count_rows(struct maxt_plan *plan, const struct maxt_count_args *args, struct error *err)
{
    size_t i;

    plan->depth = 1;
    for (i = 0; i < args->n_tasks; i++) {
        plan->n_rows += args->n_options[i];
        plan->depth += args->n_options[i] - 1;
    }
    plan->depth = (plan->depth + DEPTH_STEP - 1) / DEPTH_STEP * DEPTH_STEP;
    if (plan->n_rows > UINT32_MAX)
        return error_set(err, ERR_LIMIT, "%zu tasks are too many for the GPU: use the device cpu", args->n_tasks);
    return OK;
}

static void list_choices(struct maxt_plan *plan, const struct maxt_count_args *args)
{
    struct maxt_choice *column = plan->columns, *end = plan->columns + plan->depth;
    size_t g, i, row = 0;

    *column++ = (struct maxt_choice){.stride = 1, .n_options = 1}; /* the constant: of one option it is chosen */
    for (g = 0; g < args->n_groups; g++) {
        uint32_t stride = 1, c;

        for (i = args->first[g]; i < args->first[g + 1]; i++) {
            struct maxt_choice task = {
                .group = (uint32_t)g, .stride = stride, .n_options = (uint32_t)args->n_options[i], .row = row};

            plan->tasks[i] = task;
            for (c = 1; c < task.n_options; c++) {
                *column = task;
                (column++)->option = c;
            }
            stride *= task.n_options;
            row += task.n_options;
        }
    }
    while (column < end)
        *column++ = (struct maxt_choice){.stride = 1, .n_options = 1, .option = 1}; /* never chosen */
}

static double value(const struct maxt_count_args *args, size_t row, size_t cell)
{
    return args->part[row * args->n_columns + args->column[cell]];
}

/* With u = 2^-24: each of n + 1 terms is rounded to float, which is off by u, and added in any order, n roundings of at
 * most the sum of the terms' magnitudes: (n + 1) u / (1 - (n + 1) u) of it in all, and the sum in double within far
 * less than u of its own. What is too small for a float is off by less than 2^-149 a term. Beyond n u = 1/5 nothing is
 * promised, and every sum is taken in double. */
static double bound_of(const struct maxt_plan *plan, const struct maxt_count_args *args, size_t cell)
{
    double n = (double)args->n_tasks, size = 0, base = 0;
    size_t i;

    if (!((n + 4) * 0x1p-24 < 0.2))
        return INFINITY;
    for (i = 0; i < args->n_tasks; i++) {
        const struct maxt_choice *task = &plan->tasks[i];
        double first = value(args, task->row, cell), most = 0;
        uint32_t c;

        for (c = 1; c < task->n_options; c++)
            most = fmax(most, fabs(value(args, task->row + c, cell) - first));
        base += first;
        size += most + fabs(first) * 0x1p-20; /* the base was rounded in double itself */
    }
    return 1.25 * (n + 4) * 0x1p-24 * (size + fabs(base)) + n * 0x1p-140;
}

enum status maxt_plan_init(struct maxt_plan *plan, const struct maxt_count_args *args, struct error *err)
{
    AUTO(maxt_plan) out = {0};
    size_t k;

    TRY(count_rows(&out, args, err));
    TRY(mem_new(args->n_tasks, sizeof *out.tasks, &out.tasks, err));
    TRY(mem_new(out.depth, sizeof *out.columns, &out.columns, err));
    TRY(mem_new(args->n_cells, sizeof *out.bound, &out.bound, err));
    list_choices(&out, args);
    for (k = 0; k < args->n_cells; k++) {
        out.bound[k] = bound_of(&out, args, k);
        out.max_bound = fmax(out.max_bound, out.bound[k]);
    }
    *plan = out;
    memset(&out, 0, sizeof out);
    return OK;
}

void maxt_plan_cells(const struct maxt_plan *plan, const struct maxt_count_args *args, size_t first, size_t n,
                     double *part, float *factor)
{
    size_t row, i, k, column;

    for (row = 0; row < plan->n_rows; row++)
        for (k = 0; k < n; k++)
            part[row * n + k] = value(args, row, first + k);
    for (k = 0; k < n; k++) {
        float *to = factor + k * plan->depth;
        double base = 0;

        for (i = 0, column = 1; i < args->n_tasks; i++) {
            const double *rows = part + plan->tasks[i].row * n + k;
            uint32_t c;

            base += rows[0];
            for (c = 1; c < plan->tasks[i].n_options; c++)
                to[column++] = (float)(rows[c * n] - rows[0]);
        }
        to[0] = (float)base;
        while (column < plan->depth)
            to[column++] = 0;
    }
}
