#include "core/gate/overall.h"

#include "core/base/scope.h"
#include "core/gate/limits.h"
#include "core/gate/luck.h"
#include "core/gate/parts.h"
#include "core/gate/survival.h"
#include "core/gate/words.h"
#include "core/stats/summary.h"

#include <math.h>
#include <string.h>

enum { EXIT_OK = 0, EXIT_REGRESSED = 1, EXIT_UNDECIDED = 3 };

/* What counts towards the whole. */
struct tally {
    size_t primary[VERDICT_REGRESSED + 1]; /* primary families by verdict      */
    size_t required_open;                  /* required ones that are undecided */
    size_t required_missing;
    size_t lost; /* primary families of which the candidate lacks values */
    size_t limits_failed;
    double errors; /* share of failed requests; NaN not known */
};

static enum status reason(struct judgement *j, const char *text, struct error *err)
{
    char *copy = NULL;

    TRY(arena_strdup(&j->arena, text, &copy, err));
    j->reasons[j->n_reasons++] = copy;
    return OK;
}

/* "attn.entropy: 3 of 72 cells …" */
static enum status family_reason(struct judgement *j, const struct family *f, struct error *err)
{
    AUTO(buf) b = {0};

    buf_printf(&b, "%s: %s", f->metric, f->words);
    TRY(buf_check(&b, err));
    return reason(j, buf_text(&b), err);
}

static bool counts(const struct family *f)
{
    return f->role == ROLE_PRIMARY;
}

/* Required, and there is nothing to decide on; or primary, in the base, and gone. A run-noise metric of one run is
 * measured and stands outside. */
static bool is_missing(const struct tested *t)
{
    if (t->rule->required && (t->state == FAMILY_UNPAIRED || t->state == FAMILY_OTHER_MACHINE))
        return true;
    return t->is_gone && t->rule->role == ROLE_PRIMARY;
}

/* Required by name, and neither run has it. */
static bool is_absent(const struct judgement *j, const struct policy *p, size_t i)
{
    size_t k;

    for (k = 0; k < j->n_families; k++)
        if (strcmp(j->families[k].metric, j->not_measured[i]) == 0)
            return false;
    return policy_rule(p, j->not_measured[i])->required;
}

static void count(struct tally *y, const struct judgement *j, const struct comparison *c, const struct tested *t)
{
    struct summary errors;
    size_t i;

    memset(y, 0, sizeof *y);
    for (i = 0; i < j->n_families; i++) {
        const struct family *f = &j->families[i];

        y->required_missing += is_missing(&t[i]);
        if (!counts(f))
            continue;
        y->primary[f->verdict]++;
        y->lost += t[i].lost.n > 0;
        y->required_open += f->required && f->verdict == VERDICT_INCONCLUSIVE;
    }
    for (i = 0; i < j->n_not_measured; i++)
        y->required_missing += is_absent(j, c->policy, i);
    for (i = 0; i < j->n_limits; i++)
        y->limits_failed += limit_fails(&j->limits[i]);
    /* Of the candidate run with the most: one that broke down is no rerun of the others. */
    y->errors = NAN;
    for (i = 0; i < c->n_cand; i++) {
        const struct cube *failed = run_cube(&c->cand[i], "reply.failed");

        summary_of(&errors, failed ? failed->values : NULL, failed ? cube_len(failed) : 0);
        y->errors = fmax(y->errors, errors.mean);
    }
}

static enum verdict whole(const struct tally *y, const struct policy *p)
{
    size_t judged = 0, v;

    for (v = VERDICT_PASS; v <= VERDICT_REGRESSED; v++)
        judged += y->primary[v];
    if (y->errors > p->max_errors)
        return VERDICT_NONE;
    if (y->primary[VERDICT_REGRESSED] || y->limits_failed)
        return VERDICT_REGRESSED;
    if (y->required_missing || y->lost || !judged)
        return VERDICT_NONE;
    if (y->required_open || y->primary[VERDICT_INCONCLUSIVE] == judged)
        return VERDICT_INCONCLUSIVE;
    if (y->primary[VERDICT_CHANGED])
        return VERDICT_CHANGED;
    return y->primary[VERDICT_IMPROVED] ? VERDICT_IMPROVED : VERDICT_PASS;
}

/* What would decide with more runs says so itself. */
static bool waits_for_runs(const struct tested *t)
{
    return t->rule->role == ROLE_PRIMARY && (t->state == FAMILY_RUN_NOISE || t->state == FAMILY_RUN_TESTED);
}

