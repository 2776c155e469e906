#include "core/metrics/latency.h"

static double latency_e2e_scheduled(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->scheduled_ns, r->end_ns, false);
}

const struct metric metric_latency_e2e_scheduled = {
    .name = "latency.e2e_scheduled",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time of the whole request, from when it should have been sent",
    .definition = "te - ts with ts = when the request should have been sent by the plan of an open-loop run. A client "
                  "or connection that stalls shows here and not in latency.e2e, so that a stall cannot hide requests "
                  "that it kept from being sent (coordinated omission). Missing in a closed loop, which has no plan. "
                  "Missing for a failed request.",
    .example = "Planned for 0 ms, sent at 30 ms, [DONE] at 901 ms: 901 ms; latency.e2e is 871 ms.",
    .of_reply = latency_e2e_scheduled,
};
