#include "core/metrics/intent.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/client/repair.h"
#include "core/metrics/pattern.h"
#include "core/metrics/quantity.h"
#include "core/metrics/textmatch.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A text to be found: as a quantity by value, else as words. */
struct needle {
    const char *text; /* folded; borrowed from the arena */
    size_t len;
    bool is_quantity, has_digit;
    struct quantity quantity;
};

struct wanted {
    struct needle *any; /* [n]: one of them is enough */
    size_t n;
};

/* A pattern, or a needle where the rule is a plain text. */
struct compiled {
    const char *name; /* borrowed from the task set */
    struct pattern pattern;
    bool has_pattern;
    struct needle needle;
};

struct turn_rules {
    const char *task; /* copied */
    int64_t turn;
    struct wanted *entities;
    size_t n_entities;
    struct compiled *actions, *must_not;
    size_t n_actions, n_must_not;
};

struct intent_rules {
    struct arena arena; /* owns all but the patterns' code */
    struct turn_rules *turns;
    size_t n;
};

/* The reply in the forms that rules are held against. */
struct said {
    struct buf valid, folded, cased;
    struct quantity *quantities; /* owned: of `cased` */
    size_t n, cap;
};

static void said_done(struct said *s)
{
    buf_done(&s->valid);
    buf_done(&s->folded);
    buf_done(&s->cased);
    free(s->quantities);
}

static void rules_free(struct compiled *rules, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        pattern_done(&rules[i].pattern);
}

void intent_done(struct intent *in)
{
    size_t i;

    if (!in->rules)
        return;
    for (i = 0; i < in->rules->n; i++) {
        rules_free(in->rules->turns[i].actions, in->rules->turns[i].n_actions);
        rules_free(in->rules->turns[i].must_not, in->rules->turns[i].n_must_not);
    }
    arena_done(&in->rules->arena);
    free(in->rules);
    in->rules = NULL;
}

static enum status needle_init(struct needle *n, struct arena *arena, const char *text, struct error *err)
{
    AUTO(buf) folded = {0};
    AUTO(buf) cased = {0};
    char *copy;

    TRY(textmatch_normalise(&folded, text, strlen(text), TEXTMATCH_FOLDED, err));
    TRY(textmatch_normalise(&cased, text, strlen(text), TEXTMATCH_CASED, err));
    if (folded.len == 0)
        return error_set(err, ERR_FORMAT, "'%.40s' has no visible character, so that no reply can hold it", text);
    TRY(arena_strndup(arena, folded.data, folded.len, &copy, err));
    n->text = copy;
    n->len = folded.len;
    n->is_quantity = quantity_whole(buf_text(&cased), cased.len, &n->quantity);
    n->has_digit = strpbrk(copy, "0123456789") != NULL;
    return OK;
}

static enum status entities_init(struct turn_rules *r, const struct turn *turn, struct arena *arena, struct error *err)
{
    size_t i, k;

    TRY(arena_new(arena, turn->n_entities, sizeof *r->entities, &r->entities, err));
    for (i = 0; i < turn->n_entities; i++) {
        const struct entity *e = &turn->entities[i];
        struct wanted *w = &r->entities[i];

        TRY(arena_new(arena, e->n, sizeof *w->any, &w->any, err));
        for (k = 0; k < e->n; k++)
            TRY(needle_init(&w->any[k], arena, e->text[k], err));
        w->n = e->n;
    }
    r->n_entities = turn->n_entities;
    return OK;
}

static enum status compiled_init(struct compiled *c, const struct rule *rule, struct arena *arena, struct error *err)
{
    char *name;

    TRY(arena_strdup(arena, rule->name ? rule->name : "", &name, err));
    c->name = name;
    if (!rule->pattern)
        return needle_init(&c->needle, arena, rule->text ? rule->text : "", err);
    TRY(pattern_init(&c->pattern, rule->pattern, err));
    c->has_pattern = true;
    return OK;
}

/* `*ret_n` counts what is ready, so that a failure releases just that. */
static enum status compile_all(struct compiled **ret, size_t *ret_n, const struct rule *rules, size_t n,
                               const char *what, struct arena *arena, struct error *err)
{
    size_t i;

    TRY(arena_new(arena, n, sizeof **ret, ret, err));
    for (i = 0; i < n; i++) {
        enum status st = compiled_init(&(*ret)[i], &rules[i], arena, err);

        if (st != OK) {
            error_context(err, "%s '%s'", what, rules[i].name ? rules[i].name : "");
            return st;
        }
        *ret_n = i + 1;
    }
    return OK;
}

static enum status turn_init(struct turn_rules *r, const struct turn *turn, struct arena *arena, struct error *err)
{
    TRY(entities_init(r, turn, arena, err));
    TRY(compile_all(&r->actions, &r->n_actions, turn->actions, turn->n_actions, "action", arena, err));
    return compile_all(&r->must_not, &r->n_must_not, turn->must_not, turn->n_must_not, "must_not", arena, err);
}

static enum status task_init(struct intent_rules *rules, const struct task *task, struct error *err)
{
    size_t i;
    char *id;

    TRY(arena_strdup(&rules->arena, task->id, &id, err));
    for (i = 0; i < task->n_turns; i++) {
        struct turn_rules *r = &rules->turns[rules->n++];
        enum status st;

        r->task = id;
        r->turn = (int64_t)i + 1;
        st = turn_init(r, &task->turns[i], &rules->arena, err);
        if (st != OK) {
            error_context(err, "task '%s', turn %zu", task->id, i + 1);
            return st;
        }
    }
    return OK;
}

