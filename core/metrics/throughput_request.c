#include "core/metrics/latency.h"

#include <math.h>

static double throughput_request(const struct reply_view *view)
{
    const struct reply *r = view->reply;
    double ms = latency_of_reply(r, r->sent_ns, r->end_ns, false);

    return r->completion_tokens > 0 && ms > 0 ? (double)r->completion_tokens / ms * 1e3 : NAN;
}

const struct metric metric_throughput_request = {
    .name = "throughput.request",
    .unit = "tok/s",
    .better = BETTER_HIGHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "output tokens a second that one request got",
    .definition = "completion tokens / latency.e2e, in tokens a second; the tokens are counted as for latency.tpot, "
                  "reasoning among them. Missing for a failed request.",
    .example = "64 tokens in 3.2 s: 20 tok/s.",
    .of_reply = throughput_request,
};
