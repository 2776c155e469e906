#include "core/metrics/latency.h"

static double latency_itl(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    return latency_itl_quantile(r, 0.5);
}

const struct metric metric_latency_itl = {
    .name = "latency.itl",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "inter-token latency where the number of tokens a chunk is known, median of the reply",
    .definition = "The median over the reply's tokens after its first read: a read of k tokens that came a gap after "
                  "the read before it gives k values of gap / k. k is known from token ids or log-probabilities in "
                  "the chunks, from usage in every chunk, or where the server's final count shows that each chunk was "
                  "one token (equal to the number of chunks, or one more for the end token when the model stopped by "
                  "itself). Missing where k is not known, with fewer than two reads with content, for a reply that "
                  "was not streamed and for a failed request. Their mean is latency.tpot when the first read brought "
                  "one token.",
    .example = "Chunks of 1 token at 100 ms, 3 at 140 ms, 1 at 180 ms: 13.3, 13.3, 13.3 and 40 ms, median 13.3 ms.",
    .of_reply = latency_itl,
};
