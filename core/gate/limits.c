#include "core/gate/limits.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"
#include "core/gate/words.h"
#include "core/stats/binomial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How sure it must be that a tail objective is kept. */
static const double PROOF = 0.99;

/* Results gathered before they go into the arena. */
struct results {
    struct limit_result *items; /* owned */
    size_t n, cap;
};

static void results_done(struct results *r)
{
    free(r->items);
    memset(r, 0, sizeof *r);
}

bool limit_fails(const struct limit_result *r)
{
    return r->broken && !r->broken_by_base && r->limit.severity == SEVERITY_FAIL;
}

static bool holds(const struct limit *l, double value)
{
    switch (l->op) {
    case LIMIT_LT:
        return value < l->value;
    case LIMIT_LE:
        return value <= l->value;
    case LIMIT_GT:
        return value > l->value;
    default:
        return value >= l->value;
    }
}

/* Index along an axis for a label; 0 where the label is -1 (over all, or an axis that the cube has not). */
static size_t label_at(const struct run *r, enum axis axis, int64_t label)
{
    return label < 0 ? 0 : axes_find(&r->axes, axis, label);
}

/* What a run has at one place. */
struct at_place {
    double stat;      /* NaN when there is nothing     */
    size_t n, n_over; /* values, those against the limit */
};

/* The stat over everything of the cell. */
static enum status look_at(const struct run *r, const char *metric, const char *stat, const struct where *w,
                           const struct limit *limit, struct at_place *ret, struct error *err)
{
    const struct cube *c = run_cube(r, metric);
    size_t at[N_AXES] = {0}, first_turn, n_turns, n = 0;
    double *values = NULL;

    *ret = (struct at_place){.stat = NAN};
    if (!c)
        return OK;
    at[AXIS_LAYER] = label_at(r, AXIS_LAYER, w->layer);
    at[AXIS_HEAD] = label_at(r, AXIS_HEAD, w->head);
    first_turn = label_at(r, AXIS_TURN, w->turn);
    if (at[AXIS_LAYER] == SIZE_MAX || at[AXIS_HEAD] == SIZE_MAX || first_turn == SIZE_MAX)
        return OK;
    n_turns = w->turn < 0 ? c->dim[AXIS_TURN] : 1;
    TRY(mem_new(cube_len(c), sizeof *values, &values, err));
    for (at[AXIS_TASK] = 0; at[AXIS_TASK] < c->dim[AXIS_TASK]; at[AXIS_TASK]++)
        for (at[AXIS_TURN] = first_turn; at[AXIS_TURN] < first_turn + n_turns; at[AXIS_TURN]++)
            for (at[AXIS_REPEAT] = 0; at[AXIS_REPEAT] < c->dim[AXIS_REPEAT]; at[AXIS_REPEAT]++) {
                double value = c->values[cube_index(c, at)];

                if (!isfinite(value))
                    continue;
                values[n++] = value;
                ret->n_over += !holds(limit, value);
            }
    ret->n = n;
    ret->stat = spread_stat(stat, values, n);
    free(values);
    return OK;
}

/* Of several runs the mean of their stats, and all of their values. */
static enum status look_at_all(const struct run *runs, size_t n_runs, const char *metric, const char *stat,
                               const struct where *w, const struct limit *limit, struct at_place *ret,
                               struct error *err)
{
    struct at_place all = {.stat = NAN};
    double sum = 0;
    size_t i, n = 0;

    for (i = 0; i < n_runs; i++) {
        struct at_place one;

        TRY(look_at(&runs[i], metric, stat, w, limit, &one, err));
        sum += isnan(one.stat) ? 0 : one.stat;
        n += !isnan(one.stat);
        all.n += one.n;
        all.n_over += one.n_over;
    }
    all.stat = n ? sum / (double)n : NAN;
    *ret = all;
    return OK;
}

