#include "core/metrics/metric.h"

static double attn_rows_nan(const struct head_stats *head)
{
    return (double)head->n_rows[ROW_NAN];
}

const struct metric metric_attn_rows_nan = {
    .name = "attn.rows_nan",
    .unit = "rows",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "rows with visible keys that hold NaN",
    .definition = "Rows of the sample with a NaN among the visible keys: fully masked, as a softmax before PyTorch 2.5 "
                  "gives them, or broken; --on-nan fail refuses them. They are left out of every other metric.",
    .example = "40 rows, one of them all NaN: 1.",
    .of_head = attn_rows_nan,
};
