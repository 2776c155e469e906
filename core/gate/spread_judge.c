#include "core/base/buf.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"
#include "core/gate/words.h"

#include <math.h>

/* What is missing may be what became slow. */
static enum verdict verdict_of(const struct tested *t, const struct comparison *c)
{
    const struct family *f = &t->family;
    enum verdict v = family_moved(t, c, &f->effect);

    if (isnan(f->margin))
        return VERDICT_NONE;
    if (v == VERDICT_REGRESSED || v == VERDICT_CHANGED || (v == VERDICT_IMPROVED && !t->lost.n))
        return v;
    return t->lost.n || !family_inside(f) ? VERDICT_INCONCLUSIVE : VERDICT_PASS;
}

/* Runs on each side that would decide; 0: not known. */
static size_t runs_needed(const struct tested *t, const struct comparison *c)
{
    double room = family_room(&t->family), alpha = c->policy->alpha;
    size_t n, fewer = t->runs.n_base < t->runs.n_cand ? t->runs.n_base : t->runs.n_cand;

    if (room < 0)
        n = run_t_runs_for(t->runs.sd, fabs(t->runs.delta), alpha / t->share, FAMILY_POWER);
    else
        n = run_t_runs_for(t->runs.sd, room, 2 * alpha, FAMILY_POWER);
    return n && n <= fewer ? fewer + 1 : n;
}

static void put_move(struct buf *b, const struct tested *t)
{
    const struct family *f = &t->family;

    buf_printf(b, "the %s ", t->rule->stat ? t->rule->stat : "mean");
    words_move(b, &f->effect, f->unit);
    if (fabs(f->effect.base) > 0)
        buf_printf(b, ", %+.3g %%", 100 * f->effect.delta / fabs(f->effect.base));
}

/* "5 runs against 1" */
static void put_sides(struct buf *b, const struct tested *t)
{
    buf_printf(b, "%zu run%s against %zu", t->runs.n_base, t->runs.n_base == 1 ? "" : "s", t->runs.n_cand);
}

static void put_untested(struct buf *b, const struct tested *t)
{
    put_move(b, t);
    buf_puts(b, "; ");
    put_sides(b, t);
    if (t->runs.n_base + t->runs.n_cand < 3)
        buf_puts(b, ": one run cannot tell a change from a slow minute, so it is shown and not judged");
    else
        buf_puts(b, ": the runs of a side are the same to the last bit and show no noise, so it is shown and not "
                    "judged");
}

static void put_power(struct buf *b, const struct tested *t)
{
    const struct family *f = &t->family;

    buf_puts(b, "; ");
    put_sides(b, t);
    buf_puts(b, " detect ");
    words_quantity(b, f->effect.mde, f->unit);
    buf_puts(b, " or more");
    if (f->effect.mde > f->margin)
        buf_puts(b, ", more than the margin: too few to gate on it");
    if (f->n_needed)
        buf_printf(b, "; about %zu runs on each side would decide", f->n_needed);
    else if (f->verdict == VERDICT_INCONCLUSIVE)
        buf_puts(b, "; it lies so close to the margin that more runs would hardly decide");
}

static void put_tested(struct buf *b, const struct tested *t, double alpha)
{
    const struct family *f = &t->family;

    if (t->lost.n) {
        words_lost(b, &t->lost);
        buf_puts(b, "; what both have: ");
    }
    if (f->verdict == VERDICT_INCONCLUSIVE && !t->lost.n)
        buf_puts(b, "undecided: ");
    put_move(b, t);
    buf_puts(b, "; ");
    if (words_interval(b, &f->effect, alpha))
        buf_puts(b, "; ");
    buf_printf(b, "tested over runs, %zu against %zu, which differ by ", t->runs.n_base, t->runs.n_cand);
    words_quantity(b, t->runs.sd, f->unit);
    buf_printf(b, "; adjusted p = %.2g; ", f->effect.p_adj);
    if (isnan(f->margin)) {
        buf_puts(b, "no margin is known for it, so it is not judged");
        return;
    }
    buf_puts(b, "margin ");
    words_quantity(b, f->margin, f->unit);
    if (!t->lost.n && (f->verdict == VERDICT_INCONCLUSIVE || (f->verdict == VERDICT_PASS && f->effect.mde > f->margin)))
        put_power(b, t);
    if (t->rule->role == ROLE_PRIMARY && f->role != ROLE_PRIMARY)
        buf_printf(b, "; with one %s run it informs and does not decide: measure the %s twice at least",
                   t->runs.n_cand < 2 ? "candidate" : "base", t->runs.n_cand < 2 ? "candidate" : "base");
}

static enum status finish(const struct buf *b, struct arena *texts, const char **ret, struct error *err)
{
    char *text = NULL;

    TRY(buf_check(b, err));
    TRY(arena_strdup(texts, buf_text(b), &text, err));
    *ret = text;
    return OK;
}

enum status spread_judge(struct tested *t, const struct comparison *c, struct arena *texts, struct error *err)
{
    struct family *f = &t->family;
    AUTO(buf) b = {0};

    if (t->state == FAMILY_RUN_NOISE) {
        put_untested(&b, t);
        TRY(finish(&b, texts, &f->words, err));
        f->worst.words = f->words;
        return OK;
    }
    f->effect.p_adj = fmin(1, fmax(f->effect.p * t->share, t->p_adj));
    f->effect.mde =
        run_t_detectable(t->runs.sd, t->runs.n_base, t->runs.n_cand, c->policy->alpha / t->share, FAMILY_POWER);
    f->verdict = verdict_of(t, c);
    f->n_beyond = family_moved(t, c, &f->effect) != VERDICT_NONE;
    if (f->verdict == VERDICT_INCONCLUSIVE && !t->lost.n)
        f->n_needed = runs_needed(t, c);
    put_tested(&b, t, c->policy->alpha);
    TRY(finish(&b, texts, &f->words, err));
    f->worst.effect = f->effect;
    f->worst.margin = f->margin;
    f->worst.verdict = family_moved(t, c, &f->effect);
    buf_clear(&b);
    buf_printf(&b, "%s: %s", f->metric, f->words);
    return finish(&b, texts, &f->worst.words, err);
}