static enum status rules_init(struct intent_rules *rules, const struct taskset *tasks, struct error *err)
{
    size_t n_turns = 0, i;

    for (i = 0; i < tasks->n_tasks; i++)
        n_turns += tasks->tasks[i].n_turns;
    TRY(arena_new(&rules->arena, n_turns, sizeof *rules->turns, &rules->turns, err));
    for (i = 0; i < tasks->n_tasks; i++)
        TRY(task_init(rules, &tasks->tasks[i], err));
    return OK;
}

enum status intent_init(struct intent *in, const struct taskset *tasks, struct error *err)
{
    AUTO(intent) made = {0};

    TRY(mem_new(1, sizeof *made.rules, &made.rules, err));
    TRY(rules_init(made.rules, tasks, err));
    *in = made;
    made.rules = NULL;
    return OK;
}

static const struct turn_rules *find_turn(const struct intent *in, const char *task, int64_t turn)
{
    size_t i;

    for (i = 0; i < in->rules->n; i++) {
        const struct turn_rules *r = &in->rules->turns[i];

        if (r->turn == turn && strcmp(r->task, task) == 0)
            return r;
    }
    return NULL;
}

static enum status said_init(struct said *s, const char *text, size_t len, struct error *err)
{
    struct quantity q;
    size_t at = 0;

    repair_utf8(&s->valid, text, len);
    TRY(buf_check(&s->valid, err));
    TRY(textmatch_normalise(&s->folded, text, len, TEXTMATCH_FOLDED, err));
    TRY(textmatch_normalise(&s->cased, text, len, TEXTMATCH_CASED, err));
    while (quantity_next(buf_text(&s->cased), s->cased.len, &at, &q)) {
        TRY(mem_grow(&s->quantities, &s->cap, s->n + 1, sizeof q, err));
        s->quantities[s->n++] = q;
    }
    return OK;
}

/* Quantities by value alone, so that 12 is not found in 12:30; number words also as the words that they are. */
static bool is_said(const struct said *s, const struct needle *n)
{
    size_t i;

    for (i = 0; n->is_quantity && i < s->n; i++) {
        if (quantity_meets(&s->quantities[i], &n->quantity))
            return true;
    }
    if (n->is_quantity && n->has_digit)
        return false;
    return textmatch_has(buf_text(&s->folded), s->folded.len, n->text, n->len);
}

static size_t count_entities(const struct said *s, const struct turn_rules *r)
{
    size_t n = 0, i, k;

    for (i = 0; i < r->n_entities; i++) {
        for (k = 0; k < r->entities[i].n && !is_said(s, &r->entities[i].any[k]); k++)
            continue;
        n += k < r->entities[i].n;
    }
    return n;
}

static enum status rule_holds(const struct said *s, const struct compiled *c, bool *ret, struct error *err)
{
    bool is_hit = false;

    if (!c->has_pattern) {
        *ret = is_said(s, &c->needle);
        return OK;
    }
    TRY(pattern_match(&c->pattern, buf_text(&s->folded), s->folded.len, &is_hit, err));
    if (!is_hit)
        TRY(pattern_match(&c->pattern, buf_text(&s->valid), s->valid.len, &is_hit, err));
    *ret = is_hit;
    return OK;
}

static enum status count_rules(const struct said *s, const struct compiled *rules, size_t n, const char *what,
                               size_t *ret, struct error *err)
{
    size_t n_hits = 0, i;

    for (i = 0; i < n; i++) {
        bool is_hit = false;
        enum status st = rule_holds(s, &rules[i], &is_hit, err);

        if (st != OK) {
            error_context(err, "%s '%s'", what, rules[i].name);
            return st;
        }
        n_hits += is_hit;
    }
    *ret = n_hits;
    return OK;
}

static double share(size_t n, size_t of)
{
    return of ? (double)n / (double)of : NAN;
}

static double align(const struct intent_score *s, size_t n_forbidden)
{
    const double parts[] = {s->entities, s->actions, s->negations};
    double sum = 0;
    size_t n = 0, i;

    for (i = 0; i < 3; i++) {
        if (!isnan(parts[i])) {
            sum += parts[i];
            n++;
        }
    }
    if (n == 0)
        return NAN;
    return n_forbidden ? 0 : sum / (double)n;
}

static enum status score(const struct turn_rules *r, const struct said *s, struct intent_score *ret, struct error *err)
{
    size_t n_actions = 0, n_forbidden = 0;

    TRY(count_rules(s, r->actions, r->n_actions, "action", &n_actions, err));
    TRY(count_rules(s, r->must_not, r->n_must_not, "must_not", &n_forbidden, err));
    ret->entities = share(count_entities(s, r), r->n_entities);
    ret->actions = share(n_actions, r->n_actions);
    ret->negations = share(r->n_must_not - n_forbidden, r->n_must_not);
    ret->alignment = align(ret, n_forbidden);
    return OK;
}

enum status intent_score(const struct intent *in, const char *task, int64_t turn, const char *text, size_t len,
                         struct intent_score *ret, struct error *err)
{
    const struct turn_rules *r = find_turn(in, task, turn);
    AUTO(said) s = {0};
    struct intent_score made = {NAN, NAN, NAN, NAN};
    enum status st;

    if (r && r->n_entities + r->n_actions + r->n_must_not > 0) {
        TRY(said_init(&s, text, len, err));
        st = score(r, &s, &made, err);
        if (st != OK) {
            error_context(err, "task '%s', turn %lld", task, (long long)turn);
            return st;
        }
    }
    *ret = made;
    return OK;
}
