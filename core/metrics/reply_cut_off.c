#include "core/metrics/metric.h"

#include <math.h>
#include <string.h>

static double reply_cut_off(const struct reply_view *view)
{
    static const char *const words[] = {"length", "max_tokens", "model_length"};
    const char *reason = buf_text(&view->reply->finish_reason);
    size_t i;

    if (!reply_has_answer(view->reply))
        return NAN;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(reason, words[i]) == 0)
            return 1;
    return 0;
}

const struct metric metric_reply_cut_off = {
    .name = "reply.cut_off",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where the reply stopped for length, else 0",
    .definition = "1 when the finish reason is \"length\" (or a server's other word for it: \"max_tokens\", "
                  "\"model_length\"); 0 for any other finish reason; missing when the request failed.",
    .example = "finish_reason \"length\": 1; \"stop\": 0.",
    .of_reply = reply_cut_off,
};
