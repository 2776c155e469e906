#include "core/gate/luck.h"

#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"

#include <stdlib.h>
#include <string.h>

/* How the replies were drawn, and what that means; nothing at temperature 0, or where it was not recorded. */
static void put_drawn(struct buf *b, const char *sampling)
{
    struct error ignored = {0};
    const json_t *temperature;
    AUTO(json) doc = {0};

    if (!sampling[0] || json_parse(&doc, "sampling", sampling, strlen(sampling), &ignored) != OK)
        return;
    temperature = json_object_get(doc.root, "temperature");
    if (json_is_number(temperature) && !(json_number_value(temperature) > 0))
        return;
    buf_puts(b, "warning: the replies were sampled at ");
    if (json_is_number(temperature))
        buf_printf(b, "temperature %.3g", json_number_value(temperature));
    else
        buf_puts(b, "the temperature that the server chose");
    if (json_object_get(doc.root, "seed"))
        buf_puts(b, " with one seed for all requests: tasks share their luck, which p over tasks does not count; ask "
                    "without --request-seed before relying on ");
    else
        buf_puts(b, ": where the server draws a whole run from one seed, tasks share their luck, which p over tasks "
                    "does not count; let it draw one for each request before relying on ");
}

static bool is_drawn(const struct tested *t)
{
    return t->state == FAMILY_TESTED && t->family.role == ROLE_PRIMARY &&
           (strncmp(t->family.metric, "intent.", 7) == 0 || strncmp(t->family.metric, "reply.", 6) == 0);
}

static bool has_moved(const struct tested *t)
{
    enum verdict v = t->family.verdict;

    return v == VERDICT_REGRESSED || v == VERDICT_CHANGED || v == VERDICT_IMPROVED;
}

/* The t test of the runs' means, which counts the luck that the tasks of a run share. */
static enum status put_over_runs(struct buf *b, const struct comparison *c, const char *metric, struct error *err)
{
    double *stats = NULL;
    enum status st = OK;
    struct run_t r;
    size_t i;

    TRY(mem_new(c->n_base + c->n_cand, sizeof *stats, &stats, err));
    for (i = 0; i < c->n_base + c->n_cand && st == OK; i++)
        st = spread_run_stat(i < c->n_base ? &c->base[i] : &c->cand[i - c->n_base], metric, NULL, &stats[i], err);
    if (st == OK && run_t_test(&r, stats, c->n_base, stats + c->n_base, c->n_cand, c->policy->alpha, FAMILY_POWER))
        buf_printf(b, "; the means of %zu runs against those of %zu differ with p = %.2g", r.n_cand, r.n_base, r.p);
    free(stats);
    return st;
}

enum status luck_words(struct judgement *j, const struct comparison *c, const struct tested *t, const char **ret,
                       struct error *err)
{
    AUTO(buf) b = {0};
    const char *first = NULL;
    char *text = NULL;
    size_t i;

    *ret = NULL;
    put_drawn(&b, c->cand->provenance.sampling);
    for (i = 0; b.len && i < j->n_families; i++) {
        if (!is_drawn(&t[i]) || !has_moved(&t[i]))
            continue;
        buf_printf(&b, "%s%s", first ? ", " : "", j->families[i].metric);
        first = first ? first : j->families[i].metric;
    }
    if (!first)
        return OK;
    if (c->n_base > 1 && c->n_cand > 1)
        TRY(put_over_runs(&b, c, first, err));
    TRY(buf_check(&b, err));
    TRY(arena_strdup(&j->arena, buf_text(&b), &text, err));
    *ret = text;
    return OK;
}
