#include "core/gate/calibrate.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "core/gate/exchange_runs.h"
#include "core/gate/family.h"
#include "core/gate/halves.h"
#include "core/gate/spread.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double calibration_shift[CALIBRATION_SHIFTS] = {1, 2};

void calibration_done(struct calibration *c)
{
    arena_done(&c->arena);
    memset(c, 0, sizeof *c);
}

size_t calibration_alarms(const struct calibration_count *c)
{
    return c->of[VERDICT_REGRESSED] + c->of[VERDICT_CHANGED];
}

static enum status judge_once(struct calibration_count *count, const struct run *base, size_t n_base,
                              const struct run *cand, const struct policy *policy, uint64_t seed, struct error *err)
{
    AUTO(judgement) j = {0};

    TRY(decide(&j, base, n_base, cand, 1, policy, seed, err));
    count->n++;
    count->of[j.verdict]++;
    return OK;
}

static enum status judge_pairs(struct calibration *c, const struct run *runs, const struct policy *policy,
                               struct error *err)
{
    enum status st = OK;
    size_t i, k;

    for (i = 0; i < c->n_runs && st == OK; i++)
        for (k = 0; k < c->n_runs && st == OK; k++) {
            if (i != k)
                st = judge_once(&c->pairs, &runs[i], 1, &runs[k], policy, c->seed, err);
            if (st != OK)
                error_context(err, "run %zu against run %zu", k + 1, i + 1);
        }
    return st;
}

/* One metric of two runs: how far its cells lie apart. */
static enum status add_spread(struct calibration_metric *m, const struct run *a, const struct run *b, double *column,
                              struct summary_sum *mean_squares, size_t *n, struct error *err)
{
    AUTO(pairs) p = {0};
    struct summary s;
    size_t i, k;

    TRY(pairs_init(&p, a, 1, b, 1, m->metric, err));
    for (k = 0; k < p.n_columns; k++) {
        for (i = 0; i < p.n_tasks; i++)
            column[i] = p.diff[i * p.n_columns + k];
        summary_of(&s, column, p.n_tasks);
        if (k == p.n_cells && isfinite(s.sd)) {
            summary_add(mean_squares, s.sd * s.sd);
            ++*n;
        } else if (isfinite(s.sd) && !(s.sd <= m->cell_sd)) {
            m->cell_sd = s.sd;
            m->cell = p.cell[k];
        }
    }
    return OK;
}

/* Of a metric whose unit is the run: the deviation between the runs of what the policy looks at. */
static enum status find_run_spread(struct calibration_metric *m, const struct calibration *c, const struct run *runs,
                                   const char *stat, struct error *err)
{
    double stats[CALIBRATION_RUNS];
    struct summary s;
    size_t i;

    for (i = 0; i < c->n_runs; i++)
        TRY(spread_run_stat(&runs[i], m->metric, stat, &stats[i], err));
    summary_of(&s, stats, c->n_runs);
    m->mean_sd = s.sd;
    return OK;
}

/* Over all pairs of runs: the mean column pooled, the noisiest cell of all. */
static enum status find_spread(struct calibration_metric *m, const struct calibration *c, const struct run *runs,
                               struct error *err)
{
    struct summary_sum squares = {0};
    double *column = NULL;
    enum status st = OK;
    size_t i, k, n = 0;

    TRY(mem_new(c->n_tasks, sizeof *column, &column, err));
    for (i = 0; i < c->n_runs && st == OK; i++)
        for (k = i + 1; k < c->n_runs && st == OK; k++)
            if (run_cube(&runs[i], m->metric) && run_cube(&runs[k], m->metric))
                st = add_spread(m, &runs[i], &runs[k], column, &squares, &n, err);
    free(column);
    m->mean_sd = n ? sqrt(summary_total(&squares) / (double)n) : NAN;
    return st;
}

/* Moves the candidate's values to the worse side. */
static void shift_cube(struct run *r, const char *metric, enum better better, double by)
{
    struct cube *c = run_cube(r, metric);
    size_t i;

    for (i = 0; i < cube_len(c); i++)
        c->values[i] += better == BETTER_HIGHER ? -by : by;
}

/* Whether a shift is found; the other primary metrics are there and pay their share, as none of them moves. */
static enum status is_found(const struct comparison *c, const struct cube *metric, double share, bool *ret,
                            struct error *err)
{
    struct tested t = {0};
    AUTO(arena) texts = {0};
    enum status st = family_test(&t, c, metric, &texts, err);

    if (st == OK && t.state == FAMILY_TESTED) {
        t.share = t.family.role == ROLE_PRIMARY ? share : 1;
        t.p_adj = fmin(1, t.p * t.share);
        st = family_judge(&t, c, &texts, err);
    }
    *ret = t.family.verdict == VERDICT_REGRESSED || t.family.verdict == VERDICT_CHANGED;
    tested_done(&t);
    return st;
}

