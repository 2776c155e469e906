#include "core/metrics/latency.h"

static double latency_gap_p99(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_gap_quantile(r, 0.99);
}

const struct metric metric_latency_gap_p99 = {
    .name = "latency.gap_p99",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "raw gap between neighbouring reads with content, 99th percentile of the reply: its stalls",
    .definition = "The 99th percentile of the time between neighbouring reads that brought content, whatever number "
                  "of tokens they brought: quantiles over the reply, interpolated as NumPy does by default. A client "
                  "that falls behind reads several chunks at once, which merges gaps; so does a proxy. Missing with "
                  "fewer than two such reads. Missing for a reply that was not streamed and for a failed request.",
    .example = "Chunks at 100, 140, 180 and 300 ms: gaps of 40, 40 and 120 ms, P99 118.4 ms.",
    .of_reply = latency_gap_p99,
};
