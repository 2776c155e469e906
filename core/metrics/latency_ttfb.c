#include "core/metrics/latency.h"

static double latency_ttfb(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_of_reply(r, r->sent_ns, r->first_byte_ns, false);
}

const struct metric metric_latency_ttfb = {
    .name = "latency.ttfb",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time to first byte: request sent to first byte of the reply, its head included",
    .definition = "tb - t0 with t0 = last byte of the request handed over, tb = arrival of the first read. Servers "
                  "that send the head at once, before the prompt is read, have a small one whatever they do "
                  "afterwards. Missing for a failed request.",
    .example = "Sent at 0 ms, HTTP head at 2 ms, first text at 220 ms: 2 ms.",
    .of_reply = latency_ttfb,
};
