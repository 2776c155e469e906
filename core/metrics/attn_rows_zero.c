#include "core/metrics/metric.h"

static double attn_rows_zero(const struct head_stats *head)
{
    return (double)head->n_rows[ROW_ZERO];
}

const struct metric metric_attn_rows_zero = {
    .name = "attn.rows_zero",
    .unit = "rows",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "rows with visible keys that hold only zeros",
    .definition = "Rows of the sample whose weights over the visible keys are all zero, or whose scores are all "
                  "masked: fully masked by the producer, as a softmax of PyTorch 2.5 and later gives them. They are "
                  "left out of every other metric.",
    .example = "40 rows, 2 of them all zero: 2.",
    .of_head = attn_rows_zero,
};
