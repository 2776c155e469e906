#include "core/metrics/metric.h"

static double reply_failed(const struct reply_view *view)
{
    return !reply_has_answer(view->reply);
}

const struct metric metric_reply_failed = {
    .name = "reply.failed",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where the request failed, else 0",
    .definition = "1 for an HTTP status of 400 and up, an error object in the body or in the stream, a stream that ends"
                  " without a finish reason, a reply without content and without a finish reason, and a turn that "
                  "was not asked since an earlier one of its conversation has no answer; 0 otherwise. "
                  "Failed requests have no other metric: they are no wrong answers. The policy's max_errors limits "
                  "their share.",
    .example = "HTTP 200, three tokens, then data: {\"error\": ...}: 1.",
    .of_reply = reply_failed,
};
