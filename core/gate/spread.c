#include "core/gate/spread.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/words.h"
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

/* The stat of one run over the tasks that the pairs have. */
static enum status run_stat(const struct tested *t, const struct run *r, double *ret, struct error *err)
{
    const struct cube *c = run_cube(r, t->family.metric);
    size_t i, k, n = 0, task, per_task;
    double *values = NULL;

    *ret = NAN;
    if (!c || !c->dim[AXIS_TASK])
        return OK;
    TRY(mem_new(cube_len(c), sizeof *values, &values, err));
    per_task = cube_len(c) / c->dim[AXIS_TASK];
    for (i = 0; i < t->pairs.n_tasks; i++) {
        task = axes_find_task(&r->axes, t->pairs.task[i]);
        if (task == SIZE_MAX || task >= c->dim[AXIS_TASK])
            continue;
        for (k = 0; k < per_task; k++)
            if (isfinite(c->values[task * per_task + k]))
                values[n++] = c->values[task * per_task + k];
    }
    *ret = spread_stat(t->rule->stat, values, n);
    free(values);
    return OK;
}

enum status spread_runs(struct tested *t, const struct comparison *c, struct error *err)
{
    struct effect *e = &t->family.effect;
    struct summary runs;
    double *stats = NULL;
    enum status st = OK;
    size_t i;

    TRY(mem_new(c->n_base, sizeof *stats, &stats, err));
    for (i = 0; i < c->n_base && st == OK; i++)
        st = run_stat(t, &c->base[i], &stats[i], err);
    summary_of(&runs, stats, c->n_base);
    free(stats);
    TRY(st);
    TRY(run_stat(t, c->cand, &e->cand, err));
    e->n = t->pairs.n_tasks;
    e->base = runs.mean;
    e->delta = e->cand - e->base;
    if (t->rule->margin_kind == MARGIN_RUN_SD)
        t->family.margin = t->rule->margin * runs.sd;
    else
        t->family.margin = spread_margin(t, c);
    t->family.worst.effect = *e;
    t->family.worst.margin = t->family.margin;
    return OK;
}

/* Deviation between the base runs of their means over tasks and cells; NaN for one run. */
static double run_sd(const struct tested *t, const struct comparison *c)
{
    struct summary_sum sum = {0}, squares = {0};
    size_t i, n = 0;

    for (i = 0; i < c->n_base; i++) {
        const struct cube *cube = run_cube(&c->base[i], t->family.metric);
        struct summary s;

        if (!cube)
            continue;
        summary_of(&s, cube->values, cube_len(cube));
        summary_add(&sum, s.mean);
        summary_add(&squares, s.mean * s.mean);
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

enum status spread_words(struct tested *t, const struct comparison *c, struct arena *texts, struct error *err)
{
    AUTO(buf) b = {0};
    struct family *f = &t->family;
    const char *stat = t->rule->stat ? t->rule->stat : "mean";
    char *text = NULL;

    buf_printf(&b, "the %s ", stat);
    words_move(&b, &f->effect, f->unit);
    if (fabs(f->effect.base) > 0)
        buf_printf(&b, ", %+.3g %%", 100 * f->effect.delta / fabs(f->effect.base));
    buf_printf(&b,
               "; %zu run%s against 1: one run cannot tell a change from a slow minute, so it is shown and not judged",
               c->n_base, c->n_base == 1 ? "" : "s");
    TRY(buf_check(&b, err));
    TRY(arena_strdup(texts, buf_text(&b), &text, err));
    f->words = text;
    f->worst.words = text;
    return OK;
}
