#include "core/client/earlier.h"

#include "core/base/mem.h"
#include "core/base/scope.h"

#include <stdlib.h>
#include <string.h>

void earlier_done(struct earlier *e)
{
    free(e->order);
    memset(e, 0, sizeof *e);
}

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_key(const struct exchange *a, const struct exchange *b)
{
    int c = strcmp(a->task, b->task);

    if (c == 0)
        c = by_number(a->repeat, b->repeat);
    return c ? c : by_number(a->turn, b->turn);
}

static int by_key_and_place(const void *a, const void *b, void *ctx)
{
    const struct exchange *x = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    int c = by_key(&x[i], &x[k]);

    return c ? c : by_number((int64_t)i, (int64_t)k);
}

enum status earlier_init(struct earlier *e, const struct run *run, struct error *err)
{
    size_t i, n = run ? run->n_exchanges : 0;

    memset(e, 0, sizeof *e);
    e->run = run;
    TRY(mem_new(n, sizeof *e->order, &e->order, err));
    for (i = 0; i < n; i++)
        e->order[i] = i;
    if (n > 0)
        qsort_r(e->order, n, sizeof *e->order, by_key_and_place, run->exchanges);
    for (i = 0; i < n; i++) { /* of equal keys the last stays */
        if (e->n > 0 && by_key(&run->exchanges[e->order[e->n - 1]], &run->exchanges[e->order[i]]) == 0)
            e->n--;
        e->order[e->n++] = e->order[i];
    }
    return OK;
}

const struct exchange *earlier_find(const struct earlier *e, const char *task, int64_t turn, int64_t repeat)
{
    struct exchange key = {.task = (char *)task, .turn = turn, .repeat = repeat};
    size_t low = 0, high = e->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = by_key(&e->run->exchanges[e->order[mid]], &key);

        if (c == 0)
            return &e->run->exchanges[e->order[mid]];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

enum status earlier_skip(const struct earlier *e, struct talk *t, bool uses_reference, bool *ret_over,
                         bool *ret_refused, struct error *err)
{
    *ret_over = *ret_refused = false;
    for (; t->turn <= (int64_t)t->task->n_turns; t->turn++) {
        const struct exchange *x = earlier_find(e, t->task->id, t->turn, t->unit.repeat);
        AUTO(reply) r = {0};

        if (!x)
            return OK;
        if (*ret_refused)
            continue;
        TRY(reply_read(&r, x, e->run->events + x->first_event, e->run->bytes, err));
        if (!talk_is_settled(&r))
            return OK;
        *ret_refused = r.is_context_overflow;
        if (!*ret_refused)
            TRY(talk_keep_reply(t, uses_reference ? t->task->turns[t->turn - 1].reference : buf_text(&r.text), err));
    }
    *ret_over = true;
    return OK;
}
