#include "core/metrics/metric.h"

#include <math.h>

static double head_entropy(const struct head_stats *head)
{
    return head->entropy_sum / (double)head->n_rows[ROW_OK];
}

/* Two passes: the mean first, then the deviations. */
static double attn_head_std(const struct head_stats *heads, size_t n_heads)
{
    double sum = 0, squares = 0;
    size_t n = 0, i;

    for (i = 0; i < n_heads; i++) {
        if (!heads[i].n_rows[ROW_OK])
            continue;
        sum += head_entropy(&heads[i]);
        n++;
    }
    for (i = 0; i < n_heads; i++)
        if (heads[i].n_rows[ROW_OK])
            squares += pow(head_entropy(&heads[i]) - sum / (double)n, 2);
    return n ? sqrt(squares / (double)n) : NAN;
}

const struct metric metric_attn_head_std = {
    .name = "attn.head_std",
    .unit = "bit",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER),
    .help = "standard deviation over heads of attn.entropy",
    .definition = "sqrt(mean over heads of (H_h - mean H)^2) with H_h the cell of attn.entropy for head h of the layer:"
                  " the population form, ddof 0. Heads without a valid row are left out.",
    .example = "Heads at 1, 2 and 3 bit: sqrt((1 + 0 + 1) / 3) = 0.816 bit.",
    .of_layer = attn_head_std,
};
