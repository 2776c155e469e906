#include "core/gate/divergence.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"
#include "core/gate/view.h"
#include "core/gate/words.h"
#include "core/metrics/registry.h"
#include "core/stats/maxt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "attn.distance_js";

static double half(double p, double m)
{
    return p > 0 ? p * log2(p / m) : 0;
}

double divergence_js(const double *p, const double *q, size_t n)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        double m = (p[i] + q[i]) / 2;

        sum += half(p[i], m) + half(q[i], m);
    }
    return fmin(1, fmax(0, sum / 2));
}

struct cube divergence_cube(void)
{
    const struct metric *m = metric_find(name);

    return (struct cube){.metric = (char *)m->name,
                         .unit = (char *)m->unit,
                         .help = (char *)m->help,
                         .better = m->better,
                         .noise = m->noise,
                         .version = m->version,
                         .axes = m->axes};
}

bool divergence_is(const char *metric)
{
    return strcmp(metric, name) == 0;
}

bool divergence_measured(const struct run *r)
{
    return fingerprints_len(&r->fingerprints) && fingerprints_have_profiles(&r->fingerprints);
}

/* The runs, the candidate's first, seen by the labels of one of them. */
struct match {
    const struct run **run; /* owned: [n] */
    struct view *view;      /* owned: [n] */
    size_t n, n_cand;
    const struct run *like;
    const double **profile; /* owned: [n] of one place */
    double *apart;          /* owned: n x n divergences of one place; NaN: not known */
    size_t *present;        /* owned: [n] runs that have the task */
    size_t n_present, n_present_cand;
};

static void match_done(struct match *m)
{
    size_t i;

    for (i = 0; m->view && i < m->n; i++)
        view_done(&m->view[i]);
    free(m->run);
    free(m->view);
    free(m->profile);
    free(m->apart);
    free(m->present);
    memset(m, 0, sizeof *m);
}

static enum status match_init(struct match *m, const struct comparison *c, struct error *err)
{
    size_t i;

    m->n = c->n_cand + c->n_base;
    m->n_cand = c->n_cand;
    TRY(mem_new(m->n, sizeof *m->run, &m->run, err));
    TRY(mem_new(m->n, sizeof *m->view, &m->view, err));
    TRY(mem_new(m->n, sizeof *m->profile, &m->profile, err));
    TRY(mem_new(m->n * m->n, sizeof *m->apart, &m->apart, err));
    TRY(mem_new(m->n, sizeof *m->present, &m->present, err));
    for (i = 0; i < m->n; i++)
        m->run[i] = i < c->n_cand ? &c->cand[i] : &c->base[i - c->n_cand];
    m->like = m->run[0];
    for (i = c->n_cand; i-- > 0;)
        if (divergence_measured(m->run[i]))
            m->like = m->run[i];
    for (i = 0; i < m->n; i++)
        TRY(view_init(&m->view[i], m->run[i], &m->like->axes, "", err));
    return OK;
}

/* A run's profile at a place of `like`, or NULL. */
static const double *profile_at(const struct match *m, size_t run, const size_t at[N_AXES])
{
    const struct fingerprints *f = &m->run[run]->fingerprints;
    size_t there[N_AXES] = {0}, a;

    if (!fingerprints_len(f))
        return NULL;
    for (a = 0; a < N_AXES; a++) {
        if (a == AXIS_REPEAT)
            continue;
        there[a] = m->view[run].index[a][at[a]];
        if (there[a] == SIZE_MAX)
            return NULL;
    }
    return fingerprints_profile(f, fingerprints_index(f, there));
}

/* All divergences at one place. */
static void measure(const struct match *m, const size_t at[N_AXES])
{
    size_t i, k;

    for (i = 0; i < m->n; i++)
        m->profile[i] = profile_at(m, i, at);
    for (i = 0; i < m->n; i++)
        for (k = 0; k < i; k++)
            m->apart[i * m->n + k] = m->apart[k * m->n + i] =
                m->profile[i] && m->profile[k] ? divergence_js(m->profile[i], m->profile[k], PROFILE_BINS) : NAN;
}

struct mean {
    double sum;
    size_t n;
};

static void add(struct mean *m, double value)
{
    if (isnan(value))
        return;
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : NAN;
}

/* Between the sides and within them, when the runs that have the task moved on by `shift` places. */
struct sides {
    struct mean across, within;
};

static struct sides compare(const struct match *m, size_t shift)
{
    struct sides s = {{0, 0}, {0, 0}};
    size_t i, k;

    for (i = 0; i < m->n_present; i++)
        for (k = 0; k < i; k++) {
            size_t a = m->present[(i + shift) % m->n_present], b = m->present[(k + shift) % m->n_present];
            bool same_side = (i < m->n_present_cand) == (k < m->n_present_cand);

            add(same_side ? &s.within : &s.across, m->apart[a * m->n + b]);
        }
    return s;
}

