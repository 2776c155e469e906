#include "core/metrics/declined.h"
#include "core/metrics/metric.h"

#include <math.h>
#include <string.h>

static double reply_refused(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (!reply_has_answer(r))
        return NAN;
    if (r->has_refusal || strcmp(buf_text(&r->finish_reason), "content_filter") == 0)
        return 1;
    return declined_begins(buf_text(&r->text), r->text.len);
}

const struct metric metric_reply_refused = {
    .name = "reply.refused",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where the model declined to answer, else 0",
    .definition = "1 when the server says so (finish reason content_filter, or the text stands in `refusal`), or when "
                  "the reply begins with one of the usual sentences of refusal (\"I'm sorry, but I can't\", \"I cannot "
                  "help with\", \"As an AI\" and the like, in English, German, French, Spanish and Chinese). A rule of "
                  "words: it neither sees every refusal nor judges whether one was due. Missing for a failed request.",
    .example = "\"I'm sorry, but I can't help with that request.\": 1.",
    .reads_words = true,
    .of_reply = reply_refused,
};
