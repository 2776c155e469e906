#include "core/metrics/metric.h"

#include <math.h>

static double attn_sink_rate(const struct head_stats *head)
{
    return head->n_sink_rows ? (double)(head->sink_sum > 0.3 * (double)head->n_sink_rows) : NAN;
}

const struct metric metric_attn_sink_rate = {
    .name = "attn.sink_rate",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "1 where a head's rows give the first key over 0.3 on average: an attention sink",
    .definition = "Sink_1 at epsilon 0.3 (Gu et al., 2024): 1 when the mean weight on the sample's first key, over the "
                  "valid rows that see it, is over 0.3, else 0. The mean over heads is the share of heads that have a "
                  "sink. Missing where no row sees the key.",
    .example = "Rows that give the first key 1, 0.2 and 0.1: mean 0.433, over 0.3: 1.",
    .of_head = attn_sink_rate,
};
