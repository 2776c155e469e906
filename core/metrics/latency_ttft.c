#include "core/metrics/metric.h"

#include <math.h>

static double latency_ttft(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (!reply_has_answer(r) || !r->is_stream || r->first_content_ns == NS_UNKNOWN || r->first_content_ns < r->sent_ns)
        return NAN;
    return (double)(r->first_content_ns - r->sent_ns) / 1e6;
}

const struct metric metric_latency_ttft = {
    .name = "latency.ttft",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time to first token: request sent to first chunk with content",
    .definition = "t1 - t0 with t0 = last byte of the request handed over, t1 = arrival of the read that completes the "
                  "first chunk with content, reasoning or a tool call. A chunk with a role and no content is no token. "
                  "Missing for a reply that was not streamed and for a failed request. Other tools start the clock "
                  "elsewhere: at the call, with connecting, or at the scheduled time.",
    .example = "Sent at 0 ms, role chunk at 90 ms, first text at 220 ms: 220 ms.",
    .of_reply = latency_ttft,
};
