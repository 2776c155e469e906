#include "core/gate/capacity.h"

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/family.h"
#include "core/gate/spread.h"
#include "core/gate/words.h"
#include "core/stats/mde.h"
#include "core/stats/relabel.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What holds for all metrics. */
struct look {
    const struct run *runs; /* [n], borrowed */
    size_t n;
    const struct policy *policy;
    double share; /* primary metrics, which share alpha */
};

void capacity_done(struct capacity *c)
{
    arena_done(&c->arena);
    memset(c, 0, sizeof *c);
}

static bool is_primary(const struct look *l, const struct cube *c)
{
    return policy_rule(l->policy, c->metric)->role == ROLE_PRIMARY && cube_count(c) > 0;
}

/* Tasks with any value, and the mean of their means. */
static void count_tasks(const struct cube *c, size_t *ret_n, double *ret_mean)
{
    size_t i, per_task = c->axes & AXIS_BIT(AXIS_TASK) ? cube_len(c) / c->dim[AXIS_TASK] : 0, n = 0;
    double sum = 0;

    for (i = 0; per_task && i < c->dim[AXIS_TASK]; i++) {
        struct summary s;

        summary_of(&s, c->values + i * per_task, per_task);
        sum += s.n ? s.mean : 0;
        n += s.n > 0;
    }
    *ret_n = n;
    *ret_mean = n ? sum / (double)n : NAN;
}

/* Deviation of a task's difference between one run and the others, of the mean over cells: each run in turn as the
 * candidate. NaN for one run. */
static enum status task_sd(const struct look *l, const char *metric, double *ret, struct error *err)
{
    double squares = 0, *column = NULL;
    enum status st = OK;
    size_t i, k, n = 0;

    for (i = 0; l->n > 1 && i < l->n && st == OK; i++) {
        AUTO(pairs) p = {0};
        struct summary s;

        /* The runs before it, or behind: whichever are more. */
        if (i >= l->n - i)
            st = pairs_init(&p, l->runs, i, &l->runs[i], 1, metric, err);
        else
            st = pairs_init(&p, &l->runs[i + 1], l->n - i - 1, &l->runs[i], 1, metric, err);
        TRY(st);
        TRY(mem_new(p.n_tasks, sizeof *column, &column, err));
        for (k = 0; k < p.n_tasks; k++)
            column[k] = p.diff[k * p.n_columns + p.n_cells];
        summary_of(&s, column, p.n_tasks);
        free(column);
        column = NULL; /* of the next run */
        if (isnan(s.sd))
            continue;
        squares += s.sd * s.sd;
        n++;
    }
    *ret = n ? sqrt(squares / (double)n) : NAN;
    return OK;
}

static double margin_of(const struct look *l, const struct cube *c, double mean)
{
    const struct comparison cmp = {.base = l->runs, .n_base = l->n};
    struct tested t = {.rule = policy_rule(l->policy, c->metric), .family = {.metric = c->metric}};

    t.family.effect.base = mean;
    return spread_margin(&t, &cmp);
}

/* Against one run tasks change their sign, against several their runs change places. */
static double smallest_p(size_t n_runs, size_t n_tasks)
{
    double all = pow((double)n_runs, (double)n_tasks);

    if (n_runs == 2)
        return signflip_p_min(n_tasks, SIGNFLIP_RESAMPLES);
    return 1 / (all <= SIGNFLIP_RESAMPLES ? all : SIGNFLIP_RESAMPLES + 1.0);
}

static enum status look_at_tasks(const struct look *l, const struct cube *c, struct capacity_metric *m,
                                 struct error *err)
{
    double mean, sd, alpha = l->policy->alpha / l->share;
    size_t attainable, enough = 0;

    count_tasks(c, &m->n, &mean);
    m->margin = margin_of(l, c, mean);
    TRY(task_sd(l, c->metric, &sd, err));
    m->p_min = fmin(1, l->share * smallest_p(l->n + 1, m->n));
    attainable = relabel_pairs_for(alpha, l->n + 1, SIGNFLIP_RESAMPLES);
    if (m->p_min <= l->policy->alpha)
        m->mde = mde_paired(sd, m->n, alpha, FAMILY_POWER);
    m->can_gate = m->p_min <= l->policy->alpha && !(m->mde > m->margin);
    if (m->can_gate || isnan(m->margin))
        return OK;
    if (sd > 0)
        enough = mde_pairs_for(sd, m->margin, alpha, FAMILY_POWER);
    if (attainable && (enough || !(sd > 0)))
        m->n_needed = enough > attainable ? enough : attainable;
    return OK;
}

