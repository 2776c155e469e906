#include "core/metrics/metric.h"

#include <math.h>

static double attn_sink_mass(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->sink_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_sink_mass = {
    .name = "attn.sink_mass",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean weight on the sample's first key, the attention sink",
    .definition = "The weight, as stored, that a row gives to the sample's first key that is no padding; 0 where the "
                  "row's window does not reach it. The cell is the mean over the sample's valid rows.",
    .example = "Rows (1), (0.7, 0.3) and (0.4, 0.1, 0.5): (1 + 0.7 + 0.4) / 3 = 0.7.",
    .of_head = attn_sink_mass,
};
