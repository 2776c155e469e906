#include "core/metrics/metric.h"

#include <math.h>

static double context_cached(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (!reply_has_answer(r) || r->cached_tokens < 0 || r->prompt_tokens <= 0 || r->cached_tokens > r->prompt_tokens)
        return NAN;
    return (double)r->cached_tokens / (double)r->prompt_tokens;
}

const struct metric metric_context_cached = {
    .name = "context.cached",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "share of the prompt that the server took from its cache",
    .definition = "cached tokens / prompt tokens, both as the server tells. Latencies on a cold and on a warm prefix "
                  "cache are different experiments. Missing where the server does not tell. Missing for a failed "
                  "request.",
    .example = "usage: 1,200 prompt tokens, 1,024 of them cached: 0.853.",
    .of_reply = context_cached,
};
