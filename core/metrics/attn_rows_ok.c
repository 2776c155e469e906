#include "core/metrics/metric.h"

static double attn_rows_ok(const struct head_stats *head)
{
    return (double)head->n_rows[ROW_OK];
}

const struct metric metric_attn_rows_ok = {
    .name = "attn.rows_ok",
    .unit = "rows",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "rows that were measured",
    .definition = "Rows of the sample with visible keys that hold weights: what every other metric of attention is a "
                  "mean over. A run with infinite or negative weights is refused, so that rows_ok, rows_zero, rows_nan "
                  "and rows_hidden are all there are.",
    .example = "40 rows, 2 of them all zero: 38.",
    .of_head = attn_rows_ok,
};
