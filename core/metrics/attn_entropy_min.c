#include "core/metrics/metric.h"

#include <math.h>

static double attn_entropy_min(const struct head_stats *head)
{
    return head->n_multi ? head->entropy_min : NAN;
}

const struct metric metric_attn_entropy_min = {
    .name = "attn.entropy_min",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "lowest entropy of a head's attention rows",
    .definition = "The least H, as in attn.entropy, of the sample's valid rows with two or more visible keys: a row "
                  "with one has 0 bit whatever the head does, and every causal sample begins with one.",
    .example = "Rows at 0 (one visible key), 0.4 and 1.1 bit: 0.4 bit.",
    .of_head = attn_entropy_min,
};
