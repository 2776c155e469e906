#include "core/metrics/metric.h"

#include <math.h>

static double attn_collapse(const struct head_stats *head, const struct attention_options *options)
{
    return head->n_multi ? (double)(head_has_collapsed(head, options->collapse.bits, options->collapse.weight) != 0)
                         : NAN;
}

const struct metric metric_attn_collapse = {
    .name = "attn.collapse",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "1 where a head puts nearly all weight on single keys",
    .definition = "1 when over the sample's valid rows with two or more visible keys the mean entropy is under 0.15 "
                  "bit and the mean of the largest weight is over 0.95, else 0. Three such samples in a row, in file "
                  "order, are noted in the run. --collapse BITS,WEIGHT,SAMPLES takes other numbers than these three.",
    .example = "Rows (0.99, 0.01) and (0.995, 0.005): mean entropy 0.063 bit, mean largest weight 0.9925: 1.",
    .of_head_by = attn_collapse,
};
