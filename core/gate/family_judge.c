#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/divergence.h"
#include "core/gate/family.h"
#include "core/gate/spread.h"
#include "core/gate/words.h"
#include "core/stats/bca.h"
#include "core/stats/interval.h"
#include "core/stats/mde.h"
#include "core/stats/relabel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double POWER = FAMILY_POWER;

/* Everything about a column but its interval, which takes a while. */
static struct effect column_effect(const struct tested *t, const struct comparison *c, size_t column)
{
    const struct signflip_cell *cell = &t->cells[column];
    struct effect e = effect_unknown();

    e.n = cell->n;
    e.base = pairs_mean(&t->pairs, t->pairs.base, column);
    e.cand = pairs_mean(&t->pairs, t->pairs.cand, column);
    e.delta = cell->mean;
    e.p = cell->p;
    e.p_min = cell->p_min;
    if (!isnan(cell->p_adj))
        e.p_adj = fmin(1, fmax(cell->p_adj * t->share, t->p_adj));
    if (e.p_min * t->share <= c->policy->alpha)
        e.mde = cell->n == t->pairs.n_tasks ? cell->sd * t->mde_of_one
                                            : mde_paired(cell->sd, cell->n, c->policy->alpha / t->share, POWER);
    return e;
}

/* Those that decide, and the bootstrap's, for the eye, beside them. decides, bca: [n] */
static enum status find_intervals(const struct tested *t, const struct comparison *c, const size_t *column, size_t n,
                                  struct interval *decides, struct interval *bca, struct error *err)
{
    const struct pairs *p = &t->pairs;
    double alpha = c->policy->alpha;

    TRY(interval_signflip(&t->flips, p->diff, p->n_columns, column, n, alpha, decides, err));
    return bca_intervals(p->diff, p->n_tasks, p->n_columns, column, n, c->seed, BCA_RESAMPLES, alpha, bca, err);
}

static void put_intervals(struct effect *e, const struct interval *decides, const struct interval *bca)
{
    e->ci_lo = decides->lo;
    e->ci_hi = decides->hi;
    e->bca_lo = bca->lo;
    e->bca_hi = bca->hi;
}

/* Both intervals of one column. */
static enum status add_intervals(const struct tested *t, const struct comparison *c, size_t column, struct effect *e,
                                 struct error *err)
{
    struct interval decides, bca;

    TRY(find_intervals(t, c, &column, 1, &decides, &bca, err));
    put_intervals(e, &decides, &bca);
    return OK;
}

/* Of a metric that should not move, and did. */
static enum verdict changed(const struct tested *t, const struct comparison *c)
{
    enum on_change on_change = t->rule->on_change;

    if (on_change == ON_CHANGE_DEFAULT)
        on_change =
            c->prompts_equal && strncmp(t->family.metric, "attn.", 5) == 0 ? ON_CHANGE_REGRESSED : ON_CHANGE_CHANGED;
    return on_change == ON_CHANGE_REGRESSED ? VERDICT_REGRESSED : VERDICT_CHANGED;
}

enum verdict family_moved(const struct tested *t, const struct comparison *c, const struct effect *e)
{
    const struct family *f = &t->family;

    /* NaN compares false: no margin, nothing moves beyond it. */
    if (!(fabs(e->delta) > f->margin) || !(e->p_adj <= c->policy->alpha))
        return VERDICT_NONE;
    if (t->only_rises && !(e->delta > 0))
        return VERDICT_NONE;
    if (f->better == BETTER_HIGHER)
        return e->delta < 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    if (f->better == BETTER_LOWER && !t->only_rises)
        return e->delta > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    return changed(t, c);
}

bool family_inside(const struct family *f)
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
        v = family_moved(t, c, &e);
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

double family_room(const struct family *f)
{
    if (f->better == BETTER_HIGHER)
        return f->margin + f->effect.delta;
    if (f->better == BETTER_LOWER)
        return f->margin - f->effect.delta;
    return f->margin - fabs(f->effect.delta);
}