/* The runs' own numbers against as many again. */
static enum status look_at_runs(const struct look *l, const struct cube *c, struct capacity_metric *m,
                                struct error *err)
{
    const struct rule_for *rule = policy_rule(l->policy, c->metric);
    double *stats = NULL, mean, alpha = l->policy->alpha / l->share;
    struct summary s;
    size_t i, ignored;

    m->n = l->n;
    m->p_min = 0;
    TRY(mem_new(l->n, sizeof *stats, &stats, err));
    for (i = 0; i < l->n; i++) {
        enum status st = spread_run_stat(&l->runs[i], c->metric, rule->stat, &stats[i], err);

        if (st != OK) {
            free(stats);
            return st;
        }
    }
    summary_of(&s, stats, l->n);
    free(stats);
    count_tasks(c, &ignored, &mean);
    m->margin = rule->margin_kind == MARGIN_RUN_SD ? rule->margin * s.sd : margin_of(l, c, s.mean);
    if (l->n > 1 && s.sd > 0)
        m->mde = run_t_detectable(s.sd, l->n, l->n, alpha, FAMILY_POWER);
    m->can_gate = l->n > 1 && !(m->mde > m->margin);
    if (m->can_gate)
        return OK;
    m->n_needed = isnan(m->mde) ? 2 : run_t_runs_for(s.sd, m->margin, alpha, FAMILY_POWER);
    return OK;
}

/* "gates: 24 tasks detect 0.01 bit or more, the margin is 0.05 bit" */
static void put_detectable(struct buf *b, const struct capacity_metric *m)
{
    const char *sample = m->n == 1 ? "task detects" : "tasks detect";

    if (m->noise == NOISE_RUN)
        sample = "runs on each side detect";
    buf_printf(b, "%s: %zu %s ", m->can_gate ? "gates" : "cannot gate", m->n, sample);
    words_quantity(b, m->mde, m->unit);
    buf_puts(b, " or more, the margin is ");
    words_quantity(b, m->margin, m->unit);
}

static void put_what(struct buf *b, const struct capacity_metric *m)
{
    bool over_runs = m->noise == NOISE_RUN;

    if (isnan(m->margin)) {
        buf_puts(b, "has no margin, so that nothing of it fails");
    } else if (over_runs && m->n < 2) {
        buf_puts(b, "cannot gate: it differs from run to run, and one accepted run shows no noise");
    } else if (!m->can_gate && isnan(m->mde)) {
        buf_printf(b, "cannot gate: with %zu task%s adjusted p cannot be below %.2g", m->n, m->n == 1 ? "" : "s",
                   m->p_min);
    } else if (isnan(m->mde)) {
        buf_puts(b, over_runs ? "the accepted runs are the same to the last bit and show no noise"
                              : "one accepted run shows no noise: what it detects is known with two");
    } else {
        put_detectable(b, m);
    }
    if (m->n_needed)
        buf_printf(b, "; about %zu %s would do", m->n_needed, over_runs ? "runs on each side" : "tasks");
}

static enum status add(struct capacity *out, const struct look *l, const struct cube *c, struct error *err)
{
    struct capacity_metric m = {.noise = c->noise, .mde = NAN, .margin = NAN, .p_min = NAN};
    char *metric = NULL, *unit = NULL, *words = NULL;
    AUTO(buf) b = {0};

    TRY(arena_strdup(&out->arena, c->metric, &metric, err));
    TRY(arena_strdup(&out->arena, c->unit ? c->unit : "", &unit, err));
    m.metric = metric;
    m.unit = unit;
    if (c->noise == NOISE_RUN)
        TRY(look_at_runs(l, c, &m, err));
    else
        TRY(look_at_tasks(l, c, &m, err));
    put_what(&b, &m);
    TRY(buf_check(&b, err));
    TRY(arena_strdup(&out->arena, buf_text(&b), &words, err));
    m.words = words;
    out->metrics[out->n_metrics++] = m;
    return OK;
}

enum status capacity_find(struct capacity *ret, const struct run *runs, size_t n_runs, const struct policy *policy,
                          struct error *err)
{
    const struct run *latest = &runs[n_runs - 1];
    struct look l = {runs, n_runs, policy, 0};
    AUTO(capacity) out = {0};
    size_t i;

    for (i = 0; i < latest->n_cubes; i++)
        l.share += is_primary(&l, &latest->cubes[i]);
    TRY(arena_new(&out.arena, (size_t)l.share, sizeof *out.metrics, &out.metrics, err));
    for (i = 0; i < latest->n_cubes; i++)
        if (is_primary(&l, &latest->cubes[i]))
            TRY(add(&out, &l, &latest->cubes[i], err));
    *ret = out;
    memset(&out, 0, sizeof out);
    return OK;
}
