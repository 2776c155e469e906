#include "kernels/row_stats.h"

#include <math.h>
#include <string.h>

/* A sum further from 1 than this is a wrong row, not a rounded one. */
static const double SUM_BAD = 0.02;

void head_stats_init(struct head_stats *h)
{
    memset(h, 0, sizeof *h);
    h->sum_min = INFINITY;
    h->sum_max = -INFINITY;
}

static void add_ok(struct head_stats *h, const struct row_stat *row, double sum_tolerance)
{
    double off = fabs(row->sum - 1);

    h->entropy_sum += row->entropy_bits;
    h->max_weight_sum += row->max_weight;
    if (row->n_keys >= 2) {
        h->n_multi++;
        h->entropy_norm_sum += row->entropy_bits / log2(row->n_keys);
    }
    h->n_sum_off += off > sum_tolerance;
    h->n_sum_bad += off > SUM_BAD;
    h->sum_min = fmin(h->sum_min, row->sum);
    h->sum_max = fmax(h->sum_max, row->sum);
}

void head_stats_add(struct head_stats *h, const struct row_stat *rows, size_t n, double sum_tolerance)
{
    size_t i;

    for (i = 0; i < n; i++) {
        h->n_rows[rows[i].status]++;
        if (rows[i].status == ROW_OK)
            add_ok(h, &rows[i], sum_tolerance);
    }
}
