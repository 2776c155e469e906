#include "core/metrics/metric.h"

#include <math.h>

static double attn_mask_leak(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->leak_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_mask_leak = {
    .name = "attn.mask_leak",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean weight that a row has stored on keys which its mask hides",
    .definition = "sum |p| over the stored weights of a valid row outside its visible keys: after the query where the "
                  "layer is causal, before the window, in the padding. 0 where the mask that the dump states was "
                  "applied. Measured only with --check-mask, which reads that part too, and never from queries and "
                  "keys. The cell is the mean over the sample's valid rows.",
    .example = "A causal row (0.6, 0.3 | 0.1) whose third key is hidden: 0.1.",
    .of_head = attn_mask_leak,
};