static enum status reason_of_errors(struct judgement *j, double errors, double max_errors, struct error *err)
{
    AUTO(buf) b = {0};

    buf_printf(&b,
               "%.3g %% of the candidate's requests failed, the policy allows %.3g %%: see to the server and run again",
               100 * errors, 100 * max_errors);
    TRY(buf_check(&b, err));
    return reason(j, buf_text(&b), err);
}

static enum status reasons_of_none(struct judgement *j, const struct comparison *c, const struct tested *t,
                                   const struct tally *y, struct error *err)
{
    AUTO(buf) b = {0};
    size_t i;

    if (y->errors > c->policy->max_errors)
        return reason_of_errors(j, y->errors, c->policy->max_errors, err);
    for (i = 0; i < j->n_families; i++)
        if (is_missing(&t[i]) || (counts(&j->families[i]) && t[i].lost.n))
            TRY(family_reason(j, &j->families[i], err));
    for (i = 0; i < j->n_not_measured; i++) {
        if (!is_absent(j, c->policy, i))
            continue;
        buf_clear(&b);
        buf_printf(&b, "%s: the policy requires it and neither run has it", j->not_measured[i]);
        TRY(buf_check(&b, err));
        TRY(reason(j, buf_text(&b), err));
    }
    for (i = 0; i < j->n_families; i++)
        if (waits_for_runs(&t[i]) && !counts(&j->families[i]))
            TRY(family_reason(j, &j->families[i], err));
    if (!y->required_missing && !y->lost && !j->n_reasons)
        TRY(reason(j, "no primary metric of the policy could be judged: both runs must have one, with a margin", err));
    return OK;
}

/* The families of one verdict; primary ones, as the others decide nothing. What got worse, with where. */
static enum status reasons_of(struct judgement *j, const struct comparison *c, const struct tested *t, enum verdict v,
                              struct error *err)
{
    const char *where;
    size_t i;

    for (i = 0; i < j->n_families; i++) {
        if (!counts(&j->families[i]) || j->families[i].verdict != v)
            continue;
        if (v == VERDICT_INCONCLUSIVE && t[i].lost.n && j->verdict == VERDICT_NONE)
            continue; /* said already */
        TRY(family_reason(j, &j->families[i], err));
        if (v != VERDICT_REGRESSED && v != VERDICT_CHANGED)
            continue;
        TRY(parts_words(&t[i], c->cand, &j->arena, &where, err));
        if (where)
            TRY(reason(j, where, err));
    }
    return OK;
}

static enum status broken_limits(struct judgement *j, bool failing, struct error *err)
{
    size_t i, said = 0, n = 0;
    AUTO(buf) b = {0};

    for (i = 0; i < j->n_limits; i++)
        n += j->limits[i].broken && limit_fails(&j->limits[i]) == failing;
    for (i = 0; i < j->n_limits && said < 3; i++) {
        if (!j->limits[i].broken || limit_fails(&j->limits[i]) != failing)
            continue;
        buf_clear(&b);
        buf_printf(&b, "%s%s", failing ? "" : "warning: ", j->limits[i].words);
        if (++said == 3 && n > 3)
            buf_printf(&b, "; and %zu more limits", n - 3);
        TRY(buf_check(&b, err));
        TRY(reason(j, buf_text(&b), err));
    }
    return OK;
}

/* Primary metrics that the base has and this candidate cannot have, as it was measured from less: nobody should take a
 * pass for theirs too. */
static enum status set_aside(struct judgement *j, const struct tested *t, struct error *err)
{
    AUTO(buf) b = {0};
    size_t i, n = 0;

    for (i = 0; i < j->n_families; i++) {
        if (!t[i].without || t[i].rule->role != ROLE_PRIMARY)
            continue;
        if (n++ == 0)
            buf_printf(&b, "warning: not judged, as the candidate was measured without %s: ", t[i].without);
        else
            buf_puts(&b, ", ");
        buf_puts(&b, j->families[i].metric);
    }
    TRY(buf_check(&b, err));
    return n ? reason(j, buf_text(&b), err) : OK;
}

