#include "core/metrics/metric.h"
#include "core/metrics/repetition.h"

#include <math.h>

static double reply_repetition(const struct reply_view *view)
{
    return reply_has_answer(view->reply) ? repetition_ngrams(buf_text(&view->reply->text), view->reply->text.len) : NAN;
}

const struct metric metric_reply_repetition = {
    .name = "reply.repetition",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "share of a reply that repeats itself: four-word runs that stood in it before",
    .definition = "1 - distinct / all of the runs of four neighbouring words, case folded. A character is a word in "
                  "scripts without spaces. Missing with fewer than eight words, and for a failed request.",
    .example =
        "\"go on and on and on and on and on\": 7 runs, of which \"go on and on\", \"on and on and\" and \"and on "
        "and on\" are distinct: 1 - 3/7 = 0.571.",
    .reads_words = true,
    .of_reply = reply_repetition,
};
