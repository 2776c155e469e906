#include "core/metrics/metric.h"

static double attn_entropy_p95(const struct head_stats *head)
{
    return head->entropy_quantile[2];
}

const struct metric metric_attn_entropy_p95 = {
    .name = "attn.entropy_p95",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "entropy that 95 % of a head's attention rows stay under",
    .definition = "The quantile 0.95 of H over the sample's valid rows, H as in attn.entropy: linear between the order "
                  "statistics about position 0.95 (n - 1), as NumPy does by default.",
    .example = "Rows at 1, 2 and 3 bit: position 1.9, 2 + 0.9 * (3 - 2) = 2.9 bit.",
    .of_head = attn_entropy_p95,
};
