#include "core/stats/signflip.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/maxt.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = SIGNFLIP_GROUP, N_PATTERNS = SIGNFLIP_PATTERNS };

void signflip_done(struct signflip *s)
{
    free(s->pattern);
    memset(s, 0, sizeof *s);
}

/* Whether all 2^n flips are no more than `max`. */
static bool can_enumerate(size_t n_tasks, size_t max)
{
    return n_tasks < 40 && ((size_t)1 << n_tasks) <= max;
}

static void enumerate(struct signflip *s)
{
    size_t g, f;

    /* The last task is never flipped, so that one of each pair of opposite flips remains. */
    for (g = 0; g < s->n_groups; g++)
        for (f = 0; f < s->n_flips; f++)
            s->pattern[g * s->n_flips + f] = (uint8_t)((f >> (GROUP * g)) & (N_PATTERNS - 1));
}

static void draw(struct signflip *s, const uint64_t *stream, uint64_t seed)
{
    size_t i, f;

    for (i = 0; i < s->n_tasks; i++) {
        uint8_t *row = s->pattern + i / GROUP * s->n_flips;
        struct rng_block bits = {{0}};

        for (f = 0; f < s->n_flips; f++) {
            if (f % 128 == 0)
                bits = rng_at(seed, stream[i], f / 128);
            row[f] |= (uint8_t)(((bits.word[f % 128 / 32] >> (f % 32)) & 1u) << (i % GROUP));
        }
    }
}

enum status signflip_init(struct signflip *s, const uint64_t *stream, size_t n_tasks, uint64_t seed,
                          size_t max_resamples, struct error *err)
{
    struct signflip out = {.n_tasks = n_tasks, .n_groups = (n_tasks + GROUP - 1) / GROUP};
    size_t len;

    out.is_enumerated = can_enumerate(n_tasks, max_resamples);
    out.n_flips = max_resamples;
    if (out.is_enumerated)
        out.n_flips = n_tasks ? (size_t)1 << (n_tasks - 1) : 1;
    if (!size_mul(out.n_groups, out.n_flips, &len))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many for %zu sign flips", n_tasks, max_resamples);
    TRY(mem_new(len, 1, &out.pattern, err));
    if (out.is_enumerated)
        enumerate(&out);
    else
        draw(&out, stream, seed);
    *s = out;
    return OK;
}

/* mean, sd and t of a cell; everything that does not need flips. */
void signflip_describe(const double *column, size_t n, struct signflip_cell *ret)
{
    struct summary s;

    summary_of(&s, column, n);
    ret->n = s.n;
    ret->mean = s.mean;
    ret->sd = s.sd;
    ret->p = s.n ? 1 : NAN;
    ret->p_adj = ret->p;
    ret->p_min = s.n ? 1 : NAN;
    ret->t = NAN;
    if (s.n < 2)
        return;
    if (!(s.max > s.min)) { /* all equal: no rounding may pass for a deviation */
        ret->sd = 0;
        ret->mean = s.max;
    }
    if (ret->sd > 0)
        ret->t = s.mean / (s.sd / sqrt((double)s.n));
    else
        ret->t = fabs(ret->mean) > 0 ? copysign(INFINITY, ret->mean) : 0;
}

/* Writes one cell's differences, missing as 0, divided by sqrt(sum d^2), and their opposites; returns |sum|, NaN when
 * there is nothing to test: no pair that differs, or one pair, for which both signs give the same. */
static double scale_cell(const double *diff, size_t n_tasks, size_t n_cells, size_t cell, double *part)
{
    double largest = 0, squares = 0, sum = 0;
    size_t i, n = 0;

    for (i = 0; i < n_tasks; i++) {
        double d = diff[i * n_cells + cell];

        n += isfinite(d);
        part[2 * i * n_cells + cell] = isfinite(d) ? d : 0;
        largest = fmax(largest, fabs(part[2 * i * n_cells + cell]));
    }
    if (!(largest > 0) || n < 2)
        return NAN;
    /* First by the largest: squares of 1e200 or 1e-200 would leave the range. */
    for (i = 0; i < n_tasks; i++) {
        double *d = &part[2 * i * n_cells + cell];

        *d /= largest;
        squares += *d * *d;
    }
    for (i = 0; i < n_tasks; i++) {
        double *d = &part[2 * i * n_cells + cell];

        *d /= sqrt(squares);
        d[n_cells] = -*d;
        sum += *d;
    }
    return fabs(sum);
}

