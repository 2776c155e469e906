#include "core/gate/spread.h"

#include "core/base/mem.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double spread_stat(const char *stat, double *values, size_t n)
{
    struct summary s;

    if (!stat || strcmp(stat, "mean") == 0) {
        summary_of(&s, values, n);
        return s.mean;
    }
    summary_sort(values, n);
    return summary_quantile(values, n, strcmp(stat, "p50") == 0 ? 0.5 : (strcmp(stat, "p95") == 0 ? 0.95 : 0.99));
}

enum status spread_run_stat(const struct run *r, const char *metric, const char *stat, double *ret, struct error *err)
{
    const struct cube *cube = run_cube(r, metric);
    double *values = NULL;
    size_t k, n = 0;

    *ret = NAN;
    if (!cube)
        return OK;
    TRY(mem_new(cube_len(cube), sizeof *values, &values, err));
    for (k = 0; k < cube_len(cube); k++)
        if (isfinite(cube->values[k]))
            values[n++] = cube->values[k];
    *ret = spread_stat(stat, values, n);
    free(values);
    return OK;
}

/* Where run r keeps task i of the pairs; SIZE_MAX when it has not the task. */
static size_t task_at(const struct tested *t, const struct run *r, size_t i)
{
    const struct cube *c = run_cube(r, t->family.metric);
    size_t task = c ? axes_find_task(&r->axes, t->pairs.task[i]) : SIZE_MAX;

    return c && (c->axes & AXIS_BIT(AXIS_TASK)) && task < c->dim[AXIS_TASK] ? task : SIZE_MAX;
}

/* Appends the run's values of task i to values[*n]; returns how many. */
static size_t take_task(const struct tested *t, const struct run *r, size_t i, double *values, size_t *n)
{
    const struct cube *c = run_cube(r, t->family.metric);
    size_t task = task_at(t, r, i), k, per_task, before = *n;

    if (task == SIZE_MAX)
        return 0;
    per_task = cube_len(c) / c->dim[AXIS_TASK];
    for (k = 0; k < per_task; k++)
        if (isfinite(c->values[task * per_task + k]))
            values[(*n)++] = c->values[task * per_task + k];
    return *n - before;
}

/* The base runs, then the candidate's. */
static const struct run *run_at(const struct comparison *c, size_t i)
{
    return i < c->n_base ? &c->base[i] : &c->cand[i - c->n_base];
}

static bool has_values(const struct run *r, const char *metric)
{
    const struct cube *c = run_cube(r, metric);

    return c && cube_count(c) > 0;
}

/* The stat of each run, the candidate's last, over the tasks that all of them have: a run of other tasks is no measure
 * of noise. NaN for a run without the metric, and for all when no task is common. stats: [n_base + n_cand] */
static void run_stats(const struct tested *t, const struct comparison *c, double *values, double *stats, bool *common)
{
    size_t i, k;

    for (k = 0; k < t->pairs.n_tasks; k++) {
        common[k] = true;
        for (i = 0; i < c->n_base + c->n_cand; i++) {
            size_t n = 0;

            if (has_values(run_at(c, i), t->family.metric) && !take_task(t, run_at(c, i), k, values, &n))
                common[k] = false;
        }
    }
    for (i = 0; i < c->n_base + c->n_cand; i++) {
        size_t n = 0;

        for (k = 0; k < t->pairs.n_tasks; k++)
            if (common[k])
                take_task(t, run_at(c, i), k, values, &n);
        stats[i] = spread_stat(t->rule->stat, values, n);
    }
}

static enum status find_stats(const struct tested *t, const struct comparison *c, double *stats, struct error *err)
{
    double *values = NULL;
    bool *common = NULL;
    size_t i, most = 0;
    enum status st;

    for (i = 0; i < c->n_base + c->n_cand; i++) {
        const struct cube *cube = run_cube(run_at(c, i), t->family.metric);

        if (cube && cube_len(cube) > most)
            most = cube_len(cube);
    }
    TRY(mem_new(most, sizeof *values, &values, err));
    st = mem_new(t->pairs.n_tasks, sizeof *common, &common, err);
    if (st == OK)
        run_stats(t, c, values, stats, common);
    free(values);
    free(common);
    return st;
}

static struct effect as_effect(const struct run_t *r, size_t n)
{
    struct effect e = effect_unknown();

