#include "reports/series.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t n_runs(const struct series *s, enum side side)
{
    return side == SIDE_CAND ? s->in->n_cand : s->in->base ? s->in->n_base : 0;
}

static const struct run *run_of(const struct series *s, enum side side, size_t k)
{
    return side == SIDE_CAND ? &s->in->cand[k] : &s->in->base[k];
}

enum status series_init(struct series *s, const struct report_input *in, struct error *err)
{
    size_t n = in->cand->axes.n[AXIS_TASK], i, k;
    enum side side;

    memset(s, 0, sizeof *s);
    s->in = in;
    for (side = SIDE_BASE; side <= SIDE_CAND; side++) {
        TRY(mem_new(n * n_runs(s, side), sizeof *s->task[side], &s->task[side], err));
        for (k = 0; k < n_runs(s, side); k++)
            for (i = 0; i < n; i++)
                s->task[side][k * n + i] = axes_find_task(&run_of(s, side, k)->axes, in->cand->axes.task[i]);
    }
    return OK;
}

void series_done(struct series *s)
{
    free(s->task[SIDE_BASE]);
    free(s->task[SIDE_CAND]);
    memset(s, 0, sizeof *s);
}

struct where series_all(void)
{
    struct where w = {NULL, -1, -1, -1};

    return w;
}

const struct cube *series_cube(const struct series *s, const char *metric)
{
    return run_cube(s->in->cand, metric);
}

bool series_has(const struct series *s, enum side side, const char *metric)
{
    size_t k;

    for (k = 0; k < n_runs(s, side); k++)
        if (run_cube(run_of(s, side, k), metric))
            return true;
    return false;
}

/* Index of a cell's label on each axis that `w` fixes; false when the run has not that label. */
static bool place(const struct run *r, const struct where *w, size_t at[N_AXES], unsigned *ret_fixed)
{
    const int64_t number[N_AXES] = {-1, w->turn, -1, w->layer, w->head};
    unsigned fixed = 0;
    size_t axis;

    memset(at, 0, N_AXES * sizeof *at);
    if (w->task) {
        fixed |= AXIS_BIT(AXIS_TASK);
        at[AXIS_TASK] = axes_find_task(&r->axes, w->task);
        if (at[AXIS_TASK] == SIZE_MAX)
            return false;
    }
    for (axis = AXIS_TURN; axis < N_AXES; axis++) {
        if (number[axis] < 0)
            continue;
        fixed |= AXIS_BIT(axis);
        at[axis] = axes_find(&r->axes, (enum axis)axis, number[axis]);
        if (at[axis] == SIZE_MAX)
            return false;
    }
    *ret_fixed = fixed;
    return true;
}

/* The mean over tasks of one run's cube, and its range along `spread`. */
static struct span run_at(const struct run *r, const char *metric, const struct where *w, enum axis spread)
{
    const struct cube *c = run_cube(r, metric);
    size_t at[N_AXES], i;
    struct span all = {0}, range = {0};
    unsigned fixed;

    if (!c || !place(r, w, at, &fixed))
        return span_end(&all);
    all = cube_span_by_unit(c, fixed, at);
    if (spread == AXIS_TASK || !(c->axes & AXIS_BIT(spread)) || fixed & AXIS_BIT(spread))
        return all;
    for (i = 0; i < c->dim[spread]; i++) {
        at[spread] = i;
        span_add(&range, cube_span_by_unit(c, fixed | AXIS_BIT(spread), at).mean);
    }
    all.min = range.min;
    all.max = range.max;
    return all;
}

struct span series_at(const struct series *s, enum side side, const char *metric, const struct where *where,
                      enum axis spread)
{
    struct span of_runs = {0}, last = {0}, mean;
    double lo = INFINITY, hi = -INFINITY;
    size_t n = 0, k;

    for (k = 0; k < n_runs(s, side); k++) {
        struct span one = run_at(run_of(s, side, k), metric, where, spread);

        if (one.n == 0)
            continue;
        span_add(&of_runs, one.mean);
        lo = fmin(lo, one.min);
        hi = fmax(hi, one.max);
        n = one.n > n ? one.n : n;
        last = one;
    }
    mean = span_end(&of_runs);
    if (mean.n == 0)
        return mean;
    mean.sd = last.sd;
    mean.min = lo;
    mean.max = hi;
    mean.n = n;
    return mean;
}

/* A side's value for a task: the mean over its runs that have it. */
static double value_of(const struct series *s, enum side side, const char *metric, const struct where *w, size_t task)
{
    size_t n = s->in->cand->axes.n[AXIS_TASK], at[N_AXES], k;
    struct span of_runs = {0};
    unsigned fixed;

    for (k = 0; k < n_runs(s, side); k++) {
        const struct run *r = run_of(s, side, k);
        const struct cube *c = run_cube(r, metric);
        size_t here = s->task[side][k * n + task];

        if (!c || here == SIZE_MAX || !place(r, w, at, &fixed))
            continue;
        at[AXIS_TASK] = here;
        span_add(&of_runs, cube_span(c, fixed | AXIS_BIT(AXIS_TASK), at).mean);
    }
    return span_end(&of_runs).mean;
}

static struct paired pair_tasks(const struct series *s, const char *metric, const struct where *w, size_t first,
                                size_t end)
{
    const struct cube *c = series_cube(s, metric);
    struct span base = {0}, cand = {0}, delta = {0};
    struct paired p = {0, NAN, NAN, NAN};
    size_t at[N_AXES], i;
    unsigned fixed;

    if (!c || !place(s->in->cand, w, at, &fixed))
        return p;
    for (i = first; i < end && i < c->dim[AXIS_TASK]; i++) {
        double d = value_of(s, SIDE_CAND, metric, w, i), b = isnan(d) ? NAN : value_of(s, SIDE_BASE, metric, w, i);

        if (isnan(b))
            continue;
        span_add(&base, b);
        span_add(&cand, d);
        span_add(&delta, d - b);
    }
    p.n = delta.n;
    p.base = span_end(&base).mean;
    p.cand = span_end(&cand).mean;
    p.delta = span_end(&delta).mean;
    return p;
}

struct paired series_paired(const struct series *s, const char *metric, const struct where *where)
{
    return pair_tasks(s, metric, where, 0, s->in->cand->axes.n[AXIS_TASK]);
}

struct paired series_task(const struct series *s, const char *metric, size_t task)
{
    struct where all = series_all();
    struct paired p = pair_tasks(s, metric, &all, task, task + 1);
    const struct cube *c = series_cube(s, metric);

    if (p.n == 0 && c)
        p.cand = value_of(s, SIDE_CAND, metric, &all, task);
    return p;
}
