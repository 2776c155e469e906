#include "core/gate/family.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"
#include "core/gate/words.h"
#include "core/stats/interval.h"
#include "core/stats/mde.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double POWER = 0.8;

void tested_done(struct tested *t)
{
    pairs_done(&t->pairs);
    signflip_done(&t->flips);
    free(t->cells);
    memset(t, 0, sizeof *t);
}

static struct effect unknown_effect(void)
{
    struct effect e = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

    return e;
}

static enum status describe(struct family *f, const struct rule_for *rule, const struct cube *metric,
                            struct arena *texts, struct error *err)
{
    struct where all = {.turn = -1, .layer = -1, .head = -1};
    char *reason = NULL;

    TRY(arena_strdup(texts, rule->reason, &reason, err));
    *f = (struct family){.metric = metric->metric,
                         .unit = metric->unit ? metric->unit : "",
                         .help = metric->help ? metric->help : "",
                         .better = rule->has_better ? rule->better : metric->better,
                         .noise = metric->noise,
                         .role = rule->role,
                         .required = rule->required,
                         .margin = NAN,
                         .margin_reason = reason,
                         .effect = unknown_effect()};
    f->worst = (struct finding){.metric = f->metric,
                                .unit = f->unit,
                                .where = all,
                                .effect = unknown_effect(),
                                .margin = NAN,
                                .role = f->role,
                                .words = ""};
    return OK;
}

/* What rises or falls with the number of visible keys alone says nothing between prompts of other lengths, unless the
 * policy insists. */
static bool follows_length(const struct tested *t, const struct comparison *c)
{
    static const char *const metrics[] = {"attn.entropy", "attn.max_weight", "attn.head_std"};
    size_t i;

    if (c->prompts_equal || t->rule->on_change == ON_CHANGE_REGRESSED)
        return false;
    for (i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(t->family.metric, metrics[i]) == 0)
            return true;
    return false;
}

static bool measured(const struct run *r, const char *metric)
{
    const struct cube *c = run_cube(r, metric);

    return c && cube_count(c) > 0;
}

static bool measured_in_base(const struct comparison *c, const char *metric)
{
    size_t i;

    for (i = 0; i < c->n_base; i++)
        if (measured(&c->base[i], metric))
            return true;
    return false;
}

static enum status run_test(struct tested *t, const struct comparison *c, struct error *err)
{
    const struct pairs *p = &t->pairs;
    uint64_t *stream = NULL;
    enum status st;
    size_t i;

    TRY(mem_new(p->n_tasks, sizeof *stream, &stream, err));
    for (i = 0; i < p->n_tasks; i++)
        stream[i] = rng_stream(p->task[i]);
    st = signflip_init(&t->flips, stream, p->n_tasks, c->seed, SIGNFLIP_RESAMPLES, err);
    free(stream);
    TRY(st);
    TRY(mem_new(p->n_columns, sizeof *t->cells, &t->cells, err));
    TRY(signflip_test(&t->flips, p->diff, p->n_columns, t->cells, err));
    for (i = 0; i < p->n_columns; i++)
        if (!isnan(t->cells[i].p_adj))
            t->p = fmin(isnan(t->p) ? 1 : t->p, t->cells[i].p_adj);
    return OK;
}

static enum status find_lost(struct lost *ret, const struct comparison *c, const char *metric, struct error *err)
{
    struct lost most = {0};
    size_t i;

    for (i = 0; i < c->n_base; i++) {
        struct lost one;

        TRY(lost_count(&one, &c->base[i], c->cand, metric, err));
        if (i == 0 || one.n > most.n)
            most = one;
    }
    *ret = most;
    return OK;
}

enum status family_test(struct tested *t, const struct comparison *c, const struct cube *metric, struct arena *texts,
                        struct error *err)
{
    size_t k;

    t->rule = policy_rule(c->policy, metric->metric);
    t->p = NAN;
    t->p_adj = t->share = 1;
    t->state = FAMILY_UNPAIRED;
    TRY(describe(&t->family, t->rule, metric, texts, err));
    t->follows_length = follows_length(t, c);
    if (t->follows_length)
        t->family.role = t->family.worst.role = ROLE_ADVISORY;
    if (!measured(c->cand, metric->metric) || !measured_in_base(c, metric->metric))
        return OK;
    if (metric->noise == NOISE_RUN && c->other_machine) {
        t->state = FAMILY_OTHER_MACHINE;
        return OK;
    }
    TRY(find_lost(&t->lost, c, metric->metric, err));
    TRY(pairs_init(&t->pairs, c->base, c->n_base, c->cand, metric->metric, err));
    t->family.n_cells = t->pairs.n_cells;
    for (k = 0; k < t->pairs.n_cells; k++)
        t->family.n_compared += !isnan(pairs_mean(&t->pairs, t->pairs.diff, k));
    if (!t->pairs.n_tasks)
        return OK;
    if (metric->noise == NOISE_RUN) {
        t->state = FAMILY_RUN_NOISE;
        t->family.role = t->family.worst.role = ROLE_ADVISORY;
        return spread_runs(t, c, err);
    }
    t->state = FAMILY_TESTED;
    return run_test(t, c, err);
}