/* Tasks that would decide: enough for p to get there, and for the mean to be told from the margin. 0: not known. */
static size_t needed(const struct tested *t, const struct comparison *c)
{
    const struct family *f = &t->family;
    double alpha = c->policy->alpha, sd = t->cells[t->pairs.n_cells].sd, room = family_room(f);
    size_t attainable = relabel_pairs_for(alpha / t->share, c->n_base + c->n_cand, SIGNFLIP_RESAMPLES);
    size_t enough;

    if (f->effect.p_min * t->share > alpha && !(sd > 0))
        return attainable;
    /* Outside: the move itself must be found. Inside: the interval, one-sided at alpha, must leave room. */
    if (room < 0)
        enough = mde_pairs_for(sd, fabs(f->effect.delta), alpha / t->share, POWER);
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
    enum verdict mean = family_moved(t, c, &f->effect);
    enum verdict gravest = cells > mean ? cells : mean;

    if (is_identical && !t->lost.n)
        return VERDICT_PASS;
    if (isnan(f->margin))
        return VERDICT_NONE;
    if (gravest == VERDICT_REGRESSED || gravest == VERDICT_CHANGED || (mean == VERDICT_IMPROVED && !t->lost.n))
        return gravest;
    /* What is missing may be what broke. Too few tasks to have shown anything: that nothing was seen says nothing. */
    if (t->lost.n || f->effect.p_min * t->share > c->policy->alpha || !family_inside(f))
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

    t->mde_of_one = mde_paired(1, t->pairs.n_tasks, c->policy->alpha / t->share, POWER);
    f->effect = column_effect(t, c, t->pairs.n_cells);
    TRY(add_intervals(t, c, t->pairs.n_cells, &f->effect, err));
    f->margin = spread_margin(t, c);
    cells = judge_cells(t, c, &worst);
    if (worst != SIZE_MAX)
        TRY(add_intervals(t, c, worst, &f->worst.effect, err));
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
    char *text = NULL;

    switch (t->state) {
    case FAMILY_TESTED:
        return judge_tested(t, c, texts, err);
    case FAMILY_RUN_NOISE:
    case FAMILY_RUN_TESTED:
        return spread_judge(t, c, texts, err);
    case FAMILY_OTHER_MACHINE:
        TRY(arena_printf(texts, &text, err, "not compared, %s", c->other_machine));
        t->family.words = text;
        break;
    case FAMILY_DESCRIBED:
        return divergence_describe(t, c, texts, err);
    case FAMILY_UNPAIRED:
        t->family.words = t->why_unpaired;
        break;
    }
    return OK;
}

/* The columns that moved, while their intervals are found side by side. */
struct moves {
    const struct tested *t;
    const struct comparison *c;
    struct move {
        size_t column;
        enum verdict verdict;
        struct effect effect;
    } * items; /* owned */
    size_t n;
};

static void moves_done(struct moves *m)
{
    free(m->items);
    memset(m, 0, sizeof *m);
}

static enum status find_moves(struct moves *m, size_t n_columns, struct error *err)
{
    size_t k;

    TRY(mem_new(n_columns, sizeof *m->items, &m->items, err));
    for (k = 0; k < n_columns; k++) {
        struct effect e = column_effect(m->t, m->c, k);
        enum verdict v = e.n ? family_moved(m->t, m->c, &e) : VERDICT_NONE;

        if (v != VERDICT_NONE)
            m->items[m->n++] = (struct move){.column = k, .verdict = v, .effect = e};
    }
    return OK;
}

static enum status bound_moves(struct moves *m, struct error *err)
{
    struct interval *both = NULL;
    size_t *column = NULL, i;
    enum status st;

    TRY(mem_new(2 * m->n, sizeof *both, &both, err));
    st = mem_new(m->n, sizeof *column, &column, err);
    for (i = 0; i < m->n && st == OK; i++)
        column[i] = m->items[i].column;
    if (st == OK)
        st = find_intervals(m->t, m->c, column, m->n, both, both + m->n, err);
    for (i = 0; i < m->n && st == OK; i++)
        put_intervals(&m->items[i].effect, &both[i], &both[m->n + i]);
    free(both);
    free(column);
    return st;
}

static enum status put_finding(const struct moves *m, size_t i, struct arena *texts, struct finding *ret,
                               struct error *err)
{
    const struct move *move = &m->items[i];
    AUTO(buf) words = {0};
    char *text = NULL;

    *ret = as_finding(m->t, &move->effect, move->column, move->verdict);
    words_finding(&words, ret, m->c->policy->alpha);
    TRY(buf_check(&words, err));
    TRY(arena_strdup(texts, buf_text(&words), &text, err));
    ret->words = text;
    return OK;
}

enum status family_findings(const struct tested *t, const struct comparison *c, struct arena *texts,
                            struct finding *ret, size_t *n, struct error *err)
{
    AUTO(moves) m = {.t = t, .c = c};
    size_t i;

    if (t->state == FAMILY_RUN_TESTED && t->family.n_beyond)
        ret[(*n)++] = t->family.worst;
    if (t->state != FAMILY_TESTED)
        return OK;
    TRY(find_moves(&m, t->pairs.n_cells > 1 ? t->pairs.n_columns : t->pairs.n_cells, err));
    TRY(bound_moves(&m, err));
    for (i = 0; i < m.n; i++)
        TRY(put_finding(&m, i, texts, &ret[(*n)++], err));
    return OK;
}
