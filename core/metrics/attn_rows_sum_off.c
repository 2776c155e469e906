#include "core/metrics/metric.h"

#include <math.h>

static double attn_rows_sum_off(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? (double)head->n_sum_off : NAN;
}

const struct metric metric_attn_rows_sum_off = {
    .name = "attn.rows_sum_off",
    .unit = "rows",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "rows whose sum is off 1 by more than rounding explains",
    .definition =
        "Valid rows with |sum p - 1| over what the stored type explains: 1e-4 in float32, 1e-3 in float16, 5e-3 in "
        "bfloat16, 1e-6 in float64, 0.02 in types of 8 bits. They are measured, normalised, and noted in the run.",
    .example = "Rows in float16 that sum to 1.0004 and 0.97: 1.",
    .of_head = attn_rows_sum_off,
};