/* Everything about a column but its interval, which takes a while. */
static struct effect column_effect(const struct tested *t, const struct comparison *c, size_t column)
{
    const struct signflip_cell *cell = &t->cells[column];
    struct effect e = unknown_effect();

    e.n = cell->n;
    e.base = pairs_mean(&t->pairs, t->pairs.base, column);
    e.cand = pairs_mean(&t->pairs, t->pairs.cand, column);
    e.delta = cell->mean;
    e.p = cell->p;
    e.p_min = signflip_p_min(cell->n, SIGNFLIP_RESAMPLES);
    if (!isnan(cell->p_adj))
        e.p_adj = fmin(1, fmax(cell->p_adj * t->share, t->p_adj));
    if (e.p_min <= c->policy->alpha)
        e.mde = mde_paired(cell->sd, cell->n, c->policy->alpha, POWER);
    return e;
}

static enum status add_interval(const struct tested *t, const struct comparison *c, size_t column, struct effect *e,
                                struct error *err)
{
    struct interval limits;
    double *diff = NULL;
    enum status st;
    size_t i;

    TRY(mem_new(t->pairs.n_tasks, sizeof *diff, &diff, err));
    for (i = 0; i < t->pairs.n_tasks; i++)
        diff[i] = t->pairs.diff[i * t->pairs.n_columns + column];
    st = interval_signflip(&t->flips, diff, c->policy->alpha, &limits, err);
    free(diff);
    TRY(st);
    e->ci_lo = limits.lo;
    e->ci_hi = limits.hi;
    return OK;
}

/* VERDICT_NONE when it did not move: not significant, or not beyond the margin. */
static enum verdict moved(const struct tested *t, const struct comparison *c, const struct effect *e)
{
    const struct family *f = &t->family;
    enum on_change on_change = t->rule->on_change;

    /* NaN compares false: no margin, nothing moves beyond it. */
    if (!(fabs(e->delta) > f->margin) || !(e->p_adj <= c->policy->alpha))
        return VERDICT_NONE;
    if (f->better == BETTER_HIGHER)
        return e->delta < 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    if (f->better == BETTER_LOWER)
        return e->delta > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    if (on_change == ON_CHANGE_DEFAULT)
        on_change = c->prompts_equal && strncmp(f->metric, "attn.", 5) == 0 ? ON_CHANGE_REGRESSED : ON_CHANGE_CHANGED;
    return on_change == ON_CHANGE_REGRESSED ? VERDICT_REGRESSED : VERDICT_CHANGED;
}

/* The whole interval where no move to the worse side can be beyond the margin. With a direction only that side counts:
 * getting better is no reason to withhold a pass. */
static bool inside(const struct family *f)
{
    const struct effect *e = &f->effect;
    bool low = e->ci_lo >= -f->margin, high = e->ci_hi <= f->margin;

    if (f->better == BETTER_HIGHER)
        return low;
    return f->better == BETTER_LOWER ? high : low && high;
}

static struct finding as_finding(const struct tested *t, const struct effect *e, size_t column, enum verdict v)
{
    const struct family *f = &t->family;
    struct finding out = {.metric = f->metric,
                          .unit = f->unit,
                          .where = t->pairs.cell[column],
                          .effect = *e,
                          .margin = f->margin,
                          .verdict = v,
                          .role = f->role,
                          .words = ""};

    return out;
}

/* Counts what moved and finds the worst cell; returns the gravest verdict of a cell, VERDICT_NONE when none moved. */
static enum verdict judge_cells(struct tested *t, const struct comparison *c, size_t *ret_worst)
{
    enum verdict gravest = VERDICT_NONE, worst = VERDICT_NONE;
    double largest = -1;
    size_t k;

    for (k = 0; k < t->pairs.n_cells; k++) {
        struct effect e = column_effect(t, c, k);
        enum verdict v;

        if (!e.n)
            continue;
        v = moved(t, c, &e);
        t->family.n_beyond += v != VERDICT_NONE;
        t->n_open += v == VERDICT_NONE && fabs(e.delta) > t->family.margin;
        gravest = v > gravest ? v : gravest;
        if (v < worst || (v == worst && !(fabs(e.delta) > largest)))
            continue;
        worst = v;
        largest = fabs(e.delta);
        t->family.worst = as_finding(t, &e, k, v);
        *ret_worst = k;
    }
    return gravest;
}