    e.n = n;
    e.base = r->base;
    e.cand = r->cand;
    e.delta = r->delta;
    e.ci_lo = r->lo;
    e.ci_hi = r->hi;
    e.p = r->p;
    e.mde = r->mde;
    return e;
}

enum status spread_runs(struct tested *t, const struct comparison *c, struct error *err)
{
    struct family *f = &t->family;
    double *stats = NULL;
    enum status st;
    bool is_tested;

    TRY(mem_new(c->n_base + c->n_cand, sizeof *stats, &stats, err));
    st = find_stats(t, c, stats, err);
    is_tested = st == OK &&
                run_t_test(&t->runs, stats, c->n_base, &stats[c->n_base], c->n_cand, c->policy->alpha, FAMILY_POWER);
    free(stats);
    TRY(st);
    t->state = is_tested ? FAMILY_RUN_TESTED : FAMILY_RUN_NOISE;
    f->effect = as_effect(&t->runs, is_tested ? t->runs.n_base + t->runs.n_cand : t->pairs.n_tasks);
    f->margin = t->rule->margin_kind == MARGIN_RUN_SD ? t->rule->margin * t->runs.sd : spread_margin(t, c);
    if (is_tested)
        t->p = t->runs.p;
    /* One run on a side brings a noise that nothing on its own side measures: it informs. */
    if (!is_tested || t->runs.n_base < 2 || t->runs.n_cand < 2)
        f->role = f->worst.role = ROLE_ADVISORY;
    f->worst.effect = f->effect;
    f->worst.margin = f->margin;
    return OK;
}

/* The sum and number of what a run has of a task, by index; of all tasks where the metric has none. */
static size_t add_values(const struct cube *c, size_t task, struct summary_sum *sum)
{
    bool by_task = (c->axes & AXIS_BIT(AXIS_TASK)) != 0;
    size_t len = by_task ? cube_len(c) / c->dim[AXIS_TASK] : cube_len(c), k, n = 0;

    for (k = 0; k < len; k++) {
        double value = c->values[(by_task ? task * len : 0) + k];

        if (!isfinite(value))
            continue;
        summary_add(sum, value);
        n++;
    }
    return n;
}

/* Whether all base runs that have the metric have the task at index `task` of one of them. */
static bool in_all(const struct comparison *c, const char *metric, const struct run *of, size_t task)
{
    size_t i;

    for (i = 0; i < c->n_base; i++) {
        size_t at = axes_place(&c->base[i].axes, &of->axes, AXIS_TASK, task);
        struct summary_sum ignored = {0};

        if (!has_values(&c->base[i], metric))
            continue;
        if (at == SIZE_MAX || !add_values(run_cube(&c->base[i], metric), at, &ignored))
            return false;
    }
    return true;
}

static double mean_of_common(const struct comparison *c, const char *metric, const struct run *r)
{
    const struct cube *cube = run_cube(r, metric);
    struct summary_sum sum = {0};
    size_t i, n = 0;

    for (i = 0; i < cube->dim[AXIS_TASK]; i++)
        if (!(cube->axes & AXIS_BIT(AXIS_TASK)) || in_all(c, metric, r, i))
            n += add_values(cube, i, &sum);
    return n ? summary_total(&sum) / (double)n : NAN;
}

/* Deviation between the base runs of their means, over the tasks that all of them have: other tasks are no noise. NaN
 * for one run. */
static double run_sd(const struct tested *t, const struct comparison *c)
{
    struct summary_sum sum = {0}, squares = {0};
    size_t i, n = 0;

    for (i = 0; i < c->n_base; i++) {
        double mean;

        if (!has_values(&c->base[i], t->family.metric))
            continue;
        mean = mean_of_common(c, t->family.metric, &c->base[i]);
        summary_add(&sum, mean);
        summary_add(&squares, mean * mean);
        n++;
    }
    if (n < 2)
        return NAN;
    return sqrt(fmax(0, summary_total(&squares) - summary_total(&sum) * summary_total(&sum) / (double)n) /
                (double)(n - 1));
}

double spread_margin(const struct tested *t, const struct comparison *c)
{
    switch (t->rule->margin_kind) {
    case MARGIN_ABS:
        return t->rule->margin;
    case MARGIN_REL:
        return t->rule->margin * fabs(t->family.effect.base);
    case MARGIN_RUN_SD:
        return t->rule->margin * run_sd(t, c);
    case MARGIN_NONE:
        break;
    }
    return NAN;
}
