#include "core/metrics/metric.h"

#include <math.h>

static double latency_tpot(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (!reply_has_answer(r) || !r->is_stream || r->first_content_ns == NS_UNKNOWN || r->completion_tokens < 2 ||
        r->last_content_ns <= r->first_content_ns)
        return NAN;
    return (double)(r->last_content_ns - r->first_content_ns) / (double)(r->completion_tokens - 1) / 1e6;
}

const struct metric metric_latency_tpot = {
    .name = "latency.tpot",
    .unit = "ms",
    .better = BETTER_LOWER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "time per output token after the first",
    .definition = "(tn - t1) / (tokens - 1) with t1, tn the arrivals of the first and the last chunk with content and "
                  "tokens = completion tokens as the server counts them; counted from chunks, and noted in the run, "
                  "only where the server gives no count. Missing for fewer than two tokens, when all tokens came in one"
                  " read, for a reply that was not streamed, and for a failed request: never 0.",
    .example = "Chunks of 1 token at 100 ms, 3 at 140 ms, 1 at 180 ms, which ends it: (180 - 100) / (5 - 1) "
               "= 20 ms. Of the same reply GuideLLM says TPOT 180 / 5 = 36 ms, with the time to the first token in it, "
               "and ITL 20 ms; AIPerf says ITL 20 ms, a mean, and has no TPOT; GenAI-Perf says ITL 13.3 and 40 ms; "
               "vLLM's benchmark says TPOT 20 ms, and calls the gaps 40 and 40 ms ITL.",
    .of_reply = latency_tpot,
};