static void find_present(struct match *m, size_t task)
{
    size_t i;

    m->n_present = m->n_present_cand = 0;
    for (i = 0; i < m->n; i++) {
        if (m->view[i].index[AXIS_TASK][task] == SIZE_MAX || !divergence_measured(m->run[i]))
            continue;
        m->present[m->n_present++] = i;
        m->n_present_cand += i < m->n_cand;
    }
}

/* One cell of a task over its turns. `out`: the excess under each shift. */
struct cell {
    struct mean base, cand;
};

static struct cell fill_cell(const struct match *m, size_t at[N_AXES], size_t n_shifts, struct mean *out)
{
    struct cell cell = {{0, 0}, {0, 0}};
    size_t shift;

    memset(out, 0, n_shifts * sizeof *out);
    for (at[AXIS_TURN] = 0; at[AXIS_TURN] < m->like->fingerprints.dim[AXIS_TURN]; at[AXIS_TURN]++) {
        measure(m, at);
        for (shift = 0; shift < n_shifts; shift++) {
            struct sides s = compare(m, shift);
            double across = mean_of(&s.across), within = mean_of(&s.within);

            add(&out[shift], m->n < 3 ? across : across - within);
            if (shift)
                continue;
            add(&cell.cand, across);
            add(&cell.base, within);
        }
    }
    return cell;
}

static void put_means(struct pairs *p, size_t row, size_t column, const struct cell *cell, double diff)
{
    size_t i = row * p->n_columns + column;

    p->base[i] = mean_of(&cell->base);
    p->cand[i] = mean_of(&cell->cand);
    p->diff[i] = diff;
}

/* The mean over a task's cells under each exchange, behind them. */
static void put_exchanged_means(const struct pairs *p, double *out, size_t n_shifts)
{
    size_t shift, k;

    for (shift = 0; shift < n_shifts; shift++) {
        struct mean mean = {0, 0};

        for (k = 0; k < p->n_cells; k++)
            add(&mean, out[shift * p->n_columns + k]);
        out[shift * p->n_columns + p->n_cells] = mean_of(&mean);
    }
}

/* Fills a task's row, and its rows under each exchange; false when there is no pair. */
static bool fill_task(struct pairs *p, const struct match *m, size_t task, struct mean *shifted)
{
    size_t n_shifts = m->n < 3 ? 1 : m->n_present < MAXT_OPTIONS ? m->n_present : MAXT_OPTIONS;
    size_t n_heads = m->like->fingerprints.dim[AXIS_HEAD], k, shift;
    double *out = p->exchanged ? p->exchanged + p->n_rows * p->n_columns : NULL;
    struct cell all = {{0, 0}, {0, 0}};
    struct mean diff = {0, 0};

    if (!m->n_present_cand || m->n_present_cand == m->n_present)
        return false;
    for (k = 0; k < p->n_cells; k++) {
        size_t at[N_AXES] = {[AXIS_TASK] = task, [AXIS_LAYER] = k / n_heads, [AXIS_HEAD] = k % n_heads};
        struct cell cell = fill_cell(m, at, n_shifts, shifted);

        put_means(p, p->n_tasks, k, &cell, mean_of(&shifted[0]));
        add(&all.base, mean_of(&cell.base));
        add(&all.cand, mean_of(&cell.cand));
        add(&diff, mean_of(&shifted[0]));
        for (shift = 0; out && shift < n_shifts; shift++)
            out[shift * p->n_columns + k] = isnan(mean_of(&shifted[0])) ? NAN : mean_of(&shifted[shift]);
    }
    if (!diff.n)
        return false;
    put_means(p, p->n_tasks, p->n_cells, &all, mean_of(&diff));
    if (out) {
        put_exchanged_means(p, out, n_shifts);
        p->n_options[p->n_tasks] = n_shifts;
        p->n_rows += n_shifts;
    }
    return true;
}

static enum status make_room(struct pairs *p, const struct match *m, struct error *err)
{
    const struct axes *axes = &m->like->axes;
    size_t n_tasks = axes->n[AXIS_TASK], n_heads = axes->n[AXIS_HEAD], len, rows, all, k;

