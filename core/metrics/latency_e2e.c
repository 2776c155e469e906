#include "core/metrics/latency.h"

static double latency_e2e(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->sent_ns, r->end_ns, false);
}

const struct metric metric_latency_e2e = {
    .name = "latency.e2e",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time of the whole request: sent to the end of the reply",
    .definition = "te - t0 with te = arrival of the read that brought the reply's last event (finish reason, usage or "
                  "[DONE]), or that completed a reply that was not streamed. Waiting for a connection, connecting, "
                  "and earlier attempts are not in it. Missing for a failed request.",
    .example = "Sent at 0 ms, last token at 900 ms, [DONE] at 901 ms: 901 ms.",
    .of_reply = latency_e2e,
};
