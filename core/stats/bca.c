#include "core/stats/bca.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/mde.h"
#include "core/stats/summary.h"
#include "kernels/cpu_isa.h"
#include "kernels/each_cpu.h"
#include "kernels/parallel.h"
#include "kernels/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are added up in one vector, and those for which one thread draws the tasks once. */
enum { LANES = 8, BATCH = 64, BLOCKS = BATCH / LANES };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

/* Resampled means equal to the one seen up to rounding count as equal, by this share of the deviation. */
static const double TIE = 1e-9;

/* Away from every stream that a task's id gives but by a chance of 2^-64 each. */
static const uint64_t STREAM = 0xb0075;

struct work {
    const double *diff; /* borrowed, as all that follows */
    size_t n_tasks, n_columns;
    const size_t *column;
    size_t n;
    uint64_t seed;
    size_t n_resamples;
    double alpha;
    struct interval *ret;
    enum status *status; /* owned: of each batch */
};

static void work_done(struct work *w)
{
    free(w->status);
    memset(w, 0, sizeof *w);
}

/* What a batch of columns needs. */
struct batch {
    uint32_t *task; /* [n_tasks] drawn                                           */
    double *value;  /* [BLOCKS][n_tasks][LANES] differences, 0 where missing     */
    double *there;  /* the same: 1, or 0 where missing; NULL when nothing is     */
    double *means;  /* [BATCH][n_resamples] */
    double *column; /* [n_tasks] what is finite of one */
};

static void batch_done(struct batch *b)
{
    free(b->task);
    free(b->value);
    free(b->there);
    free(b->means);
    free(b->column);
}

static enum status batch_init(struct batch *b, const struct work *w, size_t n_blocks, bool has_missing,
                              struct error *err)
{
    size_t cells, means;

    if (!size_mul(n_blocks * LANES, w->n_tasks, &cells) || !size_mul(n_blocks * LANES, w->n_resamples, &means))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many to resample", w->n_tasks);
    TRY(mem_new(w->n_tasks, sizeof *b->task, &b->task, err));
    TRY(mem_new(w->n_tasks, sizeof *b->column, &b->column, err));
    TRY(mem_new(cells, sizeof *b->value, &b->value, err));
    if (has_missing)
        TRY(mem_new(cells, sizeof *b->there, &b->there, err));
    return mem_new(means, sizeof *b->means, &b->means, err);
}

static void draw_tasks(const struct work *w, size_t resample, uint32_t *task)
{
    size_t i, per = (w->n_tasks + 3) / 4;

    for (i = 0; i < w->n_tasks; i += 4) {
        struct rng_block r = rng_at(w->seed, STREAM, resample * per + i / 4);
        size_t k;

        for (k = 0; k < 4 && i + k < w->n_tasks; k++)
            task[i + k] = (uint32_t)(((uint64_t)r.word[k] * w->n_tasks) >> 32);
    }
}

/* The sum of the rows of the tasks drawn. */
FOR_EACH_CPU static void add_up(const double *rows, const uint32_t *task, size_t n, double *ret)
{
    lanes sum = {0};
    size_t i;

    for (i = 0; i < n; i++)
        sum += *(const lanes *)(rows + (size_t)task[i] * LANES);
    memcpy(ret, &sum, sizeof sum);
}

static void resample(const struct work *w, struct batch *b, size_t n_blocks)
{
    size_t r, block, lane;

    for (r = 0; r < w->n_resamples; r++) {
        draw_tasks(w, r, b->task);
        for (block = 0; block < n_blocks; block++) {
            double sum[LANES], count[LANES];
            size_t at = block * w->n_tasks * LANES;

            add_up(b->value + at, b->task, w->n_tasks, sum);
            if (b->there)
                add_up(b->there + at, b->task, w->n_tasks, count);
            for (lane = 0; lane < LANES; lane++)
                b->means[(block * LANES + lane) * w->n_resamples + r] =
                    sum[lane] / (b->there ? count[lane] : (double)w->n_tasks);
        }
    }
}

/* Quantile q of x [n], interpolated as summary_quantile() does; reorders x. */
static double quantile(double *x, size_t n, double q)
{
    double at = q * (double)(n - 1), low, next = INFINITY;
    size_t i = (size_t)at, k;

    low = select_nth(x, n, i);
    for (k = i + 1; k < n; k++)
        next = x[k] < next ? x[k] : next;
    return i + 1 < n ? low + (at - (double)i) * (next - low) : low;
}

