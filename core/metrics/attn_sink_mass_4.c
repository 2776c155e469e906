#include "core/metrics/metric.h"

#include <math.h>

static double attn_sink_mass_4(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->sink4_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_sink_mass_4 = {
    .name = "attn.sink_mass_4",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean weight on the sample's first four keys",
    .definition = "The weight, as stored, that a row gives to the first four of the sample's keys that are no padding, "
                  "those that it sees; attn.sink_mass is of the first alone. Streaming caches keep four such keys "
                  "(Xiao et al., 2023). The cell is the mean over the sample's valid rows.",
    .example = "Rows (1) and (0.4, 0.1, 0.2, 0.1, 0.2): (1 + 0.8) / 2 = 0.9.",
    .of_head = attn_sink_mass_4,
};
