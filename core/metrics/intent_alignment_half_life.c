#include "core/metrics/decay.h"
#include "core/metrics/metric.h"

const struct metric metric_intent_alignment_half_life = {
    .name = "intent.alignment_half_life",
    .unit = "turn",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_REPEAT),
    .help = "turns in which intent.alignment of a conversation comes down by half of its fall",
    .definition =
        "tau ln 2 of the least-squares fit a exp(-turn/tau) + c through intent.alignment over the turns that "
        "have it, one number a conversation. Missing for conversations with fewer than four such turns, for "
        "those that do not fall, and where the best tau is shorter than a fifth of a turn or longer than five "
        "times the conversation: then its turns say nothing of it.",
    .example = "turns 1 to 5 with 1, 0.5, 0.25, 0.125, 0.0625: 1 turn.",
    .from = "intent.alignment",
    .of_turns = decay_half_life,
};
