#include "core/model/observed.h"

#include <string.h>

static bool same_reads(const struct run *a, const struct exchange *x, const struct run *b, const struct exchange *y)
{
    size_t i;

    if (x->n_events != y->n_events || x->sent_ns != y->sent_ns || x->status != y->status)
        return false;
    for (i = 0; i < x->n_events; i++) {
        const struct read_event *e = &a->events[x->first_event + i], *f = &b->events[y->first_event + i];

        if (e->t_ns != f->t_ns || e->len != f->len || memcmp(a->bytes + e->offset, b->bytes + f->offset, e->len) != 0)
            return false;
    }
    return true;
}

static bool same_request(const struct exchange *x, const struct exchange *y)
{
    return x->turn == y->turn && strcmp(x->task, y->task) == 0;
}

/* Whether `a` has asked what `y` asked, and whether one of its answers is the one of `y`. */
static bool look_up(const struct run *a, const struct run *b, const struct exchange *y, bool *ret_is_same)
{
    bool is_asked = false;
    size_t i;

    *ret_is_same = false;
    for (i = 0; i < a->n_exchanges && !*ret_is_same; i++)
        if (same_request(&a->exchanges[i], y)) {
            is_asked = true;
            *ret_is_same = same_reads(a, &a->exchanges[i], b, y);
        }
    return is_asked;
}

bool observed_twice(const struct run *a, const struct run *b)
{
    bool is_seen = false;
    size_t i;

    for (i = 0; i < b->n_exchanges; i++) {
        const struct exchange *y = &b->exchanges[i];
        bool is_same;

        if (!look_up(a, b, y, &is_same))
            continue;
        if (!is_same)
            return false;
        is_seen = is_seen || y->n_events > 1;
    }
    return is_seen;
}
