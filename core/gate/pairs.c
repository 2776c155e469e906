#include "core/gate/pairs.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/view.h"
#include "core/stats/maxt.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pairs_done(struct pairs *p)
{
    free(p->task);
    free(p->cell);
    free(p->base);
    free(p->cand);
    free(p->diff);
    free(p->n_options);
    free(p->exchanged);
    memset(p, 0, sizeof *p);
}

/* A running mean of both sides and of their difference. */
struct mean {
    double base, cand, diff;
    size_t n;
};

/* What pairs_init() works with. */
struct match {
    struct view *runs; /* owned: [n_runs], the candidate's first */
    size_t n_runs, n_cand;
    const struct run *like;  /* the run whose labels all are seen by               */
    const struct cube *cube; /* its cube                                           */
    size_t *order;           /* owned: its tasks, ascending by id                  */
    size_t n_turns;          /* turns that are averaged within a cell              */
    size_t (*place)[N_AXES]; /* owned: [n_cells] indices of the cell; its turn where cells are turns */
    double *value;           /* owned: [n_runs] of one place                       */
    size_t *present;         /* owned: [n_runs] the runs that have the task        */
    struct mean *means;      /* owned: [n_runs] of one cell, for each exchange     */
};

static void match_done(struct match *m)
{
    size_t i;

    for (i = 0; m->runs && i < m->n_runs; i++)
        view_done(&m->runs[i]);
    free(m->runs);
    free(m->order);
    free(m->place);
    free(m->value);
    free(m->present);
    free(m->means);
    memset(m, 0, sizeof *m);
}

static void mean_add(struct mean *m, double base, double cand, double diff)
{
    if (!isfinite(diff))
        return;
    m->base += base;
    m->cand += cand;
    m->diff += diff;
    m->n++;
}

static void mean_put(const struct mean *m, struct pairs *p, size_t row, size_t column)
{
    size_t i = row * p->n_columns + column;

    p->base[i] = m->n ? m->base / (double)m->n : NAN;
    p->cand[i] = m->n ? m->cand / (double)m->n : NAN;
    p->diff[i] = m->n ? m->diff / (double)m->n : NAN;
}

/* Some of the runs, of which the first n_cand are the candidate's; an exchange moves them on by so many places. */
struct places {
    const size_t *run; /* [n]; NULL: run i at place i */
    size_t n, n_cand;
};

/* The mean of the values at places [first, end) after an exchange. Equal values have that mean to the last bit. */
static double mean_at(const struct places *p, const double *value, size_t exchange, size_t first, size_t end)
{
    double one = NAN, sum = 0;
    size_t i, n = 0;

    for (i = first; i < end && p->n > 0; i++) {
        size_t at = (i + exchange) % p->n;
        double v = value[p->run ? p->run[at] : at];

        if (!isfinite(v))
            continue;
        one = n ? one : v;
        sum += v - one;
        n++;
    }
    return n ? one + sum / (double)n : NAN;
}

/* A cell of a task under each of the first n_exchanges exchanges, over the turns that are pairs as they are. */
static void cell_means(const struct match *m, size_t task, size_t cell, const struct places *p, size_t n_exchanges,
                       struct mean *ret)
{
    size_t at[N_AXES], t, i, x;

    memset(ret, 0, n_exchanges * sizeof *ret);
    memcpy(at, m->place[cell], sizeof at);
    at[AXIS_TASK] = task;
    for (t = 0; t < m->n_turns; t++) {
        if (m->n_turns > 1)
            at[AXIS_TURN] = t;
        for (i = 0; i < m->n_runs; i++)
            m->value[i] = view_value(&m->runs[i], at);
        for (x = 0; x < n_exchanges; x++) {
            double cand = mean_at(p, m->value, x, 0, p->n_cand), base = mean_at(p, m->value, x, p->n_cand, p->n);

            if (x == 0 && !isfinite(cand - base))
                break;
            mean_add(&ret[x], base, cand, cand - base);
        }
    }
}

/* Fills a task's row; false when it has no pair at all. */
static bool fill_row(struct pairs *p, const struct match *m, size_t task, size_t row)
{
    const struct places as_seen = {NULL, m->n_runs, m->n_cand};
    struct mean all = {0}, cell;
    size_t k;

    for (k = 0; k < p->n_cells; k++) {
        size_t i = row * p->n_columns + k;

        cell_means(m, task, k, &as_seen, 1, &cell);
        mean_put(&cell, p, row, k);
        mean_add(&all, p->base[i], p->cand[i], p->diff[i]);
    }
    mean_put(&all, p, row, p->n_cells);
    return all.n > 0;
}

