#include "core/metrics/metric.h"

#include <math.h>

static double attn_masked_rows(const struct head_stats *head)
{
    double masked = (double)head->n_rows[ROW_NAN] + (double)head->n_rows[ROW_ZERO];
    double all = masked + (double)head->n_rows[ROW_OK];

    return all > 0 ? masked / all : NAN;
}

const struct metric metric_attn_masked_rows = {
    .name = "attn.masked_rows",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "share of rows that hold NaN or only zeros",
    .definition = "Rows with visible keys whose weights are NaN or all zero, as a softmax over fully masked scores "
                  "gives them, divided by all rows with visible keys. They are left out of every other metric.",
    .example = "2 rows of 40 all zero: 0.05.",
    .of_head = attn_masked_rows,
};
