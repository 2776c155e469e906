#include "core/metrics/metric.h"

#include <math.h>

static double attn_entropy(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->entropy_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_entropy = {
    .name = "attn.entropy",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean entropy of a head's attention rows",
    .definition = "For a query row with visible keys J (causal, window and padding masks applied) and weights p: S = "
                  "sum p, E = -sum p log2 p, H = log2 S + E/S, the entropy of the normalised row in bits; 0 log 0 = 0, "
                  "no epsilon. From queries and keys: log2 l - t/l with l = sum 2^(y-m), t = sum 2^(y-m)(y-m), y = "
                  "score * log2 e, m = max y. The cell is the mean over the sample's valid rows; a row with one visible"
                  " key counts as 0; rows that are NaN or all zero are counted, reported and left out.",
    .example = "Weights 0.5, 0.25, 0.25 over three keys: 0.5*1 + 0.25*2 + 0.25*2 = 1.5 bit. Uniform over 8 keys: 3 "
               "bit. All on one key: 0 bit.",
    .of_head = attn_entropy,
};