/* Tasks that would decide: enough for p to get there, and for the mean to be told from the margin. 0: not known. */
static size_t needed(const struct tested *t, const struct comparison *c)
{
    const struct family *f = &t->family;
    double alpha = c->policy->alpha, sd = t->cells[t->pairs.n_cells].sd;
    size_t attainable = signflip_pairs_for(alpha / t->share, SIGNFLIP_RESAMPLES);
    size_t enough;
    double room;

    if (f->effect.p_min * t->share > alpha && !(sd > 0))
        return attainable;
    if (f->better == BETTER_HIGHER)
        room = f->margin + f->effect.delta;
    else if (f->better == BETTER_LOWER)
        room = f->margin - f->effect.delta;
    else
        room = f->margin - fabs(f->effect.delta);
    /* Outside: the move itself must be found. Inside: the interval, one-sided at alpha, must leave room. */
    if (room < 0)
        enough = mde_pairs_for(sd, fabs(f->effect.delta), alpha, POWER);
    else
        enough = mde_pairs_for(sd, room, 2 * alpha, POWER);
    if (!enough || !attainable)
        return 0;
    enough = enough > attainable ? enough : attainable;
    return enough > f->effect.n ? enough : f->effect.n + 1;
}

static enum verdict family_verdict(const struct tested *t, const struct comparison *c, enum verdict cells,
                                   bool is_identical)
{
    const struct family *f = &t->family;
    enum verdict mean = moved(t, c, &f->effect);
    enum verdict gravest = cells > mean ? cells : mean;

    if (is_identical && !t->lost.n)
        return VERDICT_PASS;
    if (isnan(f->margin))
        return VERDICT_NONE;
    if (gravest == VERDICT_REGRESSED || gravest == VERDICT_CHANGED || (mean == VERDICT_IMPROVED && !t->lost.n))
        return gravest;
    /* What is missing may be what broke. Too few tasks to have shown anything: that nothing was seen says nothing. */
    if (t->lost.n || f->effect.p_min * t->share > c->policy->alpha || !inside(f))
        return VERDICT_INCONCLUSIVE;
    return cells == VERDICT_IMPROVED ? VERDICT_IMPROVED : VERDICT_PASS;
}

static enum status judge_tested(struct tested *t, const struct comparison *c, struct arena *texts, struct error *err)
{
    AUTO(buf) words = {0};
    struct family *f = &t->family;
    bool is_identical = pairs_identical(&t->pairs);
    size_t worst = SIZE_MAX;
    struct words_about about;
    enum verdict cells;
    char *text = NULL;

    f->effect = column_effect(t, c, t->pairs.n_cells);
    TRY(add_interval(t, c, t->pairs.n_cells, &f->effect, err));
    f->margin = spread_margin(t, c);
    cells = judge_cells(t, c, &worst);
    if (worst != SIZE_MAX)
        TRY(add_interval(t, c, worst, &f->worst.effect, err));
    f->verdict = family_verdict(t, c, cells, is_identical);
    if (f->verdict == VERDICT_INCONCLUSIVE && !t->lost.n)
        f->n_needed = needed(t, c);
    words_finding(&words, &f->worst, c->policy->alpha);
    TRY(buf_check(&words, err));
    TRY(arena_strdup(texts, buf_text(&words), &text, err));
    f->worst.words = text;
    buf_clear(&words);
    about = (struct words_about){.alpha = c->policy->alpha,
                                 .p_floor = f->effect.p_min * t->share,
                                 .is_identical = is_identical,
                                 .n_open = t->n_open,
                                 .lost = &t->lost,
                                 .follows_length = t->follows_length};
    words_family(&words, f, &about);
    TRY(buf_check(&words, err));
    TRY(arena_strdup(texts, buf_text(&words), &text, err));
    f->words = text;
    return OK;
}

enum status family_judge(struct tested *t, const struct comparison *c, struct arena *texts, struct error *err)
{
    const char *metric = t->family.metric;
    char *text = NULL;

    switch (t->state) {
    case FAMILY_TESTED:
        return judge_tested(t, c, texts, err);
    case FAMILY_RUN_NOISE:
        return spread_words(t, c, texts, err);
    case FAMILY_OTHER_MACHINE:
        TRY(arena_printf(texts, &text, err, "not compared, observed on other hardware or another server: %s",
                         c->other_machine));
        break;
    case FAMILY_UNPAIRED:
        TRY(arena_strdup(texts,
                         !measured(c->cand, metric)     ? "not measured in the candidate"
                         : !measured_in_base(c, metric) ? "not measured in the base"
                                                        : "no task has a value on both sides",
                         &text, err));
        break;
    }
    t->family.words = text;
    return OK;
}

enum status family_findings(const struct tested *t, const struct comparison *c, struct arena *texts,
                            struct finding *ret, size_t *n, struct error *err)
{
    size_t k, last = t->pairs.n_cells > 1 ? t->pairs.n_columns : t->pairs.n_cells;

    if (t->state != FAMILY_TESTED)
        return OK;
    for (k = 0; k < last; k++) {
        AUTO(buf) words = {0};
        struct effect e = column_effect(t, c, k);
        enum verdict v = e.n ? moved(t, c, &e) : VERDICT_NONE;
        char *text = NULL;

        if (v == VERDICT_NONE)
            continue;
        TRY(add_interval(t, c, k, &e, err));
        ret[*n] = as_finding(t, &e, k, v);
        words_finding(&words, &ret[*n], c->policy->alpha);
        TRY(buf_check(&words, err));
        TRY(arena_strdup(texts, buf_text(&words), &text, err));
        ret[(*n)++].words = text;
    }
    return OK;
}
