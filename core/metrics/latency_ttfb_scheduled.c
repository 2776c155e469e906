#include "core/metrics/latency.h"

static double latency_ttfb_scheduled(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->scheduled_ns, r->first_byte_ns, false);
}

const struct metric metric_latency_ttfb_scheduled = {
    .name = "latency.ttfb_scheduled",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time to first byte, from when the request should have been sent",
    .definition = "tb - ts with ts = when the request should have been sent by the plan of an open-loop run. A client "
                  "or connection that stalls shows here and not in latency.ttfb, so that a stall cannot hide requests "
                  "that it kept from being sent (coordinated omission). Missing in a closed loop, which has no plan. "
                  "Missing for a failed request.",
    .example = "Planned for 0 ms, sent at 30 ms, HTTP head at 32 ms: 32 ms; latency.ttfb is 2 ms.",
    .of_reply = latency_ttfb_scheduled,
};
