#include "core/metrics/metric.h"

static double attn_entropy_std(const struct head_stats *head)
{
    return head->entropy_std;
}

const struct metric metric_attn_entropy_std = {
    .name = "attn.entropy_std",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "standard deviation over rows of a head's entropy",
    .definition = "sqrt(mean over rows of (H - mean H)^2) with H the entropy of a row as in attn.entropy, over the "
                  "same rows of the sample: the population form, ddof 0.",
    .example = "Rows at 1, 2 and 3 bit: sqrt((1 + 0 + 1) / 3) = 0.816 bit.",
    .of_head = attn_entropy_std,
};
