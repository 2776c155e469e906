#include "core/metrics/metric.h"

#include <math.h>

static double attn_entropy_norm(const struct head_stats *head)
{
    return head->n_multi ? head->entropy_norm_sum / (double)head->n_multi : NAN;
}

const struct metric metric_attn_entropy_norm = {
    .name = "attn.entropy_norm",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean of entropy / log2(visible keys): comparable across prompt lengths",
    .definition = "H / log2 |J| of a row with entropy H and |J| visible keys: 1 for a uniform row, 0 for all weight on "
                  "one key. Rows with fewer than two visible keys have no such value and are left out. The cell is the "
                  "mean over the sample's other valid rows. Raw entropy grows with the number of keys, so prompts of "
                  "different length are compared by this metric. With --implicit-sink the sink is one of the keys.",
    .example = "Weights 0.5, 0.25, 0.25: 1.5 / log2 3 = 0.946.",
    .of_head = attn_entropy_norm,
};
