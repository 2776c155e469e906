#include "core/metrics/metric.h"

#include <math.h>

static double attn_max_weight(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->max_weight_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_max_weight = {
    .name = "attn.max_weight",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean of the largest weight of a head's attention rows",
    .definition = "max p of a row with weights p as they are stored. The cell is the mean over the "
                  "sample's valid rows, those with one visible key included.",
    .example = "Rows (0.5, 0.25, 0.25) and (0.9, 0.1, 0): (0.5 + 0.9) / 2 = 0.7.",
    .of_head = attn_max_weight,
};
