#include "core/metrics/metric.h"

#include <math.h>

static double intent_entities(const struct reply_view *view)
{
    return view->intent ? view->intent->entities : NAN;
}

const struct metric metric_intent_entities = {
    .name = "intent.entities",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "share of the turn's required entities that the reply names",
    .definition = "Entities found / entities that the turn requires. Reply and entity are compared on Unicode NFKC, "
                  "case-folded text, on word boundaries; an entity that is a number or a quantity is compared by value,"
                  " in compatible units. Missing when the turn requires none or the request failed.",
    .example = "Required: Helsinki, 4.1 kg. Reply: \"It weighs 4,100 g.\" finds one of two: 0.5.",
    .reads_words = true,
    .of_reply = intent_entities,
};
