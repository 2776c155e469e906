#include "core/metrics/metric.h"
#include "core/metrics/twins.h"
#include "core/metrics/workload.h"

static double reply_identical(const struct workload *load, size_t i)
{
    return load->twins->list[i].is_twin;
}

const struct metric metric_reply_identical = {
    .name = "reply.identical",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where another prompt of the run got the very same text, else 0",
    .definition = "Compared byte for byte with the replies to other tasks and turns, not with repeats of the same. A "
                  "server that drops the prompt answers fast, with success, and always the same. Missing for replies "
                  "of fewer than 16 bytes, which agree by chance, and for a failed request. The run notes when one "
                  "text answers three prompts, or half of them.",
    .example = "20 prompts, 20 times the same three sentences: 1 in every cell.",
    .reads_words = true,
    .compares_words = true,
    .of_workload = reply_identical,
};
