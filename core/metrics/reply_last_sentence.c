#include "core/metrics/metric.h"
#include "core/metrics/repetition.h"

#include <math.h>

static double reply_last_sentence(const struct reply_view *view)
{
    return reply_has_answer(view->reply) ? repetition_last_sentence(buf_text(&view->reply->text), view->reply->text.len)
                                         : NAN;
}

const struct metric metric_reply_last_sentence = {
    .name = "reply.last_sentence",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "how often the last sentence of a reply stood in it before",
    .definition = "Sentences end at . ! ? and their full-width forms, or at the end of a line; they are compared as "
                  "words, case folded. The last one is often cut off by the token limit, so it also counts where it "
                  "is the beginning of an earlier one. 0: it is new. Missing without any words, and for a failed "
                  "request.",
    .example = "\"It is on. It is on. It is\": 2.",
    .reads_words = true,
    .of_reply = reply_last_sentence,
};
