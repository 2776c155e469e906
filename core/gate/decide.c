#include "core/gate/decide.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/gate/changes.h"
#include "core/gate/divergence.h"
#include "core/gate/family.h"
#include "core/gate/limits.h"
#include "core/gate/onset.h"
#include "core/gate/overall.h"
#include "core/gate/survival.h"
#include "core/metrics/registry.h"
#include "core/metrics/reserved.h"
#include "core/stats/multiple.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The families while they are worked on. */
struct work {
    struct tested *items; /* owned */
    size_t n, cap;
};

static void work_done(struct work *w)
{
    size_t i;

    for (i = 0; i < w->n; i++)
        tested_done(&w->items[i]);
    free(w->items);
    memset(w, 0, sizeof *w);
}

/* Whether a run has anything of the task that stands at index `i` in another. */
static bool has_task(const struct run *run, const struct axes *of, size_t i)
{
    size_t at = axes_place(&run->axes, of, AXIS_TASK, i);

    return at != SIZE_MAX && run_has_task(run, at);
}

/* Tasks of `from` that at least `least` of the n_other runs have not. */
static enum status tasks_without(struct judgement *j, const struct run *from, const struct run *other, size_t n_other,
                                 size_t least, const char ***ret, size_t *ret_n, struct error *err)
{
    size_t i, k, n = 0;

    TRY(arena_new(&j->arena, from->axes.n[AXIS_TASK], sizeof **ret, ret, err));
    for (i = 0; i < from->axes.n[AXIS_TASK]; i++) {
        size_t without = 0;

        if (!run_has_task(from, i))
            continue;
        for (k = 0; k < n_other; k++)
            without += !has_task(&other[k], &from->axes, i);
        if (without >= least)
            (*ret)[n++] = from->axes.task[i];
    }
    *ret_n = n;
    return OK;
}

static enum status find_tasks(struct judgement *j, const struct comparison *c, struct error *err)
{
    /* The runs of a baseline are of one task set: the first stands for what is missing. */
    TRY(tasks_without(j, &c->base[0], c->cand, c->n_cand, 1, &j->missing, &j->n_missing, err));
    TRY(tasks_without(j, c->cand, c->base, c->n_base, c->n_base, &j->added, &j->n_added, err));
    j->n_pairs = run_count_tasks(c->cand) - j->n_added;
    return OK;
}

static bool is_known(const struct work *w, const char *metric)
{
    size_t i;

    for (i = 0; i < w->n; i++)
        if (strcmp(w->items[i].family.metric, metric) == 0)
            return true;
    return false;
}

static enum status test_cube(struct work *w, const struct comparison *c, const struct cube *cube, struct judgement *j,
                             struct error *err)
{
    if (policy_rule(c->policy, cube->metric)->role == ROLE_OFF || is_known(w, cube->metric))
        return OK;
    TRY(mem_grow(&w->items, &w->cap, w->n + 1, sizeof *w->items, err));
    memset(&w->items[w->n], 0, sizeof *w->items);
    return family_test(&w->items[w->n++], c, cube, &j->arena, err);
}

static enum status test_cubes(struct work *w, const struct comparison *c, const struct run *from, struct judgement *j,
                              struct error *err)
{
    struct cube divergence;
    size_t i;

    for (i = 0; i < from->n_cubes; i++)
        TRY(test_cube(w, c, &from->cubes[i], j, err));
    if (!divergence_measured(from))
        return OK;
    divergence = divergence_cube();
    return test_cube(w, c, &divergence, j, err);
}

/* A family that takes part: one whose differences are all 0 has p = 1 under every flip, so that it can never be
 * rejected and costs the others nothing (Tarone 1990). */
static bool takes_part(const struct tested *t, enum role role)
{
    if (t->family.role != role)
        return false;
    return t->state == FAMILY_RUN_TESTED || (t->state == FAMILY_TESTED && !pairs_identical(&t->pairs));
}

