#include "core/metrics/metric.h"

static double attn_entropy_p05(const struct head_stats *head)
{
    return head->entropy_quantile[0];
}

const struct metric metric_attn_entropy_p05 = {
    .name = "attn.entropy_p05",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "entropy that 5 % of a head's attention rows stay under",
    .definition = "The quantile 0.05 of H over the sample's valid rows, H as in attn.entropy: linear between the order "
                  "statistics about position 0.05 (n - 1), as NumPy does by default.",
    .example = "Rows at 1, 2 and 3 bit: position 0.1, 1 + 0.1 * (2 - 1) = 1.1 bit.",
    .of_head = attn_entropy_p05,
};
