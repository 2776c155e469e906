#include "kernels/row_stats.h"

#include "kernels/select.h"

#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum further from 1 than this is a wrong row, not a rounded one. */
static const double SUM_BAD = 0.02;

void head_stats_init(struct head_stats *h, double *entropies)
{
    memset(h, 0, sizeof *h);
    h->entropies = entropies;
    h->entropy_std = NAN;
    for (size_t i = 0; i < sizeof h->entropy_quantile / sizeof *h->entropy_quantile; i++)
        h->entropy_quantile[i] = NAN;
    h->entropy_min = INFINITY;
    h->sum_min = INFINITY;
    h->sum_max = -INFINITY;
}

static void add_multi(struct head_stats *h, const struct row_stat *row, double n_keys)
{
    h->n_multi++;
    h->entropy_norm_sum += row->entropy_bits / log2(n_keys);
    h->multi_entropy_sum += row->entropy_bits;
    h->multi_max_weight_sum += row->max_weight;
    h->entropy_min = fmin(h->entropy_min, row->entropy_bits);
}

/* Every weight is the largest one: as a softmax over scores that are all masked by the same finite number has it. Sums
 * and products of floats may be off by some last places; a weight that differs at all differs by more in its type. */
static int is_uniform(const struct row_stat *row)
{
    double whole = row->max_weight * row->n_keys;

    return row->n_keys >= UNIFORM_KEYS && fabs(row->sum - whole) <= 0x1p-20 * whole;
}

/* Called with the row counted. */
static void add_ok(struct head_stats *h, const struct row_stat *row, double sum_tolerance)
{
    double off = fabs(row->sum - 1), effective = exp2(row->entropy_bits);
    double n_keys = (double)row->n_keys + h->n_more_keys;

    if (h->entropies)
        h->entropies[h->n_rows[ROW_OK] - 1] = row->entropy_bits;
    h->entropy_sum += row->entropy_bits;
    h->max_weight_sum += row->max_weight;
    if (n_keys >= 2)
        add_multi(h, row, n_keys);
    h->effective_sum += effective;
    h->utilization_sum += effective / n_keys;
    h->participation_sum += row->sum / row->square_sum * row->sum;
    h->sink_sum += row->sink_weight;
    h->sink4_sum += row->sink4_weight;
    h->n_sink_rows += row->sees_sink;
    h->leak_sum += row->leak;
    h->k90_sum += row->k90;
    h->n_k90 += row->k90 > 0;
    h->distance_sum += row->distance;
    h->sum_error_sum += off;
    h->n_uniform += (uint64_t)is_uniform(row);
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

static double quantile(double *x, size_t n, double q)
{
    double at = q * (double)(n - 1), below = floor(at), next;
    size_t k = (size_t)below;

    select_nth(x, n, k);
    if (k + 1 >= n)
        return x[k];
    next = x[k + 1];
    for (size_t i = k + 2; i < n; i++)
        next = fmin(next, x[i]);
    return x[k] + (at - below) * (next - x[k]);
}

void head_stats_finish(struct head_stats *h)
{
    static const double quantiles[] = ENTROPY_QUANTILES;
    size_t n = (size_t)h->n_rows[ROW_OK];
    double mean = h->entropy_sum / (double)n, squares = 0;

    if (n == 0 || !h->entropies)
        return;
    for (size_t i = 0; i < n; i++)
        squares += (h->entropies[i] - mean) * (h->entropies[i] - mean);
    h->entropy_std = sqrt(squares / (double)n);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        h->entropy_quantile[i] = quantile(h->entropies, n, quantiles[i]);
}

struct heads_job {
    struct head_stats *heads;
    const struct row_stat *rows;
    size_t n_rows;
    double sum_tolerance;
};

static void add_item(void *context, size_t head, int thread)
{
    const struct heads_job *job = context;

    (void)thread;
    head_stats_add(&job->heads[head], job->rows + head * job->n_rows, job->n_rows, job->sum_tolerance);
}

static void finish_item(void *context, size_t head, int thread)
{
    const struct heads_job *job = context;

    (void)thread;
    head_stats_finish(&job->heads[head]);
}

/* Few rows are done before a thread is made. */
static int threads_for(size_t n_rows)
{
    return n_rows < 4096 ? 1 : cpu_threads();
}

void heads_add(struct head_stats *heads, size_t n_heads, const struct row_stat *rows, size_t n_rows,
               double sum_tolerance)
{
    struct heads_job job = {heads, rows, n_rows, sum_tolerance};

    parallel_for(n_heads, threads_for(n_heads * n_rows), add_item, &job);
}

void heads_finish(struct head_stats *heads, size_t n_heads)
{
    struct heads_job job = {.heads = heads};
    size_t n_rows = 0;

    for (size_t h = 0; h < n_heads; h++)
        n_rows += (size_t)heads[h].n_rows[ROW_OK];
    parallel_for(n_heads, threads_for(n_rows), finish_item, &job);
}

int head_has_collapsed(const struct head_stats *h, double max_bits, double min_weight)
{
    double n = (double)h->n_multi;

    return n > 0 && h->multi_entropy_sum < max_bits * n && h->multi_max_weight_sum > min_weight * n;
}
