#include "core/metrics/metric.h"

#include <math.h>

static double reply_empty(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (r->state == REPLY_EMPTY)
        return 1;
    return reply_has_answer(r) ? 0 : NAN;
}

const struct metric metric_reply_empty = {
    .name = "reply.empty",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where a success by HTTP brought no content, else 0",
    .definition = "1 for a status of 200 whose body is empty, or whose stream has no text, no reasoning and no tool "
                  "call; 0 for a reply with content. Missing when the request failed in another way.",
    .example = "HTTP 200, [DONE], nothing else: 1.",
    .of_reply = reply_empty,
};
