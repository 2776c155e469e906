#include "core/stats/interval.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/stats/summary.h"
#include "kernels/cpu_isa.h"
#include "kernels/each_cpu.h"
#include "kernels/parallel.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are added up side by side. A block of them takes milliseconds, a thread a fraction of that. */
enum { LANES = 8, LAST = SIGNFLIP_PATTERNS - 1 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

struct work {
    const struct signflip *s; /* borrowed, as all that follows */
    const double *diff;
    size_t n_columns;
    const size_t *column;
    size_t n;
    double alpha;
    struct interval *ret;
    enum status *status; /* owned: of each block */
};

static void work_done(struct work *w)
{
    free(w->status);
    memset(w, 0, sizeof *w);
}

/* What a block of columns needs. A table has, for a group of tasks, the sums of those that a pattern flips. */
struct block {
    double *sums, *counts; /* [n_groups][SIGNFLIP_PATTERNS][LANES] of differences, of pairs         */
    double *means;         /* [LANES][2 n_flips] over the tasks that are flipped, and over the others */
};

static void block_done(struct block *b)
{
    free(b->sums);
    free(b->counts);
    free(b->means);
}

static enum status block_init(struct block *b, const struct signflip *s, struct error *err)
{
    size_t table, means;

    if (!size_mul(s->n_groups, (size_t)SIGNFLIP_PATTERNS * LANES, &table) ||
        !size_mul(s->n_flips, (size_t)2 * LANES, &means))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many for intervals", s->n_tasks);
    TRY(mem_new(table, sizeof *b->sums, &b->sums, err));
    TRY(mem_new(table, sizeof *b->counts, &b->counts, err));
    return mem_new(means, sizeof *b->means, &b->means, err);
}

/* Adds a task's difference to the patterns of its group that flip it. */
static void add_to_table(struct block *b, size_t task, size_t lane, double d)
{
    size_t p, at = task / SIGNFLIP_GROUP * SIGNFLIP_PATTERNS;

    for (p = 0; p < SIGNFLIP_PATTERNS; p++)
        if ((p >> (task % SIGNFLIP_GROUP)) & 1) {
            b->sums[(at + p) * LANES + lane] += d;
            b->counts[(at + p) * LANES + lane] += 1;
        }
}

/* Of one flip: what it flips [0], and the rest [1]; the rest are the flipped of the opposite pattern. */
FOR_EACH_CPU static void add_up(const struct signflip *s, const double *table, size_t flip, double ret[2][LANES])
{
    const lanes *row = (const lanes *)table;
    lanes flipped = {0}, rest = {0};
    size_t g;

    for (g = 0; g < s->n_groups; g++, row += SIGNFLIP_PATTERNS) {
        size_t p = s->pattern[g * s->n_flips + flip];

        flipped += row[p];
        rest += row[LAST - p];
    }
    memcpy(ret[0], &flipped, sizeof flipped);
    memcpy(ret[1], &rest, sizeof rest);
}

static void subset_means(const struct signflip *s, struct block *b)
{
    size_t f, side, lane;

    for (f = 0; f < s->n_flips; f++) {
        double sums[2][LANES], counts[2][LANES];

        add_up(s, b->sums, f, sums);
        add_up(s, b->counts, f, counts);
        for (lane = 0; lane < LANES; lane++)
            for (side = 0; side < 2; side++)
                b->means[(lane * s->n_flips + f) * 2 + side] = sums[side][lane] / counts[side][lane];
    }
}

/* The two-sided p of a mean m below the one seen is (the subset means that are no more than m, + 1 drawn flips) over
 * the flips: it passes 2 alpha at the rank-th smallest. A flip of nothing (or of all) says nothing of m, it bounds it
 * nowhere: it stands before the smallest and behind the largest. The drawn case adds the flip that was observed. */
static struct interval find_limits(const struct signflip *s, double *means, double alpha)
{
    size_t total = s->n_flips + (s->is_enumerated ? 0 : 1), n = 0, i, empty;
    size_t need = (size_t)floor(2 * alpha * (double)total * (1 + 1e-12)) + 1; /* counted flips, the seen one too */
    size_t rank = s->is_enumerated ? need - 1 : need - 2;                     /* from 0 */
    struct interval out = {NAN, NAN};

    for (i = 0; i < 2 * s->n_flips; i++)
        if (isfinite(means[i]))
            means[n++] = means[i];
    empty = 2 * s->n_flips - n;
    if ((s->is_enumerated || need >= 2) && rank >= empty && rank - empty < n)
        summary_select_ends(means, n, rank - empty, &out.lo, &out.hi);
    return out;
}

/* Fills the tables with the columns that need flips; the others have their interval at once. */
static void lay_out(const struct work *w, struct block *b, size_t first, size_t n, bool needs[LANES])
{
    size_t i, k;

    for (k = 0; k < n; k++) {
        double lo = INFINITY, hi = -INFINITY;
        size_t pairs = 0;

        for (i = 0; i < w->s->n_tasks; i++) {
            double d = w->diff[i * w->n_columns + w->column[first + k]];

            if (!isfinite(d))
                continue;
            add_to_table(b, i, k, d);
            lo = d < lo ? d : lo;
            hi = d > hi ? d : hi;
            pairs++;
        }
        needs[k] = pairs > 1 && hi > lo;
        w->ret[first + k] = pairs > 1 ? (struct interval){lo, hi} : (struct interval){NAN, NAN};
    }
}

static enum status do_block(const struct work *w, size_t first, size_t n, struct error *err)
{
    bool needs[LANES] = {false};
    AUTO(block) b = {0};
    size_t k;

    TRY(block_init(&b, w->s, err));
    lay_out(w, &b, first, n, needs);
    subset_means(w->s, &b);
    for (k = 0; k < n; k++)
        if (needs[k])
            w->ret[first + k] = find_limits(w->s, b.means + k * 2 * w->s->n_flips, w->alpha);
    return OK;
}

static void do_item(void *context, size_t item, int thread)
{
    const struct work *w = context;
    size_t first = item * LANES;

    (void)thread;
    w->status[item] = do_block(w, first, w->n - first < LANES ? w->n - first : LANES, NULL);
}

enum status interval_signflip(const struct signflip *s, const double *diff, size_t n_columns, const size_t *column,
                              size_t n, double alpha, struct interval *ret, struct error *err)
{
    AUTO(work) w = {s, diff, n_columns, column, n, alpha, ret, NULL};
    size_t i, n_blocks = (n + LANES - 1) / LANES;

    TRY(mem_new(n_blocks, sizeof *w.status, &w.status, err));
    parallel_for(n_blocks, n_blocks < 2 ? 1 : cpu_threads(), do_item, &w);
    for (i = 0; i < n_blocks; i++)
        if (w.status[i] != OK)
            return error_set(err, w.status[i], "no interval over %zu tasks could be computed", s->n_tasks);
    return OK;
}
