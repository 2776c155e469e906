#include "core/metrics/decay.h"
#include "core/metrics/metric.h"

const struct metric metric_intent_alignment_slope = {
    .name = "intent.alignment_slope",
    .unit = "1/turn",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_REPEAT),
    .help = "how intent.alignment goes from turn to turn of a conversation",
    .definition = "Slope of the least-squares line through intent.alignment over the turns that have it, one number a "
                  "conversation, so that its turns do not pass for independent samples. Below 0: later turns fulfil "
                  "their intent less. Missing for conversations with fewer than two such turns.",
    .example = "turns 1, 2, 3 with 1, 0.75, 0.5: -0.25 a turn.",
    .from = "intent.alignment",
    .of_turns = decay_slope,
};