/* Whether a run has any value of a task. */
static bool has_task(const struct pairs *p, const struct match *m, size_t run, size_t task)
{
    size_t at[N_AXES], k, t;

    for (k = 0; k < p->n_cells; k++) {
        memcpy(at, m->place[k], sizeof at);
        at[AXIS_TASK] = task;
        for (t = 0; t < m->n_turns; t++) {
            if (m->n_turns > 1)
                at[AXIS_TURN] = t;
            if (isfinite(view_value(&m->runs[run], at)))
                return true;
        }
    }
    return false;
}

/* Appends the task's differences under each exchange of the runs that have it, as they are first. The mean over cells
 * is over those that are pairs. */
static void fill_exchanged(struct pairs *p, const struct match *m, size_t task, size_t row)
{
    struct places places = {m->present, 0, 0};
    double *out = p->exchanged + p->n_rows * p->n_columns;
    size_t i, k, n;

    for (i = 0; i < m->n_runs; i++) {
        if (!has_task(p, m, i, task))
            continue;
        m->present[places.n++] = i;
        places.n_cand += i < m->n_cand;
    }
    n = places.n < MAXT_OPTIONS ? places.n : MAXT_OPTIONS;
    for (k = 0; k < p->n_cells; k++) {
        cell_means(m, task, k, &places, n, m->means);
        for (i = 0; i < n; i++)
            out[i * p->n_columns + k] = m->means[i].n ? m->means[i].diff / (double)m->means[i].n : NAN;
    }
    for (i = 0; i < n; i++) {
        struct mean all = {0};

        for (k = 0; k < p->n_cells; k++)
            mean_add(&all, 0, 0, out[i * p->n_columns + k]);
        out[i * p->n_columns + p->n_cells] = all.n ? all.diff / (double)all.n : NAN;
    }
    p->n_options[row] = n;
    p->n_rows += n;
}

/* The cells that the candidate's cube has, and where each stands. */
static enum status lay_cells(struct pairs *p, struct match *m, struct error *err)
{
    const struct axes *axes = &m->like->axes;
    const struct cube *c = m->cube;
    size_t turns, k;

    p->has_layers = (c->axes & AXIS_BIT(AXIS_LAYER)) != 0;
    turns = p->has_layers ? 1 : c->dim[AXIS_TURN];
    m->n_turns = p->has_layers ? c->dim[AXIS_TURN] : 1;
    if (!size_mul(c->dim[AXIS_LAYER], c->dim[AXIS_HEAD], &p->n_cells) || !size_mul(p->n_cells, turns, &p->n_cells))
        return error_set(err, ERR_LIMIT, "metric '%s' has too many cells", c->metric);
    p->n_columns = p->n_cells + 1;
    TRY(mem_new(p->n_columns, sizeof *p->cell, &p->cell, err));
    TRY(mem_new(p->n_cells, sizeof *m->place, &m->place, err));
    for (k = 0; k < p->n_columns; k++)
        p->cell[k] = (struct where){.turn = -1, .layer = -1, .head = -1};
    for (k = 0; k < p->n_cells; k++) {
        size_t *place = m->place[k];

        place[AXIS_HEAD] = k % c->dim[AXIS_HEAD];
        place[AXIS_LAYER] = k / c->dim[AXIS_HEAD] % c->dim[AXIS_LAYER];
        place[AXIS_TURN] = k / c->dim[AXIS_HEAD] / c->dim[AXIS_LAYER];
        if (c->axes & AXIS_BIT(AXIS_HEAD))
            p->cell[k].head = axes->number[AXIS_HEAD][place[AXIS_HEAD]];
        if (p->has_layers)
            p->cell[k].layer = axes->number[AXIS_LAYER][place[AXIS_LAYER]];
        else if (c->axes & AXIS_BIT(AXIS_TURN))
            p->cell[k].turn = axes->number[AXIS_TURN][place[AXIS_TURN]];
    }
    return OK;
}

struct named {
    const char *id;
    size_t at;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

static enum status sort_tasks(struct match *m, struct error *err)
{
    const struct axes *axes = &m->like->axes;
    struct named *named = NULL;
    size_t i, n = axes->n[AXIS_TASK];

