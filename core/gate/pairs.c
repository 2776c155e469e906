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

/* What pairs_init() works with. */
struct match {
    struct view *base; /* owned: [n_base] */
    size_t n_base;
    struct view cand;
    size_t *order;           /* owned: the candidate's tasks, ascending by id */
    size_t n_turns;          /* turns that are averaged within a cell         */
    size_t (*place)[N_AXES]; /* owned: [n_cells] indices of the cell; its turn where cells are turns */
};

static void match_done(struct match *m)
{
    size_t i;

    for (i = 0; m->base && i < m->n_base; i++)
        view_done(&m->base[i]);
    free(m->base);
    view_done(&m->cand);
    free(m->order);
    free(m->place);
    memset(m, 0, sizeof *m);
}

/* Of the candidate, which is run 0, or of a base run. */
static double run_value(const struct match *m, size_t run, const size_t at[N_AXES])
{
    return view_value(run ? &m->base[run - 1] : &m->cand, at);
}

/* The mean of all runs but `but`. Equal values have that mean to the last bit. */
static double mean_without(const struct match *m, size_t but, const size_t at[N_AXES])
{
    double first = NAN, sum = 0;
    size_t i, n = 0;

    for (i = 0; i <= m->n_base; i++) {
        double value = i == but ? NAN : run_value(m, i, at);

        if (isnan(value))
            continue;
        first = n ? first : value;
        sum += value - first;
        n++;
    }
    return n ? first + sum / (double)n : NAN;
}

struct mean {
    double base, cand, diff;
    size_t n;
};

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

/* A cell of a task, with `run` in the candidate's place, over the turns that are pairs. */
static struct mean cell_mean(const struct match *m, size_t task, size_t cell, size_t run)
{
    struct mean out = {0};
    size_t at[N_AXES], t;

    memcpy(at, m->place[cell], sizeof at);
    at[AXIS_TASK] = task;
    for (t = 0; t < m->n_turns; t++) {
        double base, cand;

        if (m->n_turns > 1)
            at[AXIS_TURN] = t;
        base = mean_without(m, run, at);
        cand = run_value(m, run, at);
        if (run && !isfinite(run_value(m, 0, at)))
            continue;
        mean_add(&out, base, cand, cand - base);
    }
    return out;
}

/* Fills a task's row; false when it has no pair at all. */
static bool fill_row(struct pairs *p, const struct match *m, size_t task, size_t row)
{
    struct mean all = {0};
    size_t k;

    for (k = 0; k < p->n_cells; k++) {
        struct mean cell = cell_mean(m, task, k, 0);
        size_t i = row * p->n_columns + k;

        mean_put(&cell, p, row, k);
        mean_add(&all, p->base[i], p->cand[i], p->diff[i]);
    }
    mean_put(&all, p, row, p->n_cells);
    return all.n > 0;
}

/* Appends the task's differences with each run as the candidate: the real one first, then the base runs that have it.
 * The mean over cells is over those that are pairs. */
static void fill_exchanged(struct pairs *p, const struct match *m, size_t task, size_t row, size_t *n_rows)
{
    size_t run, k;

    p->n_options[row] = 0;
    for (run = 0; run <= m->n_base && p->n_options[row] < MAXT_OPTIONS; run++) {
        double *out = p->exchanged + *n_rows * p->n_columns;
        struct mean all = {0};

        for (k = 0; k < p->n_cells; k++) {
            struct mean cell = cell_mean(m, task, k, run);

            out[k] = cell.n && isfinite(p->diff[row * p->n_columns + k]) ? cell.diff / (double)cell.n : NAN;
            mean_add(&all, 0, 0, out[k]);
        }
        out[p->n_cells] = all.n ? all.diff / (double)all.n : NAN;
        if (!all.n)
            continue;
        p->n_options[row]++;
        ++*n_rows;
    }
}

/* The cells that the candidate's cube has, and where each stands. */
static enum status lay_cells(struct pairs *p, struct match *m, const struct run *cand, struct error *err)
{
    const struct cube *c = m->cand.cube;
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
            p->cell[k].head = cand->axes.number[AXIS_HEAD][place[AXIS_HEAD]];
        if (p->has_layers)
            p->cell[k].layer = cand->axes.number[AXIS_LAYER][place[AXIS_LAYER]];
        else if (c->axes & AXIS_BIT(AXIS_TURN))
            p->cell[k].turn = cand->axes.number[AXIS_TURN][place[AXIS_TURN]];
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

static enum status sort_tasks(struct match *m, const struct run *cand, struct error *err)
{
    struct named *named = NULL;
    size_t i, n = cand->axes.n[AXIS_TASK];

    TRY(mem_new(n, sizeof *m->order, &m->order, err));
    TRY(mem_new(n, sizeof *named, &named, err));
    for (i = 0; i < n; i++)
        named[i] = (struct named){cand->axes.task[i], i};
    if (n)
        qsort(named, n, sizeof *named, by_id);
    for (i = 0; i < n; i++)
        m->order[i] = named[i].at;
    free(named);
    return OK;
}

static enum status match_init(struct match *m, const struct run *base, size_t n_base, const struct run *cand,
                              const char *metric, struct error *err)
{
    size_t i;

    TRY(mem_new(n_base, sizeof *m->base, &m->base, err));
    m->n_base = n_base;
    for (i = 0; i < n_base; i++)
        TRY(view_init(&m->base[i], &base[i], &cand->axes, metric, err));
    TRY(view_init(&m->cand, cand, &cand->axes, metric, err));
    return sort_tasks(m, cand, err);
}

static enum status make_room(struct pairs *p, size_t n_tasks, size_t n_base, struct error *err)
{
    size_t len, rows, all;

    if (!size_mul(n_tasks, p->n_columns, &len) || !size_mul(n_tasks, n_base < 2 ? 0 : n_base + 1, &rows) ||
        !size_mul(rows, p->n_columns, &all))
        return error_set(err, ERR_LIMIT, "%zu tasks by %zu cells are too many to compare", n_tasks, p->n_cells);
    TRY(mem_new(n_tasks, sizeof *p->task, &p->task, err));
    TRY(mem_new(len, sizeof *p->base, &p->base, err));
    TRY(mem_new(len, sizeof *p->cand, &p->cand, err));
    TRY(mem_new(len, sizeof *p->diff, &p->diff, err));
    if (n_base < 2)
        return OK;
    TRY(mem_new(n_tasks, sizeof *p->n_options, &p->n_options, err));
    return mem_new(all, sizeof *p->exchanged, &p->exchanged, err);
}

enum status pairs_init(struct pairs *p, const struct run *base, size_t n_base, const struct run *cand,
                       const char *metric, struct error *err)
{
    AUTO(match) m = {0};
    AUTO(pairs) out = {0};
    size_t i, n = cand->axes.n[AXIS_TASK];

    TRY(match_init(&m, base, n_base, cand, metric, err));
    TRY(lay_cells(&out, &m, cand, err));
    TRY(make_room(&out, n, n_base, err));
    /* Without tasks there is nothing to pair: the same value again and again would look like many. */
    for (i = 0; i < n && (m.cand.cube->axes & AXIS_BIT(AXIS_TASK)); i++) {
        if (!fill_row(&out, &m, m.order[i], out.n_tasks))
            continue;
        if (out.exchanged)
            fill_exchanged(&out, &m, m.order[i], out.n_tasks, &out.n_rows);
        out.task[out.n_tasks++] = cand->axes.task[m.order[i]];
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
