#include "core/metrics/metric.h"

#include <math.h>

static double attn_utilization(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->utilization_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_utilization = {
    .name = "attn.utilization",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean share of the visible keys that a head's rows spread over",
    .definition = "2^H / |J| of a row with entropy H in bits and |J| visible keys. The cell is the mean over the "
                  "sample's valid rows; a row with one visible key counts as 1. With "
                  "--implicit-sink the sink is one of the keys.",
    .example = "Weights 0.5, 0.25, 0.25: 2^1.5 / 3 = 0.943.",
    .of_head = attn_utilization,
};
