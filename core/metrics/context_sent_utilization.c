#include "core/metrics/metric.h"

#include <math.h>

static double context_sent_utilization(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (r->tokens_sent <= 0 || view->provenance->context_limit <= 0)
        return NAN;
    return (double)r->tokens_sent / (double)view->provenance->context_limit;
}

const struct metric metric_context_sent_utilization = {
    .name = "context.sent_utilization",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "prompt tokens that were sent / context limit",
    .definition =
        "tokens sent / context limit. Tokens sent are counted by the server's own /tokenize before the request "
        "(--count-tokens); an estimate does not count here. Where it lies over context.utilization, the server "
        "read less than it was sent: a prompt cut in silence. Missing when either is not known.",
    .example = "1,400 tokens sent and a limit of 1,024: 1.367; context.utilization of the same request is at most 1.",
    .of_reply = context_sent_utilization,
};