static enum status find_reasons(struct judgement *j, const struct comparison *c, const struct tested *t,
                                const struct tally *y, struct error *err)
{
    static const enum verdict order[] = {VERDICT_REGRESSED, VERDICT_CHANGED, VERDICT_INCONCLUSIVE, VERDICT_IMPROVED};
    const char *text = NULL;
    size_t i, n_verdict;

    /* A family gives two at most, limits six, the rest a handful. */
    TRY(arena_new(&j->arena, 2 * j->n_families + j->n_not_measured + 16, sizeof *j->reasons, &j->reasons, err));
    if (j->verdict == VERDICT_NONE)
        TRY(reasons_of_none(j, c, t, y, err));
    TRY(broken_limits(j, true, err));
    for (i = 0; i < sizeof order / sizeof *order; i++)
        TRY(reasons_of(j, c, t, order[i], err));
    n_verdict = j->n_reasons;
    if (j->onset.words)
        TRY(reason(j, j->onset.words, err));
    if (j->causes_confounded)
        TRY(reason(j, "several of prompt, weights and served model changed at once: their effects cannot be told apart",
                   err));
    if (n_verdict == 0)
        TRY(reasons_of(j, c, t, VERDICT_PASS, err));
    TRY(survival_words(j, &text, err));
    if (text)
        TRY(reason(j, text, err));
    TRY(luck_words(j, c, t, &text, err));
    if (text)
        TRY(reason(j, text, err));
    TRY(set_aside(j, t, err));
    return broken_limits(j, false, err);
}

/* The strongest primary finding with the verdict. */
static const struct finding *strongest(const struct judgement *j, enum verdict v)
{
    size_t i;

    for (i = 0; i < j->n_findings; i++)
        if (j->findings[i].role == ROLE_PRIMARY && j->findings[i].verdict == v)
            return &j->findings[i];
    return NULL;
}

/* How many are open, and how many tasks would decide the one that needs the most. */
static void put_undecided(struct buf *b, const struct judgement *j, const struct tally *y)
{
    size_t i, needed = 0;

    for (i = 0; i < j->n_families; i++)
        if (counts(&j->families[i]) && j->families[i].noise == NOISE_TASK && j->families[i].n_needed > needed)
            needed = j->families[i].n_needed;
    buf_printf(b, "%zu primary metric%s undecided over %zu task%s", y->primary[VERDICT_INCONCLUSIVE],
               y->primary[VERDICT_INCONCLUSIVE] == 1 ? " is" : "s are", j->n_pairs, j->n_pairs == 1 ? "" : "s");
    if (needed)
        buf_printf(b, ", about %zu would decide", needed);
}

static enum status find_headline(struct judgement *j, const struct tally *y, struct error *err)
{
    const struct finding *f = strongest(j, j->verdict);
    AUTO(buf) b = {0};
    char *text = NULL;

    buf_puts(&b, j->verdict == VERDICT_NONE ? "no verdict" : verdict_name(j->verdict));
    buf_puts(&b, ": ");
    if (f) {
        words_place(&b, f->metric, &f->where);
        buf_putc(&b, ' ');
        words_move(&b, &f->effect, f->unit);
    } else if (j->verdict == VERDICT_PASS) {
        buf_printf(&b, "%zu of %zu primary metrics stayed within their margins over %zu task%s",
                   y->primary[VERDICT_PASS], y->primary[VERDICT_PASS] + y->primary[VERDICT_INCONCLUSIVE], j->n_pairs,
                   j->n_pairs == 1 ? "" : "s");
        if (y->primary[VERDICT_INCONCLUSIVE])
            buf_printf(&b, ", %zu undecided", y->primary[VERDICT_INCONCLUSIVE]);
    } else if (j->verdict == VERDICT_INCONCLUSIVE) {
        put_undecided(&b, j, y);
    } else {
        buf_puts(&b, j->n_reasons ? j->reasons[0] : "nothing to say");
    }
    TRY(buf_check(&b, err));
    TRY(arena_strdup(&j->arena, buf_text(&b), &text, err));
    j->headline = text;
    return OK;
}

enum status overall_judge(struct judgement *j, const struct comparison *c, const struct tested *t, struct error *err)
{
    struct tally y;

    count(&y, j, c, t);
    j->verdict = whole(&y, c->policy);
    j->exit_code = EXIT_OK;
    if (j->verdict == VERDICT_REGRESSED)
        j->exit_code = EXIT_REGRESSED;
    if (j->verdict == VERDICT_NONE || (j->verdict == VERDICT_INCONCLUSIVE && c->policy->inconclusive_fails))
        j->exit_code = EXIT_UNDECIDED;
    TRY(find_reasons(j, c, t, &y, err));
    return find_headline(j, &y, err);
}
