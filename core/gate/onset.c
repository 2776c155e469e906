#include "core/gate/onset.h"

#include "core/base/scope.h"
#include "core/gate/words.h"

#include <math.h>

/* Whether any task differs in the column. */
static bool differs(const struct pairs *p, size_t column)
{
    size_t i;

    for (i = 0; i < p->n_tasks; i++)
        if (fabs(p->diff[i * p->n_columns + column]) > 0)
            return true;
    return false;
}

struct onset {
    int64_t first, before, layer; /* lowest layer; last and first of: the same, differing; -1 none */
    int64_t head;                 /* where it differs in that layer; -1 several, or no heads       */
};

/* The lowest layer in which a cell differs; -1 none. */
static int64_t first_differing(const struct pairs *p)
{
    int64_t layer = -1;
    size_t k;

    for (k = 0; k < p->n_cells; k++)
        if ((layer < 0 || p->cell[k].layer < layer) && differs(p, k))
            layer = p->cell[k].layer;
    return layer;
}

static struct onset find(const struct pairs *p)
{
    struct onset o = {-1, -1, first_differing(p), -1};
    size_t k, n = 0;

    for (k = 0; k < p->n_cells; k++) {
        int64_t layer = p->cell[k].layer;

        if (isnan(pairs_mean(p, p->diff, k)) || layer > o.layer)
            continue;
        if (layer < o.layer) {
            if (o.first < 0)
                o.first = layer;
            o.before = layer;
        } else if (differs(p, k)) {
            o.head = n++ ? -1 : p->cell[k].head;
        }
    }
    return o;
}

enum status onset_words(const struct tested *t, struct arena *texts, const char **ret, struct error *err)
{
    AUTO(buf) b = {0};
    struct onset o;
    char *text = NULL;

    *ret = NULL;
    if (t->state != FAMILY_TESTED || !t->pairs.has_layers)
        return OK;
    o = find(&t->pairs);
    if (o.layer < 0 || o.before < 0)
        return OK;
    words_layers(&b, o.first, o.before);
    buf_printf(&b, " %s the same %s to the last bit in every task, differences begin at layer %lld",
               o.first == o.before ? "has" : "have", t->family.metric, (long long)o.layer);
    if (o.head >= 0)
        buf_printf(&b, ", there in head %lld alone", (long long)o.head);
    buf_printf(&b, ": consistent with other weights in the attention of layer %lld", (long long)o.layer);
    if (o.layer == o.before + 1)
        buf_printf(&b, " or behind that of layer %lld", (long long)o.before);
    else
        buf_printf(&b, " or between it and layer %lld", (long long)o.before);
    buf_puts(&b, "; an internal metric alone proves no cause");
    TRY(buf_check(&b, err));
    TRY(arena_strdup(texts, buf_text(&b), &text, err));
    *ret = text;
    return OK;
}
