#include "core/metrics/metric.h"

#include <math.h>

static double attn_distance(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->distance_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_distance = {
    .name = "attn.distance",
    .unit = "keys",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean distance between a query and the keys it attends to",
    .definition = "sum p |i - j| over the visible keys j of the query at key i, with weights p as stored. The cell is "
                  "the mean over the sample's valid rows.",
    .example =
        "The third query with weights 0.5, 0.25, 0.25 on keys 1 to 3: 0.5 * 2 + 0.25 * 1 + 0.25 * 0 = 1.25 keys.",
    .of_head = attn_distance,
};