/* Primary families share alpha by Holm, the others the false discovery rate. */
static enum status adjust(struct work *w, enum role role, struct error *err)
{
    double *p = NULL, *adjusted = NULL;
    enum status st;
    size_t i, k;

    TRY(mem_new(w->n, sizeof *p, &p, err));
    st = mem_new(w->n, sizeof *adjusted, &adjusted, err);
    for (i = 0; i < w->n; i++)
        p[i] = takes_part(&w->items[i], role) ? w->items[i].p : NAN;
    if (st == OK)
        st = role == ROLE_PRIMARY ? multiple_holm(p, w->n, adjusted, err) : multiple_bh(p, w->n, adjusted, err);
    for (i = 0; i < w->n && st == OK; i++) {
        if (isnan(p[i]))
            continue;
        w->items[i].p_adj = adjusted[i];
        /* Holm's step of this family: its cells pay the same price as its smallest p. */
        w->items[i].share = 0;
        for (k = 0; k < w->n; k++)
            w->items[i].share += p[k] >= p[i];
        if (role != ROLE_PRIMARY)
            w->items[i].share = 1;
    }
    free(p);
    free(adjusted);
    return st;
}

static int by_role(const void *a, const void *b)
{
    const struct tested *x = a, *y = b;

    if (x->family.role != y->family.role)
        return x->family.role < y->family.role ? -1 : 1;
    return strcmp(x->family.metric, y->family.metric);
}

static enum status test_families(struct work *w, const struct comparison *c, struct judgement *j, struct error *err)
{
    size_t i;

    for (i = 0; i < c->n_cand; i++)
        TRY(test_cubes(w, c, &c->cand[i], j, err));
    for (i = 0; i < c->n_base; i++)
        TRY(test_cubes(w, c, &c->base[i], j, err));
    if (w->n)
        qsort(w->items, w->n, sizeof *w->items, by_role);
    TRY(adjust(w, ROLE_PRIMARY, err));
    TRY(adjust(w, ROLE_ADVISORY, err));
    TRY(arena_new(&j->arena, w->n, sizeof *j->families, &j->families, err));
    for (i = 0; i < w->n; i++) {
        TRY(family_judge(&w->items[i], c, &j->arena, err));
        TRY(divergence_keep(j, &w->items[i], err));
        j->families[i] = w->items[i].family;
    }
    j->n_families = w->n;
    return OK;
}

/* How far beyond its margin: a margin of 0 is beyond any number. */
static double strength(const struct finding *f)
{
    return f->margin > 0 ? fabs(f->effect.delta) / f->margin : INFINITY;
}

static int by_weight(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    static const int rank[] = {5, 4, 2, 1, 3, 0}; /* by enum verdict: regressed, changed, improved first */
    double sx = strength(x), sy = strength(y);
    int names;

    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->verdict != y->verdict)
        return rank[x->verdict] - rank[y->verdict];
    if (sx > sy || sx < sy)
        return sx > sy ? -1 : 1;
    names = strcmp(x->metric, y->metric);
    if (names)
        return names;
    if (x->where.turn != y->where.turn)
        return x->where.turn < y->where.turn ? -1 : 1;
    if (x->where.layer != y->where.layer)
        return x->where.layer < y->where.layer ? -1 : 1;
    return (x->where.head > y->where.head) - (x->where.head < y->where.head);
}

static enum status find_findings(const struct work *w, const struct comparison *c, struct judgement *j,
                                 struct error *err)
{
    size_t i, room = 0;

    for (i = 0; i < w->n; i++)
        room += w->items[i].family.n_beyond + 1;
    TRY(arena_new(&j->arena, room, sizeof *j->findings, &j->findings, err));
    for (i = 0; i < w->n; i++)
        TRY(family_findings(&w->items[i], c, &j->arena, j->findings, &j->n_findings, err));
    if (j->n_findings)
        qsort(j->findings, j->n_findings, sizeof *j->findings, by_weight);
    return OK;
}

