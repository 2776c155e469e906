#include "core/metrics/latency.h"

static double latency_ttfo_scheduled(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->scheduled_ns, r->first_visible_ns, true);
}

const struct metric metric_latency_ttfo_scheduled = {
    .name = "latency.ttfo_scheduled",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time to first output, from when the request should have been sent",
    .definition = "tv - ts with ts = when the request should have been sent by the plan of an open-loop run. A client "
                  "or connection that stalls shows here and not in latency.ttfo, so that a stall cannot hide requests "
                  "that it kept from being sent (coordinated omission). Missing in a closed loop, which has no plan. "
                  "Missing when no visible text came, for a reply that was not streamed and for a failed request.",
    .example =
        "Planned for 0 ms, sent at 30 ms, first word of the answer at 1,900 ms: 1,900 ms; latency.ttfo is 1,870 ms.",
    .of_reply = latency_ttfo_scheduled,
};
