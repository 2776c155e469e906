#include "core/metrics/metric.h"

#include <math.h>

static double attn_participation(const struct head_stats *head)
{
    return head->n_rows[ROW_OK] ? head->participation_sum / (double)head->n_rows[ROW_OK] : NAN;
}

const struct metric metric_attn_participation = {
    .name = "attn.participation",
    .unit = "keys",
    .better = BETTER_NEITHER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "mean number of keys by sum of squares, 1 / sum p^2",
    .definition = "(sum p)^2 / sum p^2 of a row with weights p: 1 / sum p^2 of the normalised row, the number of equal "
                  "weights with the same sum of squares. It follows the large weights, where 2^H also counts the small "
                  "ones. The cell is the mean over the sample's valid rows.",
    .example = "Weights 0.5, 0.25, 0.25: 1 / (0.25 + 0.0625 + 0.0625) = 2.67 keys.",
    .of_head = attn_participation,
};
