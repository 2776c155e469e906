#include "core/metrics/metric.h"

#include <math.h>

static double attn_k90(const struct head_stats *head)
{
    return head->n_k90 ? head->k90_sum / (double)head->n_k90 : NAN;
}

const struct metric metric_attn_k90 = {
    .name = "attn.k90",
    .unit = "keys",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean number of keys that hold 90 % of a row's weight",
    .definition =
        "The fewest keys of a row whose weights add up to 0.9 of its sum, largest first. The cell is the mean over the "
        "sample's valid rows. It follows the bulk of the weight where 2^H and 1 / sum p^2 follow all of it or its "
        "peak. Missing where no row has it: from queries and keys on CUDA, which does not keep a row's scores, and "
        "where vectors are so long that float could overflow; the run notes such rows.",
    .example = "Weights 0.5, 0.3, 0.15, 0.05: 0.5 + 0.3 = 0.8, + 0.15 = 0.95: 3 keys.",
    .of_head = attn_k90,
};
