#include "core/gate/family.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/gate/divergence.h"
#include "core/gate/spread.h"
#include "core/stats/relabel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tested_done(struct tested *t)
{
    pairs_done(&t->pairs);
    signflip_done(&t->flips);
    free(t->cells);
    memset(t, 0, sizeof *t);
}

struct effect effect_unknown(void)
{
    struct effect e = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

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
                         .effect = effect_unknown()};
    f->worst = (struct finding){.metric = f->metric,
                                .unit = f->unit,
                                .where = all,
                                .effect = effect_unknown(),
                                .margin = NAN,
                                .role = f->role,
                                .words = ""};
    return OK;
}

/* What rises or falls with the number of visible keys alone says nothing between prompts of other lengths, unless the
 * policy insists. */
static bool follows_length(const struct tested *t, const struct comparison *c)
{
    static const char *const metrics[] = {"attn.entropy", "attn.max_weight", "attn.head_std", "attn.distance_js"};
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

    if (divergence_is(metric))
        return divergence_measured(r);
    return c && cube_count(c) > 0;
}

static bool measured_in_any(const struct run *runs, size_t n, const char *metric)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (measured(&runs[i], metric))
            return true;
    return false;
}

/* Of one run against one a change of places is a change of sign; several runs change places within the task. */
static enum status test_columns(struct tested *t, const struct comparison *c, const uint64_t *stream, struct error *err)
{
    const struct pairs *p = &t->pairs;
    AUTO(relabel) r = {0};

    TRY(mem_new(p->n_columns, sizeof *t->cells, &t->cells, err));
    /* Its flips are those of the intervals, with several runs too. */
    TRY(signflip_init(&t->flips, stream, p->n_tasks, c->seed, SIGNFLIP_RESAMPLES, err));
    if (!p->exchanged)
        return signflip_test(&t->flips, p->diff, p->n_columns, t->cells, err);
    TRY(relabel_init(&r, stream, p->n_options, p->n_tasks, c->seed, SIGNFLIP_RESAMPLES, err));
    return relabel_test(&r, p->exchanged, p->n_columns, t->cells, err);
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
    st = test_columns(t, c, stream, err);
    free(stream);
    TRY(st);
    for (i = 0; i < p->n_columns; i++)
        if (!isnan(t->cells[i].p_adj))
            t->p = fmin(isnan(t->p) ? 1 : t->p, t->cells[i].p_adj);
    return OK;
}

static enum status find_lost(struct lost *ret, const struct comparison *c, const char *metric, struct error *err)
{
    struct lost most = {0};
    size_t i, k;

    for (i = 0; i < c->n_base; i++)
        for (k = 0; k < c->n_cand; k++) {
            struct lost one;

            TRY(lost_count(&one, &c->base[i], &c->cand[k], metric, err));
            if ((i == 0 && k == 0) || one.n > most.n)
                most = one;
        }
    *ret = most;
    return OK;
}

/* A metric may be absent because its source was left out, which is a choice, or although its source is there: then
 * something broke, and a gate that passes over it passes on nothing. */
static void find_gone(struct tested *t, const struct comparison *c)
{
    bool is_attention = strncmp(t->family.metric, "attn.", 5) == 0, has_source = false;
    size_t i, k;

    for (i = 0; i < c->n_cand; i++) {
        const struct run *r = &c->cand[i];

        has_source = has_source || (is_attention ? r->provenance.n_dumps : r->n_exchanges) > 0;
        for (k = 0; k < r->n_cubes; k++)
            if ((strncmp(r->cubes[k].metric, "attn.", 5) == 0) == is_attention && cube_count(&r->cubes[k]) > 0)
                has_source = true;
    }
    t->is_gone = has_source;
    t->without = has_source ? NULL : is_attention ? "attention" : "replies";
    t->why_unpaired = has_source ? "not measured in the candidate, though the base has it and the candidate what it is "
                                   "measured from"
                                 : "not measured in the candidate";
}

static enum status find_pairs(struct tested *t, const struct comparison *c, const char *metric, struct error *err)
{
    t->only_rises = divergence_is(metric);
    if (t->only_rises)
        return divergence_pairs(&t->pairs, c, err);
    TRY(find_lost(&t->lost, c, metric, err));
    return pairs_init(&t->pairs, c->base, c->n_base, c->cand, c->n_cand, metric, err);
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
    if (!measured_in_any(c->cand, c->n_cand, metric->metric))
        find_gone(t, c);
    else if (!measured_in_any(c->base, c->n_base, metric->metric))
        t->why_unpaired = "not measured in the base";
    if (t->why_unpaired)
        return OK;
    if (metric->noise == NOISE_RUN && c->other_machine) {
        t->state = FAMILY_OTHER_MACHINE;
        return OK;
    }
    TRY(find_pairs(t, c, metric->metric, err));
    t->family.n_cells = t->pairs.n_cells;
    for (k = 0; k < t->pairs.n_cells; k++)
        t->family.n_compared += !isnan(pairs_mean(&t->pairs, t->pairs.diff, k));
    if (!t->pairs.n_tasks) {
        t->why_unpaired = "no task has a value of it at the same turn, layer and head on both sides";
        return OK;
    }
    if (metric->noise == NOISE_RUN)
        return spread_runs(t, c, err);
    t->state = t->only_rises && !t->pairs.exchanged ? FAMILY_DESCRIBED : FAMILY_TESTED;
    return t->state == FAMILY_TESTED ? run_test(t, c, err) : OK;
}
