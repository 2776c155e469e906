#include "core/metrics/metric.h"

static double attn_rows_hidden(const struct head_stats *head)
{
    return (double)head->n_rows[ROW_EMPTY];
}

const struct metric metric_attn_rows_hidden = {
    .name = "attn.rows_hidden",
    .unit = "rows",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "rows without a visible key: padding",
    .definition = "Stored rows that belong to no position of the sample by its first key and length, or that see no "
                  "key by causal mask and window. They are never read.",
    .example = "64 stored rows of a sample of 40 tokens: 24.",
    .of_head = attn_rows_hidden,
};
