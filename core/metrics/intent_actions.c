#include "core/metrics/metric.h"

#include <math.h>

static double intent_actions(const struct reply_view *view)
{
    return view->intent ? view->intent->actions : NAN;
}

const struct metric metric_intent_actions = {
    .name = "intent.actions",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "share of the turn's required patterns that the reply shows",
    .definition = "Patterns (PCRE2, caseless) that match the reply / patterns that the turn requires. Missing when the "
                  "turn requires none or the request failed.",
    .example = "Required: a clock time. Reply: \"at 9:30\": 1.",
    .reads_words = true,
    .of_reply = intent_actions,
};
