#include "core/metrics/metric.h"

#include <math.h>

static double intent_alignment(const struct reply_view *view)
{
    return view->intent ? view->intent->alignment : NAN;
}

const struct metric metric_intent_alignment = {
    .name = "intent.alignment",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "how far the reply fulfils the turn's intent, in [0,1]",
    .definition = "Mean of intent.entities, intent.actions and intent.negations over the parts that the turn has, times"
                  " zero where something that must not be said was said. Deterministic, offline; it tells whether "
                  "stated facts appear, not whether the reply is good. Missing when the turn states no intent or the "
                  "request failed.",
    .example = "entities 0.5, actions 1, no must_not: 0.75. With one broken must_not rule: 0.",
    .reads_words = true,
    .of_reply = intent_alignment,
};
