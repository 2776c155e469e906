#include "core/metrics/latency.h"

static double latency_gap(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_gap_quantile(r, 0.5);
}

const struct metric metric_latency_gap = {
    .name = "latency.gap",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "raw gap between neighbouring reads with content, median of the reply",
    .definition = "The median of the time between neighbouring reads that brought content, whatever number of tokens "
                  "they brought: quantiles over the reply, interpolated as NumPy does by default. A client that falls "
                  "behind reads several chunks at once, which merges gaps; so does a proxy. Missing with fewer than "
                  "two such reads. Missing for a reply that was not streamed and for a failed request.",
    .example = "Chunks at 100, 140, 180 and 300 ms: gaps of 40, 40 and 120 ms, median 40 ms.",
    .of_reply = latency_gap,
};