static bool has_values(const struct comparison *cmp, const char *metric)
{
    size_t i;

    for (i = 0; i < cmp->n_cand; i++) {
        const struct cube *c = run_cube(&cmp->cand[i], metric);

        if (divergence_is(metric) ? divergence_measured(&cmp->cand[i]) : c && cube_count(c) > 0)
            return true;
    }
    return false;
}

static bool is_wanted(const struct policy *p, const char *metric)
{
    const struct rule_for *rule = policy_rule(p, metric);

    return rule->role != ROLE_OFF && (rule->role == ROLE_PRIMARY || rule->required);
}

/* Of what nothing measures yet, all that the policy speaks of by name: who wrote it must see that it does not hold. */
static void find_reserved(const struct comparison *c, struct judgement *j)
{
    size_t i, k, n = 0;
    const struct reserved *all = reserved_all(&n);

    for (i = 0; i < n; i++) {
        const struct rule_for *rule = policy_rule(c->policy, all[i].name);

        for (k = 0; k < j->n_families && strcmp(j->families[k].metric, all[i].name) != 0; k++)
            continue;
        if (k < j->n_families || !reserved_find(all[i].name) || rule->role == ROLE_OFF)
            continue;
        if (strcmp(rule->glob, all[i].name) == 0 || is_wanted(c->policy, all[i].name))
            j->not_measured[j->n_not_measured++] = all[i].name;
    }
}

/* Metrics that the policy names, or the base has, and the candidate lacks. */
static enum status find_not_measured(const struct comparison *c, struct judgement *j, struct error *err)
{
    size_t i, n = 0, n_reserved = 0;
    const struct metric *const *all = metrics_all(&n);

    (void)reserved_all(&n_reserved);
    TRY(arena_new(&j->arena, n + n_reserved + j->n_families, sizeof *j->not_measured, &j->not_measured, err));
    for (i = 0; i < j->n_families; i++)
        if (!has_values(c, j->families[i].metric))
            j->not_measured[j->n_not_measured++] = j->families[i].metric;
    for (i = 0; i < n; i++) {
        size_t k;

        for (k = 0; k < j->n_families && strcmp(j->families[k].metric, all[i]->name) != 0; k++)
            continue;
        if (k == j->n_families && !has_values(c, all[i]->name) && is_wanted(c->policy, all[i]->name))
            j->not_measured[j->n_not_measured++] = all[i]->name;
    }
    find_reserved(c, j);
    return OK;
}

/* How many relabellings stand behind p, of all tasks that both sides have: every task's runs moved on by some places.
 */
static void describe_draws(struct judgement *j, const struct comparison *c)
{
    double all = pow((double)(c->n_base + c->n_cand), (double)j->n_pairs);

    j->n_base = c->n_base;
    j->n_cand = c->n_cand;
    j->is_enumerated = all <= SIGNFLIP_RESAMPLES;
    j->n_resamples = j->is_enumerated ? (size_t)all : SIGNFLIP_RESAMPLES;
}

/* Of all pairs of runs the first that was not observed on like machines. */
static enum status find_machines(struct judgement *j, struct comparison *c, struct error *err)
{
    size_t i, k;

    for (i = c->n_base; i-- > 0 && !c->other_machine;)
        for (k = 0; k < c->n_cand && !c->other_machine; k++)
            TRY(changes_machine(j, &c->base[i], &c->cand[k], &c->other_machine, err));
    return OK;
}

static enum status judge(struct judgement *j, struct comparison *c, struct error *err)
{
    AUTO(work) w = {0};
    const struct run *latest = &c->base[c->n_base - 1];
    char *name = NULL;

