#include "core/metrics/metric.h"

#include <math.h>

static double attn_row_sum_error(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->sum_error_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_row_sum_error = {
    .name = "attn.row_sum_error",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean difference of a row's sum from 1",
    .definition =
        "|sum p - 1| over the visible keys of a row with weights p as stored. Rounding to bfloat16 explains 0.002, to "
        "float16 0.0003; more points to a producer that adds up in a narrow type, or to a mask that the dump does not "
        "state. From queries and keys it is 0. The cell is the mean over the sample's valid rows.",
    .example = "Rows that sum to 1 and 0.98: (0 + 0.02) / 2 = 0.01.",
    .of_head = attn_row_sum_error,
};