/* Sets of runs that could as well have been measured: the first stands for a candidate, the others for the base. */
struct drawn {
    void *of;
    void (*draw)(void *of, uint64_t seed, uint64_t draw);
    struct run *runs;
    size_t n;
};

static void draw_exchange(void *of, uint64_t seed, uint64_t draw)
{
    exchanged_draw(of, seed, draw);
}

static void draw_halves(void *of, uint64_t seed, uint64_t draw)
{
    halves_draw(of, seed, draw);
}

static enum status find_power(struct calibration *c, const struct drawn *d, const struct policy *policy, double share,
                              size_t n_trials, struct error *err)
{
    struct comparison cmp = {.base = &d->runs[1],
                             .n_base = d->n - 1,
                             .cand = &d->runs[0],
                             .n_cand = 1,
                             .policy = policy,
                             .seed = c->seed,
                             .prompts_equal = true};
    size_t trial, i, s;

    for (trial = 0; trial < n_trials; trial++)
        for (s = 0; s < CALIBRATION_SHIFTS; s++) {
            d->draw(d->of, c->seed + 1, trial);
            for (i = 0; i < c->n_metrics; i++) {
                struct calibration_metric *m = &c->metrics[i];
                const struct cube *cube = run_cube(&d->runs[0], m->metric);
                const struct rule_for *rule = policy_rule(policy, m->metric);
                bool found = false;

                if (!cube || m->noise == NOISE_RUN || !(m->margin > 0))
                    continue;
                shift_cube(&d->runs[0], m->metric, rule->has_better ? rule->better : cube->better,
                           calibration_shift[s] * m->margin);
                TRY(is_found(&cmp, cube, share, &found, err));
                m->n_found[s] += found;
                m->n_trials = trial + 1;
            }
        }
    return OK;
}

/* False alarms and power. */
static enum status try_draws(struct calibration *c, struct calibration_count *count, const struct drawn *d,
                             const struct policy *policy, double share, size_t n, struct error *err)
{
    size_t i;

    for (i = 0; i < n; i++) {
        d->draw(d->of, c->seed, i);
        TRY(judge_once(count, &d->runs[1], d->n - 1, &d->runs[0], policy, c->seed, err));
    }
    return find_power(c, d, policy, share, n < CALIBRATION_POWER_TRIALS ? n : CALIBRATION_POWER_TRIALS, err);
}

static enum status add_metric(struct calibration *c, const char *metric, const char *unit, enum noise noise,
                              enum role role, double margin, struct error *err)
{
    char *name = NULL, *unit_text = NULL;

    TRY(arena_strdup(&c->arena, metric, &name, err));
    TRY(arena_strdup(&c->arena, unit ? unit : "", &unit_text, err));
    c->metrics[c->n_metrics++] = (struct calibration_metric){.metric = name,
                                                             .unit = unit_text,
                                                             .noise = noise,
                                                             .role = role,
                                                             .margin = margin,
                                                             .mean_sd = NAN,
                                                             .cell_sd = NAN,
                                                             .cell = {NULL, -1, -1, -1}};
    return OK;
}

/* What decide() says of the runs, the first against the others, has the list of metrics, their roles and margins.
 * n_more: room for as many others. */
static enum status list_metrics(struct calibration *c, const struct run *base, size_t n_base, const struct run *cand,
                                size_t n_more, const struct policy *policy, double *ret_share, struct error *err)
{
    AUTO(judgement) j = {0};
    size_t i;

    TRY(decide(&j, base, n_base, cand, 1, policy, c->seed, err));
    TRY(arena_new(&c->arena, j.n_families + n_more, sizeof *c->metrics, &c->metrics, err));
    *ret_share = 0;
    for (i = 0; i < j.n_families; i++) {
        const struct family *f = &j.families[i];

        if (!f->n_compared)
            continue;
        TRY(add_metric(c, f->metric, f->unit, f->noise, f->role, f->margin, err));
        *ret_share += f->role == ROLE_PRIMARY;
    }
    return OK;
}

static enum status find_spreads(struct calibration *c, const struct run *runs, const struct policy *policy,
                                struct error *err)
{
    size_t i;

    for (i = 0; i < c->n_metrics; i++) {
        struct calibration_metric *m = &c->metrics[i];

        if (m->noise == NOISE_RUN)
            TRY(find_run_spread(m, c, runs, policy_rule(policy, m->metric)->stat, err));
        else
            TRY(find_spread(m, c, runs, err));
    }
    return OK;
}

static enum status exchange(struct calibration *c, const struct run *runs, const struct policy *policy, double share,
                            size_t n_exchanges, struct error *err)
{
    AUTO(exchanged) x = {0};
    struct drawn d = {.of = &x, .draw = draw_exchange};

    c->can_exchange = exchanged_can(runs, c->n_runs);
    if (!c->can_exchange)
        return OK;
    TRY(exchanged_init(&x, runs, c->n_runs, err));
    d.runs = x.runs;
    d.n = x.n;
    return try_draws(c, &c->exchanged, &d, policy, share, n_exchanges, err);
}

