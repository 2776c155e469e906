#include "core/metrics/metric.h"

#include <math.h>

static double intent_negations(const struct reply_view *view)
{
    return view->intent ? view->intent->negations : NAN;
}

const struct metric metric_intent_negations = {
    .name = "intent.negations",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "share of what must not be said that the reply keeps to itself",
    .definition = "Rules of must_not that the reply does not break / such rules of the turn. Missing when the turn has "
                  "none or the request failed.",
    .example = "Two things must not be said, one was: 0.5.",
    .reads_words = true,
    .of_reply = intent_negations,
};
