#include "core/metrics/latency.h"

static double latency_ttfo(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->sent_ns, r->first_visible_ns, true);
}

const struct metric metric_latency_ttfo = {
    .name = "latency.ttfo",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time to first output: request sent to first visible text",
    .definition = "tv - t0 with tv = arrival of the read that completes the first chunk with visible text. Reasoning "
                  "and tool calls do not count, so it is latency.ttft for a model that does not reason. The name is "
                  "AIPerf's; GuideLLM says TTFOT. Missing when no visible text came. Missing for a reply that was not "
                  "streamed and for a failed request.",
    .example = "Sent at 0 ms, reasoning from 200 ms on, first word of the answer at 1,900 ms: 1,900 ms; "
               "latency.ttft is 200 ms.",
    .of_reply = latency_ttfo,
};
