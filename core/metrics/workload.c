#include "core/metrics/workload.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Somebody enters or leaves. */
struct turnstile {
    int64_t t_ns;
    int step;
};

void workload_done(struct workload *l)
{
    free(l->items);
    memset(l, 0, sizeof *l);
}

enum status workload_add(struct workload *l, const struct reply *r, double good, struct error *err)
{
    TRY(mem_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items, err));
    l->items[l->n++] = (struct workload_item){.begin_ns = r->sent_ns,
                                              .end_ns = r->end_ns,
                                              .tokens = r->completion_tokens < 0 ? NAN : (double)r->completion_tokens,
                                              .good = good,
                                              .is_answer = reply_has_answer(r)};
    return OK;
}

static bool has_span(const struct workload_item *i)
{
    return i->begin_ns != NS_UNKNOWN && i->end_ns != NS_UNKNOWN && i->end_ns >= i->begin_ns;
}

static bool shares_clock(const struct workload *l)
{
    const struct workload_item *first = NULL;
    bool is_alone = true;
    size_t i;

    for (i = 0; i < l->n; i++) {
        if (!has_span(&l->items[i]))
            continue;
        if (first && l->items[i].begin_ns != first->begin_ns)
            return true;
        is_alone = !first;
        first = &l->items[i];
    }
    return first && is_alone;
}

/* At one instant, leaving comes before entering: a request that begins when another ends was never beside it. */
static int by_time(const void *a, const void *b)
{
    const struct turnstile *x = a, *y = b;

    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static void walk(struct workload *l, struct turnstile *t, size_t n)
{
    double busy_ns = 0;
    int64_t now = 0;
    size_t i;

    qsort(t, n, sizeof *t, by_time);
    for (i = 0; i < n; i++) {
        if (i)
            busy_ns += (double)now * ((double)t[i].t_ns - (double)t[i - 1].t_ns);
        now += t[i].step;
        if (now > (int64_t)l->peak)
            l->peak = (size_t)now;
    }
    l->wall_s = n ? ((double)t[n - 1].t_ns - (double)t[0].t_ns) / 1e9 : NAN;
    l->concurrency = l->wall_s > 0 ? busy_ns / 1e9 / l->wall_s : NAN;
}

static void sum_answers(struct workload *l)
{
    size_t i;

    l->has_good = l->n > 0;
    for (i = 0; i < l->n; i++) {
        const struct workload_item *it = &l->items[i];

        if (isnan(it->good))
            l->has_good = false;
        l->n_good += it->good > 0.5;
        if (!it->is_answer)
            continue;
        l->n_answers++;
        l->tokens += it->tokens;
    }
}

enum status workload_sum(struct workload *l, struct error *err)
{
    struct turnstile *t = NULL;
    size_t n = 0, i;

    l->wall_s = l->concurrency = NAN;
    l->tokens = 0;
    sum_answers(l);
    if (!shares_clock(l))
        return OK;
    TRY(mem_new(2 * l->n, sizeof *t, &t, err));
    for (i = 0; i < l->n; i++) {
        if (!has_span(&l->items[i]))
            continue;
        t[n++] = (struct turnstile){.t_ns = l->items[i].begin_ns, .step = 1};
        t[n++] = (struct turnstile){.t_ns = l->items[i].end_ns, .step = -1};
    }
    walk(l, t, n);
    free(t);
    return OK;
}