static enum status from_reruns(struct calibration *c, const struct run *runs, const struct policy *policy,
                               size_t n_exchanges, struct error *err)
{
    double share;

    TRY(judge_pairs(c, runs, policy, err));
    TRY(list_metrics(c, runs, c->n_runs - 1, &runs[c->n_runs - 1], 0, policy, &share, err));
    TRY(find_spreads(c, runs, policy, err));
    return exchange(c, runs, policy, share, n_exchanges, err);
}

/* Two tasks differ by the deviation between tasks times the root of two. */
static enum status find_task_spread(struct calibration_metric *m, const struct run *run, struct error *err)
{
    AUTO(pairs) p = {0};
    double *column = NULL;
    struct summary s;
    size_t i, k;

    TRY(pairs_init(&p, run, 1, run, 1, m->metric, err));
    TRY(mem_new(p.n_tasks, sizeof *column, &column, err));
    for (k = 0; k < p.n_columns; k++) {
        for (i = 0; i < p.n_tasks; i++)
            column[i] = p.base[i * p.n_columns + k];
        summary_of(&s, column, p.n_tasks);
        if (k == p.n_cells) {
            m->mean_sd = s.sd * sqrt(2);
        } else if (isfinite(s.sd) && !(s.sd * sqrt(2) <= m->cell_sd)) {
            m->cell_sd = s.sd * sqrt(2);
            m->cell = p.cell[k];
        }
    }
    free(column);
    return OK;
}

/* Those whose noise is the run's are listed with a noise that is not known. */
static enum status add_unknown(struct calibration *c, const struct run *run, const struct policy *policy,
                               struct error *err)
{
    size_t i;

    for (i = 0; i < run->n_cubes; i++) {
        const struct cube *cube = &run->cubes[i];
        enum role role = policy_rule(policy, cube->metric)->role;

        if (cube->noise == NOISE_RUN && role != ROLE_OFF && cube_count(cube))
            TRY(add_metric(c, cube->metric, cube->unit, NOISE_RUN, role, NAN, err));
    }
    return OK;
}

/* A limit is no comparison, and what halves lack is no lack of the run. `rules`: room for the policy's. */
static struct policy comparing_alone(const struct policy *policy, struct rule_for *rules)
{
    struct policy alone = *policy;
    size_t i;

    for (i = 0; i < policy->n_rules; i++) {
        rules[i] = policy->rules[i];
        rules[i].n_limits = 0;
        rules[i].required = false;
    }
    alone.rules = rules;
    return alone;
}

static enum status halve(struct calibration *c, struct halves *h, const struct run *run, const struct policy *policy,
                         size_t n_draws, struct error *err)
{
    struct drawn d = {.of = h, .draw = draw_halves, .runs = h->runs, .n = 2};
    double share;
    size_t i;

    halves_draw(h, c->seed, 0);
    TRY(list_metrics(c, &h->runs[1], 1, &h->runs[0], run->n_cubes, policy, &share, err));
    for (i = 0; i < c->n_metrics; i++)
        TRY(find_task_spread(&c->metrics[i], run, err));
    TRY(try_draws(c, &c->halves, &d, policy, share, n_draws, err));
    return add_unknown(c, run, policy, err);
}

static enum status from_one_run(struct calibration *c, const struct run *run, const struct policy *policy,
                                size_t n_draws, struct error *err)
{
    AUTO(halves) h = {0};
    struct rule_for *rules = NULL;
    struct policy alone;
    enum status st;

    TRY(halves_init(&h, run, err));
    TRY(mem_new(policy->n_rules, sizeof *rules, &rules, err));
    alone = comparing_alone(policy, rules);
    st = halve(c, &h, run, &alone, n_draws, err);
    free(rules);
    return st;
}

enum status calibrate(struct calibration *ret, const struct run *runs, size_t n_runs, const struct policy *policy,
                      uint64_t seed, size_t n_exchanges, struct error *err)
{
    AUTO(calibration) c = {.n_runs = n_runs, .alpha = policy->alpha, .seed = seed};
    char *name = NULL;
    size_t i;

    if (n_runs > CALIBRATION_RUNS)
        return error_set(err, ERR_LIMIT, "%zu runs, %d are the most", n_runs, CALIBRATION_RUNS);
    TRY(arena_strdup(&c.arena, policy->name ? policy->name : "", &name, err));
    c.policy_name = name;
    for (i = 0; i < n_runs; i++)
        if (run_count_tasks(&runs[i]) > c.n_tasks)
            c.n_tasks = run_count_tasks(&runs[i]);
    if (n_runs == 1)
        TRY(from_one_run(&c, runs, policy, n_exchanges, err));
    else
        TRY(from_reruns(&c, runs, policy, n_exchanges, err));
    *ret = c;
    memset(&c, 0, sizeof c);
    return OK;
}