    TRY(arena_strdup(&j->arena, c->policy->name ? c->policy->name : "", &name, err));
    j->policy_name = name;
    j->alpha = c->policy->alpha;
    j->seed = c->seed;
    TRY(find_tasks(j, c, err));
    describe_draws(j, c);
    TRY(changes_find(j, latest, c->cand, err));
    TRY(find_machines(j, c, err));
    c->prompts_equal = changes_prompt_equal(latest, c->cand);
    TRY(test_families(&w, c, j, err));
    TRY(find_findings(&w, c, j, err));
    TRY(find_not_measured(c, j, err));
    TRY(limits_check(j, c, err));
    survival_count(j, c);
    TRY(onset_find(j, c, err));
    return overall_judge(j, c, w.items, err);
}

/* A collapse by other numbers than the policy states is another metric. */
static enum status check_collapse(const struct run *r, const struct policy *policy, struct error *err)
{
    struct attention_options o;
    AUTO(buf) want = {0};
    AUTO(buf) have = {0};

    if (!policy->has_collapse || !run_cube(r, "attn.collapse"))
        return OK;
    TRY(attention_options_of(&o, r, err));
    collapse_text(&policy->collapse, &want);
    collapse_text(&o.collapse, &have);
    TRY(buf_check(&want, err));
    TRY(buf_check(&have, err));
    if (strcmp(buf_text(&want), buf_text(&have)) == 0)
        return OK;
    return error_set(err, ERR_NO_VERDICT,
                     "attn.collapse was measured with %s and the policy states %s: run again with --collapse %s",
                     buf_text(&have), buf_text(&want), buf_text(&want));
}

enum status decide(struct judgement *ret, const struct run *base, size_t n_base, const struct run *cand, size_t n_cand,
                   const struct policy *policy, uint64_t seed, struct error *err)
{
    AUTO(judgement) j = {0};
    struct comparison c = {
        .base = base, .n_base = n_base, .cand = cand, .n_cand = n_cand, .policy = policy, .seed = seed};
    size_t i, k;

    if (!n_base || !n_cand)
        return error_set(err, ERR_NO_VERDICT, "there is no %s run to compare", n_base ? "candidate" : "base");
    for (i = 0; i < n_base; i++)
        for (k = 0; k < n_cand; k++)
            TRY(comparable_check(&base[i], &cand[k], err));
    TRY(comparable_base(base, n_base, err));
    TRY(comparable_candidates(cand, n_cand, err));
    for (i = 0; i < n_base; i++)
        TRY(check_collapse(&base[i], policy, err));
    for (i = 0; i < n_cand; i++)
        TRY(check_collapse(&cand[i], policy, err));
    TRY(judge(&j, &c, err));
    *ret = j;
    memset(&j, 0, sizeof j);
    return OK;
}

struct fail_word {
    const char *word;
    enum verdict verdict;
    int exit_code;
};

/* The word that begins at `p` with `len` characters, or NULL. */
static const struct fail_word *find_fail_word(const char *p, size_t len)
{
    static const struct fail_word words[] = {{"regressed", VERDICT_REGRESSED, 1},
                                             {"inconclusive", VERDICT_INCONCLUSIVE, 3},
                                             {"changed", VERDICT_CHANGED, 1}};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len && strncmp(p, words[i].word, len) == 0)
            return &words[i];
    return NULL;
}

enum status decide_fail_on(const struct judgement *j, const char *fail_on, int *ret_exit, struct error *err)
{
    const char *p = fail_on;
    /* Neither a regression nor the lack of a verdict may look like a pass, whatever was asked for. */
    int code = j->verdict == VERDICT_NONE ? 3 : j->verdict == VERDICT_REGRESSED ? 1 : 0;

    for (;;) {
        size_t len = strcspn(p, ",");
        const struct fail_word *word = find_fail_word(p, len);

        if (!word)
            return error_set(
                err, ERR_USAGE,
                "--fail-on: '%.*s' is not one of regressed, inconclusive, changed: separate several by a comma",
                (int)(len < 40 ? len : 40), p);
        if (word->verdict == j->verdict)
            code = word->exit_code;
        if (!p[len])
            break;
        p += len + 1;
    }
    *ret_exit = code;
    return OK;
}