/* What so many requests show of an upper limit on P95 or P99: a quantile of few is their largest and proves little. */
static void put_proof(struct buf *b, const struct limit_result *r, const char *stat, const struct at_place *seen)
{
    double quantile = strcmp(stat, "p99") == 0 ? 0.99 : 0.95;
    size_t needed;

    if ((strcmp(stat, "p95") != 0 && strcmp(stat, "p99") != 0) || r->limit.op == LIMIT_GT || r->limit.op == LIMIT_GE)
        return;
    buf_printf(b, "; %zu of %zu values beyond it", seen->n_over, seen->n);
    if (r->broken)
        return;
    if (binomial_confidence(seen->n_over, seen->n, quantile) >= PROOF) {
        buf_printf(b, ", which shows with %g %% confidence that %g %% of all keep it", 100 * PROOF, 100 * quantile);
        return;
    }
    needed = binomial_n_for(seen->n_over, quantile, PROOF);
    buf_printf(b, ": that %g %% of all keep it is shown with %g %% confidence by %zu values with no more beyond it",
               100 * quantile, 100 * PROOF, needed);
}

static enum status add_words(struct limit_result *r, const char *stat, const char *unit, const struct at_place *seen,
                             struct arena *texts, struct error *err)
{
    static const char *const ops[] = {"below ", "at most ", "above ", "at least "};
    AUTO(buf) b = {0};
    char *text = NULL;

    if (strcmp(stat, "mean") != 0)
        buf_printf(&b, "%s of ", stat);
    words_place(&b, r->metric, &r->where);
    buf_puts(&b, " is ");
    words_quantity(&b, r->cand, unit);
    buf_printf(&b, ", %s ", r->broken ? "but must be" : "as it must be,");
    buf_puts(&b, ops[r->limit.op]);
    words_quantity(&b, r->limit.value, unit);
    if (r->limit.reason)
        buf_printf(&b, " (%s)", r->limit.reason);
    if (r->broken && r->broken_by_base) {
        buf_puts(&b, "; the base breaks it too with ");
        words_quantity(&b, r->base, unit);
    }
    put_proof(&b, r, stat, seen);
    TRY(buf_check(&b, err));
    TRY(arena_strdup(texts, buf_text(&b), &text, err));
    r->words = text;
    return OK;
}

/* One limit at one place; appended when broken, or when `always`. */
static enum status check_place(struct results *out, const struct comparison *c, const struct rule_for *rule,
                               const struct limit *limit, const struct cube *cube, struct where where, bool always,
                               struct arena *texts, struct error *err)
{
    struct limit_result r = {.metric = cube->metric, .where = where, .limit = *limit, .base = NAN};
    const char *stat = rule->stat ? rule->stat : "mean";
    struct at_place seen, base;

    TRY(look_at_all(c->cand, c->n_cand, cube->metric, stat, &where, limit, &seen, err));
    TRY(look_at_all(c->base, c->n_base, cube->metric, stat, &where, limit, &base, err));
    r.cand = seen.stat;
    r.base = base.stat;
    r.broken = !isnan(r.cand) && !holds(limit, r.cand);
    r.broken_by_base = !isnan(r.base) && !holds(limit, r.base);
    if (isnan(r.cand) || (!r.broken && !always))
        return OK;
    TRY(arena_strdup(texts, limit->reason, &r.limit.reason, err));
    TRY(add_words(&r, stat, cube->unit, &seen, texts, err));
    TRY(mem_grow(&out->items, &out->cap, out->n + 1, sizeof *out->items, err));
    out->items[out->n++] = r;
    return OK;
}

/* The k-th of the places where a metric's limits are looked at; false behind the last. */
static bool place_at(const struct run *r, const struct cube *cube, size_t k, struct where *ret)
{
    size_t n_heads = cube->dim[AXIS_HEAD], n_layers = cube->dim[AXIS_LAYER];
    bool has_layers = (cube->axes & AXIS_BIT(AXIS_LAYER)) != 0;
    bool by_turn = !has_layers && cube->noise == NOISE_TASK && (cube->axes & AXIS_BIT(AXIS_TURN)) != 0;
    size_t turn;

    if (!n_heads || !n_layers)
        return false;
    turn = k / n_heads / n_layers;
    if (turn >= (by_turn ? cube->dim[AXIS_TURN] : 1))
        return false;
    *ret = (struct where){.turn = -1, .layer = -1, .head = -1};
    if (by_turn)
        ret->turn = r->axes.number[AXIS_TURN][turn];
    if (has_layers)
        ret->layer = r->axes.number[AXIS_LAYER][k / n_heads % n_layers];
    if (cube->axes & AXIS_BIT(AXIS_HEAD))
        ret->head = r->axes.number[AXIS_HEAD][k % n_heads];
    return true;
}

