#include "core/stats/interval.h"

#include "core/base/mem.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>

/* Sum and count of a group's differences under one pattern: the tasks that are kept [0] and those flipped [1]. */
struct part {
    double sum[2];
    int n[2];
};

/* Adds a task's difference to the patterns of its group. */
static void add_to_parts(struct part *parts, size_t bit, double d)
{
    size_t p;

    for (p = 0; p < SIGNFLIP_PATTERNS; p++) {
        parts[p].sum[(p >> bit) & 1] += d;
        parts[p].n[(p >> bit) & 1]++;
    }
}

static void fill_parts(const struct signflip *s, const double *diff, struct part *parts)
{
    size_t i;

    for (i = 0; i < s->n_tasks; i++)
        if (isfinite(diff[i]))
            add_to_parts(parts + i / SIGNFLIP_GROUP * SIGNFLIP_PATTERNS, i % SIGNFLIP_GROUP, diff[i]);
}

/* lows, highs: [2 n_flips]. A flip of nothing (or of all) says nothing of m: it bounds it nowhere. The two lists differ
 * only in how that is written. */
static void subset_means(const struct signflip *s, const struct part *parts, double *lows, double *highs)
{
    size_t f, g;

    for (f = 0; f < s->n_flips; f++) {
        struct part all = {{0}, {0}};
        size_t side;

        for (g = 0; g < s->n_groups; g++) {
            const struct part *part = &parts[g * SIGNFLIP_PATTERNS + s->pattern[g * s->n_flips + f]];

            for (side = 0; side < 2; side++) {
                all.sum[side] += part->sum[side];
                all.n[side] += part->n[side];
            }
        }
        for (side = 0; side < 2; side++) {
            lows[2 * f + side] = all.n[side] ? all.sum[side] / all.n[side] : -INFINITY;
            highs[2 * f + side] = all.n[side] ? lows[2 * f + side] : INFINITY;
        }
    }
}

/* The two-sided p of a mean m below the one seen is (the subset means that are no more than m, + 1 drawn flips) over
 * the flips: it passes 2 alpha at the rank-th smallest. The enumerated flip of nothing stands as -inf in the list, the
 * drawn case adds the flip that was observed. */
static void find_limits(const struct signflip *s, double *lows, double *highs, double alpha, struct interval *ret)
{
    size_t total = s->n_flips + (s->is_enumerated ? 0 : 1);
    size_t need = (size_t)floor(2 * alpha * (double)total * (1 + 1e-12)) + 1; /* counted flips, the seen one too */
    size_t rank = s->is_enumerated ? need - 1 : need - 2;                     /* from 0 */
    size_t n = 2 * s->n_flips;

    ret->lo = ret->hi = NAN;
    if ((!s->is_enumerated && need < 2) || rank >= n)
        return;
    ret->lo = summary_select(lows, n, rank);
    ret->hi = summary_select(highs, n, n - 1 - rank);
    if (!isfinite(ret->lo) || !isfinite(ret->hi))
        ret->lo = ret->hi = NAN;
}

enum status interval_signflip(const struct signflip *s, const double *diff, double alpha, struct interval *ret,
                              struct error *err)
{
    struct part *parts = NULL;
    double *means = NULL;
    struct summary all;
    enum status st;

    summary_of(&all, diff, s->n_tasks);
    if (all.n < 2) {
        ret->lo = ret->hi = NAN;
        return OK;
    }
    if (!(all.max > all.min)) {
        ret->lo = ret->hi = all.max;
        return OK;
    }
    TRY(mem_new(s->n_groups * SIGNFLIP_PATTERNS, sizeof *parts, &parts, err));
    st = mem_new(4 * s->n_flips, sizeof *means, &means, err);
    if (st == OK) {
        fill_parts(s, diff, parts);
        subset_means(s, parts, means, means + 2 * s->n_flips);
        find_limits(s, means, means + 2 * s->n_flips, alpha, ret);
    }
    free(parts);
    free(means);
    return st;
}
