#include "core/metrics/metric.h"

static double attn_entropy_p50(const struct head_stats *head)
{
    return head->entropy_quantile[1];
}

const struct metric metric_attn_entropy_p50 = {
    .name = "attn.entropy_p50",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "median entropy of a head's attention rows",
    .definition = "The quantile 0.50 of H over the sample's valid rows, H as in attn.entropy: linear between the order "
                  "statistics about position 0.50 (n - 1), as NumPy does by default.",
    .example = "Rows at 1, 2 and 4 bit: 2 bit.",
    .of_head = attn_entropy_p50,
};