/* How far a value lies on the wrong side. */
static double excess(const struct limit_result *r)
{
    double over = r->cand - r->limit.value;

    return r->limit.op == LIMIT_GT || r->limit.op == LIMIT_GE ? -over : over;
}

static int worst_first(const void *a, const void *b)
{
    const struct limit_result *x = a, *y = b;
    double by;

    if (x->broken_by_base != y->broken_by_base)
        return x->broken_by_base ? 1 : -1;
    by = excess(y) - excess(x);
    if (by < 0 || by > 0)
        return by > 0 ? 1 : -1;
    return x->where.layer != y->where.layer ? (x->where.layer > y->where.layer) - (x->where.layer < y->where.layer)
           : x->where.head != y->where.head ? (x->where.head > y->where.head) - (x->where.head < y->where.head)
                                            : (x->where.turn > y->where.turn) - (x->where.turn < y->where.turn);
}

static enum status check_limit(struct results *out, const struct comparison *c, const struct rule_for *rule,
                               const struct limit *limit, const struct run *run, const struct cube *cube,
                               struct arena *texts, struct error *err)
{
    size_t k, before = out->n;
    struct where w;

    for (k = 0; place_at(run, cube, k, &w); k++)
        TRY(check_place(out, c, rule, limit, cube, w, false, texts, err));
    if (out->n > before)
        qsort(out->items + before, out->n - before, sizeof *out->items, worst_first);
    if (out->n > before || (cube->axes & AXIS_BIT(AXIS_LAYER)))
        return OK;
    w = (struct where){.turn = -1, .layer = -1, .head = -1};
    return check_place(out, c, rule, limit, cube, w, true, texts, err);
}

static size_t run_length(const struct limit_result *r, size_t n, size_t first)
{
    size_t i = first + 1;

    while (i < n && strcmp(r[i].metric, r[first].metric) == 0 && r[i].limit.op == r[first].limit.op &&
           !(r[i].limit.value < r[first].limit.value) && !(r[i].limit.value > r[first].limit.value))
        i++;
    return i - first;
}

size_t limits_of_one(const struct judgement *j, size_t first)
{
    return run_length(j->limits, j->n_limits, first);
}

/* The limits whose worst result fails, or those whose does not. */
static void take(struct judgement *j, const struct results *r, bool failing)
{
    size_t i, len;

    for (i = 0; i < r->n; i += len) {
        len = run_length(r->items, r->n, i);
        if (limit_fails(&r->items[i]) != failing)
            continue;
        memcpy(j->limits + j->n_limits, r->items + i, len * sizeof *r->items);
        j->n_limits += len;
    }
}

/* Whether the run is the first of the candidate's with a value of the metric: its labels are those that are looked at.
 */
static bool is_first_with(const struct comparison *c, size_t run, const char *metric)
{
    const struct cube *cube;
    size_t i;

    for (i = 0; i < run; i++) {
        cube = run_cube(&c->cand[i], metric);
        if (cube && cube_count(cube) > 0)
            return false;
    }
    cube = run_cube(&c->cand[run], metric);
    return cube && cube_count(cube) > 0;
}

static enum status check_run(struct results *out, const struct comparison *c, size_t run, struct arena *texts,
                             struct error *err)
{
    const struct run *r = &c->cand[run];
    size_t i, k;

    for (i = 0; i < r->n_cubes; i++) {
        const struct rule_for *rule = policy_rule(c->policy, r->cubes[i].metric);

        if (rule->role == ROLE_OFF || !rule->n_limits || !is_first_with(c, run, r->cubes[i].metric))
            continue;
        for (k = 0; k < rule->n_limits; k++)
            TRY(check_limit(out, c, rule, &rule->limits[k], r, &r->cubes[i], texts, err));
    }
    return OK;
}

enum status limits_check(struct judgement *j, const struct comparison *c, struct error *err)
{
    AUTO(results) out = {0};
    size_t i;

    for (i = 0; i < c->n_cand; i++)
        TRY(check_run(&out, c, i, &j->arena, err));
    TRY(arena_new(&j->arena, out.n, sizeof *j->limits, &j->limits, err));
    j->n_limits = 0;
    take(j, &out, true);
    take(j, &out, false);
    return OK;
}
