#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/loader.h"

#include <stdlib.h>

/* Answers that may wait for the clerk before nothing new is begun: a slow disk is no reason for endless memory. */
enum { MAX_PENDING_EACH = 4, MAX_PENDING = 64 };

static enum status new_talk(struct loader *l, const struct plan_unit *unit, struct talk **ret, struct error *err)
{
    struct talk *t = talk_list_pop(&l->spare);

    if (!t) {
        TRY(mem_grow(&l->all, &l->cap_all, l->n_all + 1, sizeof(struct talk *), err));
        TRY(mem_new(1, sizeof *t, &t, err));
        t->transfer.bytes.limit = l->o->transport.max_reply_bytes;
        l->all[l->n_all++] = t;
    }
    talk_begin(t, &l->tasks->tasks[unit->task], unit);
    *ret = t;
    return OK;
}

void loader_drop(struct loader *l, struct talk *t)
{
    l->n_open--;
    talk_list_push(&l->spare, t);
}

static enum status send(struct loader *l, struct talk *t, int64_t scheduled_ns, struct error *err)
{
    t->transfer.scheduled_ns = scheduled_ns;
    if (t->n_failed_attempts == 0)
        TRY(talk_write(t, &l->arms[t->unit.arm], err));
    TRY(transport_start(&l->transport, &t->transfer, err));
    if (l->o->max_rate > 0)
        l->next_start_ns = t->transfer.started_ns + (int64_t)(1e9 / l->o->max_rate);
    if (!t->is_warmup)
        l->stats.state.n_sent++;
    return OK;
}

static bool is_open_loop(const struct loader *l)
{
    return l->o->plan.arrivals != ARRIVE_CLOSED;
}

/* The first in `waiting` that is due; the list is short, since each stands for a failure. */
static struct talk *take_due(struct loader *l, int64_t now_ns, int64_t *next_ns)
{
    struct talk *before = NULL, *t;

    for (t = l->waiting.first; t; before = t, t = t->next) {
        if (t->due_ns > now_ns) {
            if (t->due_ns < *next_ns)
                *next_ns = t->due_ns;
            continue;
        }
        if (before)
            before->next = t->next;
        else
            l->waiting.first = t->next;
        if (l->waiting.last == t)
            l->waiting.last = before;
        return t;
    }
    return NULL;
}

static bool has_place(const struct loader *l)
{
    return l->n_open < l->o->concurrency && l->n_pending < MAX_PENDING_EACH * l->o->concurrency + MAX_PENDING;
}

static enum status begin_warmup(struct loader *l, struct error *err)
{
    size_t n = l->n_warm_begun, arm = n % l->n_arms;
    struct plan_unit unit = {.task = l->plan.sampled[n / l->n_arms % l->plan.n], .arm = arm, .repeat = (int64_t)n + 1};
    struct talk *t = NULL;

    TRY(new_talk(l, &unit, &t, err));
    t->is_warmup = true;
    l->n_open++;
    l->n_warm_begun++;
    return send(l, t, NS_UNKNOWN, err);
}

/* Passes over what was finished before; `ret` NULL where all of the unit was. */
static enum status open_unit(struct loader *l, struct talk **ret, struct error *err)
{
    struct talk *t = NULL;
    bool is_over, was_refused;

    *ret = NULL;
    TRY(new_talk(l, &l->unit, &t, err));
    TRY(earlier_skip(&l->earlier[l->unit.arm], t, l->o->uses_reference, &is_over, &was_refused, err));
    l->tallies[l->unit.arm].n_answered += t->n_replies;
    l->n_open++;
    if (is_over) {
        l->stats.state.n_done++;
        l->n_first_pass += l->unit.repeat == 1;
        loader_drop(l, t);
        return OK;
    }
    if (was_refused) {
        talk_report_not_asked(t, &l->arms[t->unit.arm], TALK_TOO_LONG);
        l->n_pending++;
        clerk_give(&l->clerk, &t->job);
        return OK;
    }
    *ret = t;
    return OK;
}

static void note_begun(struct loader *l, int64_t due_ns, int64_t now_ns)
{
    if (l->n_begun++ == 0) {
        l->first_due_ns = due_ns;
        l->first_begun_ns = now_ns;
    }
    l->last_due_ns = due_ns;
    l->last_begun_ns = now_ns;
}

/* The next conversation of the plan, where it is its turn. */
static enum status begin_unit(struct loader *l, int64_t now_ns, int64_t *next_ns, bool *ret_begun, struct error *err)
{
    int64_t due_ns = is_open_loop(l) ? l->stats.began_ns + l->unit.due_ns : NS_UNKNOWN;
    size_t n_turns = l->tasks->tasks[l->unit.task].n_turns;
    struct talk *t = NULL;

    *ret_begun = false;
    if (is_open_loop(l) && due_ns > now_ns) {
        if (due_ns < *next_ns)
            *next_ns = due_ns;
        return OK;
    }
    if (l->o->max_requests && l->n_asked_for + n_turns > l->o->max_requests) {
        l->has_unit = false;
        return OK;
    }
    *ret_begun = true;
    TRY(open_unit(l, &t, err));
    l->n_asked_for += n_turns;
    l->has_unit = plan_next(&l->plan, &l->unit);
    if (!t)
        return OK;
    note_begun(l, due_ns, now_ns);
    return send(l, t, due_ns, err);
}

static enum status begin_one(struct loader *l, int64_t now_ns, int64_t *next_ns, bool *ret_begun, struct error *err)
{
    struct talk *t = talk_list_pop(&l->ready);

    *ret_begun = true;
    if (t)
        return send(l, t, is_open_loop(l) ? t->due_ns : NS_UNKNOWN, err);
    t = take_due(l, now_ns, next_ns);
    if (t)
        return send(l, t, is_open_loop(l) ? t->due_ns : NS_UNKNOWN, err);
    *ret_begun = false;
    if (l->begins_nothing || !has_place(l))
        return OK;
    if (!l->is_warm) {
        *ret_begun = l->n_warm_begun < l->o->warmup;
        return *ret_begun ? begin_warmup(l, err) : OK;
    }
    return l->has_unit ? begin_unit(l, now_ns, next_ns, ret_begun, err) : OK;
}

/* Until one connection stands, one is tried at a time: a name is then looked up once and not by as many threads as
 * there are streams, and a server that is away is not stormed. */
static bool is_waiting_for_first(struct loader *l)
{
    const struct transport *t = &l->transport;

    if (!l->is_reached && t->n_active > 0)
        l->is_reached = t->active[0]->sent_ns != NS_UNKNOWN;
    return !l->is_reached && t->n_active > 0;
}

enum status loader_begin(struct loader *l, int64_t *ret_next_ns, struct error *err)
{
    bool has_begun = true;

    while (has_begun && !is_waiting_for_first(l)) {
        int64_t now_ns = clock_ns();
        int64_t from_ns = l->next_start_ns > l->paused_until_ns ? l->next_start_ns : l->paused_until_ns;

        if (now_ns < from_ns) {
            if (from_ns < *ret_next_ns)
                *ret_next_ns = from_ns;
            return OK;
        }
        TRY(begin_one(l, now_ns, ret_next_ns, &has_begun, err));
    }
    return OK;
}
