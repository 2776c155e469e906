#include "core/metrics/metric.h"

#include <math.h>

static double attn_effective_context(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->effective_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_effective_context = {
    .name = "attn.effective_context",
    .unit = "keys",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean number of keys that a head's rows spread over, 2^H",
    .definition = "2^H of a row with entropy H in bits, as in attn.entropy: the number of keys over which equal "
                  "weights would have the same entropy. The cell is the mean over the sample's valid rows.",
    .example = "Rows at 1 and 3 bit: (2 + 8) / 2 = 5 keys.",
    .of_head = attn_effective_context,
};