/* A sixth of the skewness of the mean's influence values, which for a mean are the differences themselves. */
static double acceleration(const double *x, size_t n, double mean)
{
    struct summary_sum cubes = {0}, squares = {0};
    size_t i;

    for (i = 0; i < n; i++) {
        double d = x[i] - mean;

        summary_add(&cubes, d * d * d);
        summary_add(&squares, d * d);
    }
    return summary_total(&cubes) / (6 * pow(summary_total(&squares), 1.5));
}

/* The share of the resampled means to which an end of the interval is moved; NaN beyond the correction's pole. */
static double moved(double z0, double z, double a)
{
    double rest = 1 - a * (z0 + z);

    return rest > 0 ? mde_normal_cdf(z0 + (z0 + z) / rest) : NAN;
}

/* Of the n finite differences x and the finite resampled means. */
static struct interval correct(const double *x, size_t n, double *means, size_t n_means, double alpha)
{
    struct interval none = {NAN, NAN}, out;
    double z = mde_normal_quantile(alpha), z0, a, lo, hi;
    size_t i, below = 0, upto = 0;
    struct summary s;

    summary_of(&s, x, n);
    if (n < BCA_MIN_PAIRS || !n_means)
        return none;
    if (!(s.max > s.min))
        return (struct interval){s.max, s.max};
    for (i = 0; i < n_means; i++) {
        below += means[i] < s.mean - TIE * s.sd;
        upto += means[i] <= s.mean + TIE * s.sd;
    }
    if (upto == 0 || below == n_means)
        return none;
    z0 = mde_normal_quantile((double)(below + upto) / (2 * (double)n_means));
    a = acceleration(x, n, s.mean);
    lo = moved(z0, z, a);
    hi = moved(z0, -z, a);
    if (!isfinite(z0) || isnan(lo) || isnan(hi))
        return none;
    out.lo = quantile(means, n_means, lo);
    out.hi = quantile(means, n_means, hi);
    return out;
}

static struct interval find(const struct work *w, struct batch *b, size_t item, size_t at)
{
    double *means = b->means + at * w->n_resamples;
    size_t i, n = 0, n_means = 0;

    for (i = 0; i < w->n_tasks; i++) {
        double d = w->diff[i * w->n_columns + w->column[item]];

        if (isfinite(d))
            b->column[n++] = d;
    }
    for (i = 0; i < w->n_resamples; i++)
        if (isfinite(means[i]))
            means[n_means++] = means[i];
    return correct(b->column, n, means, n_means, w->alpha);
}

static bool lay_out(const struct work *w, struct batch *b, size_t first, size_t n)
{
    bool has_missing = false;
    size_t i, k;

    for (k = 0; k < n; k++)
        for (i = 0; i < w->n_tasks; i++) {
            double d = w->diff[i * w->n_columns + w->column[first + k]];
            size_t at = (k / LANES * w->n_tasks + i) * LANES + k % LANES;

            has_missing = has_missing || !isfinite(d);
            if (b->value)
                b->value[at] = isfinite(d) ? d : 0;
            if (b->there)
                b->there[at] = isfinite(d);
        }
    return has_missing;
}

static enum status do_batch(const struct work *w, size_t first, size_t n, struct error *err)
{
    size_t n_blocks = (n + LANES - 1) / LANES, k;
    AUTO(batch) b = {0};

    TRY(batch_init(&b, w, n_blocks, lay_out(w, &b, first, n), err));
    (void)lay_out(w, &b, first, n);
    resample(w, &b, n_blocks);
    for (k = 0; k < n; k++)
        w->ret[first + k] = find(w, &b, first + k, k);
    return OK;
}

static void do_item(void *context, size_t item, int thread)
{
    const struct work *w = context;
    size_t first = item * BATCH;

    (void)thread;
    w->status[item] = do_batch(w, first, w->n - first < BATCH ? w->n - first : BATCH, NULL);
}

enum status bca_intervals(const double *diff, size_t n_tasks, size_t n_columns, const size_t *column, size_t n,
                          uint64_t seed, size_t n_resamples, double alpha, struct interval *ret, struct error *err)
{
    AUTO(work) w = {diff, n_tasks, n_columns, column, n, seed, n_resamples, alpha, ret, NULL};
    size_t i, n_batches = (n + BATCH - 1) / BATCH;

    for (i = 0; i < n; i++)
        ret[i] = (struct interval){NAN, NAN};
    if (n_tasks > BCA_MAX_TASKS || n_tasks < BCA_MIN_PAIRS)
        return OK;
    TRY(mem_new(n_batches, sizeof *w.status, &w.status, err));
    parallel_for(n_batches, n_batches < 2 ? 1 : cpu_threads(), do_item, &w);
    for (i = 0; i < n_batches; i++)
        if (w.status[i] != OK)
            return error_set(err, w.status[i], "no bootstrap interval of %zu tasks could be computed", n_tasks);
    return OK;
}