/* What one call works with. */
struct work {
    double *part;          /* n_tasks x (d, -d) x n_cells */
    double *column;        /* [n_tasks]                   */
    double *z, *p, *p_adj; /* [n_cells]                   */
    size_t *n_options;     /* [n_tasks]                   */
    size_t *first;         /* [n_groups + 1]              */
};

static void work_done(struct work *w)
{
    free(w->part);
    free(w->column);
    free(w->z);
    free(w->p);
    free(w->p_adj);
    free(w->n_options);
    free(w->first);
    memset(w, 0, sizeof *w);
}

static enum status work_init(struct work *w, const struct signflip *s, size_t n_cells, struct error *err)
{
    size_t i, cells;

    if (!size_mul(s->n_tasks, 2, &cells) || !size_mul(cells, n_cells, &cells))
        return error_set(err, ERR_LIMIT, "%zu tasks by %zu cells are too many to compare", s->n_tasks, n_cells);
    TRY(mem_new(cells, sizeof *w->part, &w->part, err));
    TRY(mem_new(s->n_tasks, sizeof *w->column, &w->column, err));
    TRY(mem_new(n_cells, sizeof *w->z, &w->z, err));
    TRY(mem_new(n_cells, sizeof *w->p, &w->p, err));
    TRY(mem_new(n_cells, sizeof *w->p_adj, &w->p_adj, err));
    TRY(mem_new(s->n_tasks, sizeof *w->n_options, &w->n_options, err));
    TRY(mem_new(s->n_groups + 1, sizeof *w->first, &w->first, err));
    for (i = 0; i < s->n_tasks; i++)
        w->n_options[i] = 2;
    for (i = 0; i < s->n_groups; i++)
        w->first[i] = i * GROUP;
    w->first[s->n_groups] = s->n_tasks;
    return OK;
}

enum status signflip_test(const struct signflip *s, const double *diff, size_t n_cells, struct signflip_cell *ret,
                          struct error *err)
{
    AUTO(work) w = {0};
    struct maxt m = {.n_tasks = s->n_tasks,
                     .n_groups = s->n_groups,
                     .n_draws = s->n_flips,
                     .pattern = s->pattern,
                     .is_enumerated = s->is_enumerated};
    size_t i, k;

    TRY(work_init(&w, s, n_cells, err));
    m.n_options = w.n_options;
    m.first = w.first;
    for (k = 0; k < n_cells; k++) {
        for (i = 0; i < s->n_tasks; i++)
            w.column[i] = diff[i * n_cells + k];
        signflip_describe(w.column, s->n_tasks, &ret[k]);
        if (ret[k].n)
            ret[k].p_min = signflip_p_min(ret[k].n, s->is_enumerated ? SIZE_MAX : s->n_flips);
        w.z[k] = scale_cell(diff, s->n_tasks, n_cells, k, w.part);
    }
    TRY(maxt_test(&m, w.part, w.z, n_cells, w.p, w.p_adj, err));
    for (k = 0; k < n_cells; k++) {
        if (isnan(w.z[k]))
            continue;
        ret[k].p = w.p[k];
        ret[k].p_adj = w.p_adj[k];
    }
    return OK;
}

double signflip_p_min(size_t n_pairs, size_t max_resamples)
{
    double p = ldexp(1, n_pairs > 1000 ? -999 : 1 - (int)n_pairs);

    if (!can_enumerate(n_pairs, max_resamples))
        p = fmax(p, 1 / (double)(max_resamples + 1));
    return fmin(p, 1);
}

size_t signflip_pairs_for(double p, size_t max_resamples)
{
    size_t n;

    for (n = 1; n < 1000; n++)
        if (signflip_p_min(n, max_resamples) <= p)
            return n;
    return 0;
}