    p->has_layers = true;
    if (!size_mul(axes->n[AXIS_LAYER], n_heads, &p->n_cells) || !size_mul(p->n_cells + 1, n_tasks, &len) ||
        !size_mul(n_tasks, m->n, &rows) || !size_mul(rows, p->n_cells + 1, &all))
        return error_set(err, ERR_LIMIT, "metric '%s' has too many cells", name);
    p->n_columns = p->n_cells + 1;
    TRY(mem_new(p->n_columns, sizeof *p->cell, &p->cell, err));
    for (k = 0; k < p->n_columns; k++)
        p->cell[k] = (struct where){.turn = -1, .layer = -1, .head = -1};
    for (k = 0; k < p->n_cells; k++) {
        p->cell[k].layer = axes->number[AXIS_LAYER][k / n_heads];
        p->cell[k].head = axes->number[AXIS_HEAD][k % n_heads];
    }
    TRY(mem_new(n_tasks, sizeof *p->task, &p->task, err));
    TRY(mem_new(len, sizeof *p->base, &p->base, err));
    TRY(mem_new(len, sizeof *p->cand, &p->cand, err));
    TRY(mem_new(len, sizeof *p->diff, &p->diff, err));
    if (m->n < 3)
        return OK;
    TRY(mem_new(n_tasks, sizeof *p->n_options, &p->n_options, err));
    return mem_new(all, sizeof *p->exchanged, &p->exchanged, err);
}

struct named {
    const char *id;
    size_t at;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

/* Tasks ascend by id, as in every family. */
static enum status fill_tasks(struct pairs *p, struct match *m, struct error *err)
{
    const struct axes *axes = &m->like->axes;
    struct named *named = NULL;
    struct mean *shifted = NULL;
    size_t n = axes->n[AXIS_TASK], i;
    enum status st;

    TRY(mem_new(n, sizeof *named, &named, err));
    st = mem_new(m->n, sizeof *shifted, &shifted, err);
    for (i = 0; i < n; i++)
        named[i] = (struct named){axes->task[i], i};
    if (n)
        qsort(named, n, sizeof *named, by_id);
    for (i = 0; st == OK && i < n; i++) {
        find_present(m, named[i].at);
        if (fill_task(p, m, named[i].at, shifted))
            p->task[p->n_tasks++] = named[i].id;
    }
    free(named);
    free(shifted);
    return st;
}

enum status divergence_pairs(struct pairs *p, const struct comparison *c, struct error *err)
{
    AUTO(match) m = {0};
    AUTO(pairs) out = {0};

    TRY(match_init(&m, c, err));
    TRY(make_room(&out, &m, err));
    TRY(fill_tasks(&out, &m, err));
    *p = out;
    memset(&out, 0, sizeof out);
    return OK;
}

static void put_described(struct buf *b, const struct family *f)
{
    char text[160];

    buf_puts(b, "the profiles differ by ");
    words_quantity(b, f->effect.cand, f->unit);
    buf_puts(b, " on average");
    if (isfinite(f->worst.effect.cand)) {
        where_text(&f->worst.where, text, sizeof text);
        buf_puts(b, ", most by ");
        words_quantity(b, f->worst.effect.cand, f->unit);
        buf_printf(b, " at %s", text);
    }
    if (isfinite(f->margin)) {
        buf_printf(b, "; %zu of %zu heads by more than the margin, ", f->n_beyond, f->n_compared);
        words_quantity(b, f->margin, f->unit);
    }
    buf_puts(b, "; shown and not judged: of one run against one nothing says how far reruns differ");
}

enum status divergence_describe(struct tested *t, const struct comparison *c, struct arena *texts, struct error *err)
{
    struct family *f = &t->family;
    const struct pairs *p = &t->pairs;
    AUTO(buf) b = {0};
    char *text = NULL;
    size_t k;

    f->margin = f->worst.margin = spread_margin(t, c);
    f->effect.n = p->n_tasks;
    f->effect.cand = pairs_mean(p, p->cand, p->n_cells);
    for (k = 0; k < p->n_cells; k++) {
        double js = pairs_mean(p, p->cand, k);

        f->n_beyond += js > f->margin;
        if (isnan(js) || js <= f->worst.effect.cand)
            continue;
        f->worst.where = p->cell[k];
        f->worst.effect.n = p->n_tasks;
        f->worst.effect.cand = js;
    }
    if (pairs_identical(p))
        buf_puts(&b, "the same profiles in every task");
    else
        put_described(&b, f);
    TRY(buf_check(&b, err));
    TRY(arena_strdup(texts, buf_text(&b), &text, err));
    f->words = f->worst.words = text;
    return OK;
}

enum status divergence_keep(struct judgement *j, const struct tested *t, struct error *err)
{
    const struct pairs *p = &t->pairs;
    struct divergence *d = &j->divergence;
    size_t k;

    if (!divergence_is(t->family.metric) || !p->n_tasks)
        return OK;
    TRY(arena_new(&j->arena, p->n_cells, sizeof *d->cells, &d->cells, err));
    for (k = 0; k < p->n_cells; k++)
        d->cells[k] = (struct divergence_cell){p->cell[k], pairs_mean(p, p->cand, k), pairs_mean(p, p->base, k)};
    d->n_cells = p->n_cells;
    d->margin = t->family.margin;
    return OK;
}
