#include "core/metrics/metric.h"

#include <math.h>

static double context_utilization(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (r->prompt_tokens < 0 || view->provenance->context_limit <= 0)
        return NAN;
    return (double)r->prompt_tokens / (double)view->provenance->context_limit;
}

const struct metric metric_context_utilization = {
    .name = "context.utilization",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "prompt tokens that the server read / context limit",
    .definition = "prompt_tokens / context limit. prompt_tokens is the server's own count, from the reply or from a "
                  "plain request of the same text. The limit is --context-limit, else what the server or the recording "
                  "states, else the task set's. Missing when either is not known.",
    .example = "410 prompt tokens and a limit of 1,024: 0.400.",
    .of_reply = context_utilization,
};