    TRY(mem_new(n, sizeof *m->order, &m->order, err));
    TRY(mem_new(n, sizeof *named, &named, err));
    for (i = 0; i < n; i++)
        named[i] = (struct named){axes->task[i], i};
    if (n)
        qsort(named, n, sizeof *named, by_id);
    for (i = 0; i < n; i++)
        m->order[i] = named[i].at;
    free(named);
    return OK;
}

/* The first candidate run that has a value of the metric; the first of all when none has. */
static const struct run *first_measured(const struct run *cand, size_t n_cand, const char *metric)
{
    size_t i;

    for (i = 0; i < n_cand; i++) {
        const struct cube *c = run_cube(&cand[i], metric);

        if (c && cube_count(c) > 0)
            return &cand[i];
    }
    return cand;
}

static enum status match_init(struct match *m, const struct run *base, size_t n_base, const struct run *cand,
                              size_t n_cand, const char *metric, struct error *err)
{
    size_t i;

    m->like = first_measured(cand, n_cand, metric);
    m->cube = run_cube(m->like, metric);
    m->n_cand = n_cand;
    TRY(mem_new(n_cand + n_base, sizeof *m->runs, &m->runs, err));
    TRY(mem_new(n_cand + n_base, sizeof *m->value, &m->value, err));
    TRY(mem_new(n_cand + n_base, sizeof *m->present, &m->present, err));
    TRY(mem_new(n_cand + n_base, sizeof *m->means, &m->means, err));
    m->n_runs = n_cand + n_base;
    for (i = 0; i < m->n_runs; i++)
        TRY(view_init(&m->runs[i], i < n_cand ? &cand[i] : &base[i - n_cand], &m->like->axes, metric, err));
    return sort_tasks(m, err);
}

static enum status make_room(struct pairs *p, size_t n_tasks, size_t n_runs, struct error *err)
{
    size_t len, rows, all;

    if (!size_mul(n_tasks, p->n_columns, &len) || !size_mul(n_tasks, n_runs < 3 ? 0 : n_runs, &rows) ||
        !size_mul(rows, p->n_columns, &all))
        return error_set(err, ERR_LIMIT, "%zu tasks by %zu cells are too many to compare", n_tasks, p->n_cells);
    TRY(mem_new(n_tasks, sizeof *p->task, &p->task, err));
    TRY(mem_new(len, sizeof *p->base, &p->base, err));
    TRY(mem_new(len, sizeof *p->cand, &p->cand, err));
    TRY(mem_new(len, sizeof *p->diff, &p->diff, err));
    if (n_runs < 3)
        return OK;
    TRY(mem_new(n_tasks, sizeof *p->n_options, &p->n_options, err));
    return mem_new(all, sizeof *p->exchanged, &p->exchanged, err);
}

enum status pairs_init(struct pairs *p, const struct run *base, size_t n_base, const struct run *cand, size_t n_cand,
                       const char *metric, struct error *err)
{
    AUTO(match) m = {0};
    AUTO(pairs) out = {0};
    size_t i, n;

    TRY(match_init(&m, base, n_base, cand, n_cand, metric, err));
    n = m.like->axes.n[AXIS_TASK];
    TRY(lay_cells(&out, &m, err));
    TRY(make_room(&out, n, m.n_runs, err));
    /* Without tasks there is nothing to pair: the same value again and again would look like many. */
    for (i = 0; i < n && (m.cube->axes & AXIS_BIT(AXIS_TASK)); i++) {
        if (!fill_row(&out, &m, m.order[i], out.n_tasks))
            continue;
        if (out.exchanged)
            fill_exchanged(&out, &m, m.order[i], out.n_tasks);
        out.task[out.n_tasks++] = m.like->axes.task[m.order[i]];
    }
    *p = out;
    memset(&out, 0, sizeof out);
    return OK;
}

double pairs_mean(const struct pairs *p, const double *values, size_t column)
{
    struct summary_sum sum = {0};
    size_t i, n = 0;

    for (i = 0; i < p->n_tasks; i++) {
        double value = values[i * p->n_columns + column];

        if (!isfinite(value))
            continue;
        summary_add(&sum, value);
        n++;
    }
    return n ? summary_total(&sum) / (double)n : NAN;
}

bool pairs_identical(const struct pairs *p)
{
    size_t i;

    for (i = 0; i < p->n_tasks * p->n_columns; i++)
        if (fabs(p->diff[i]) > 0)
            return false;
    for (i = 0; i < p->n_rows * p->n_columns; i++)
        if (fabs(p->exchanged[i]) > 0)
            return false;
    return p->n_tasks > 0;
}
