#include "core/client/load.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/client/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loop comes round at least so often: progress, and a signal that came just before waiting. */
#define ROUND_NS ((int64_t)200000000)

void talk_list_push(struct talk_list *l, struct talk *t)
{
    t->next = NULL;
    if (l->first)
        l->last->next = t;
    else
        l->first = t;
    l->last = t;
}

struct talk *talk_list_pop(struct talk_list *l)
{
    struct talk *t = l->first;

    if (t)
        l->first = t->next;
    return t;
}

static void on_end(void *ctx, struct transfer *x)
{
    struct loader *l = ctx;

    talk_list_push(&l->ended, x->owner);
}

static void on_read(void *ctx)
{
    const struct loader *l = ctx;

    transport_wake(&l->transport);
}

static void loader_done(struct loader *l)
{
    size_t i;

    while (l->transport.n_active > 0)
        transport_stop(&l->transport, l->transport.active[0], "the run ends");
    clerk_done(&l->clerk);
    transport_done(&l->transport);
    for (i = 0; i < l->n_all; i++)
        talk_free(l->all[i]);
    free(l->all);
    for (i = 0; l->earlier && i < l->n_arms; i++)
        earlier_done(&l->earlier[i]);
    free(l->earlier);
    free(l->tallies);
    plan_done(&l->plan);
}

/* Times go on where an earlier session stopped, so that the pause between the two is not part of the run. */
static int64_t time_before(const struct loader *l)
{
    int64_t last = 0;
    size_t a, i;

    for (a = 0; a < l->n_arms; a++)
        for (i = 0; l->arms[a].before && i < l->arms[a].before->n_events; i++)
            if (l->arms[a].before->events[i].t_ns > last)
                last = l->arms[a].before->events[i].t_ns;
    return last;
}

static enum status set_up(struct loader *l, struct error *err)
{
    struct transport_sink sink = {.on_end = on_end, .ctx = l};
    size_t i;

    TRY(plan_init(&l->plan, l->tasks, &l->o->plan, err));
    TRY(mem_new(l->n_arms, sizeof *l->earlier, &l->earlier, err));
    TRY(mem_new(l->n_arms, sizeof *l->tallies, &l->tallies, err));
    for (i = 0; i < l->n_arms; i++)
        TRY(earlier_init(&l->earlier[i], l->arms[i].before, err));
    TRY(transport_init(&l->transport, &l->o->transport, sink, err));
    TRY(clerk_init(&l->clerk, on_read, l, err));
    l->stats.state.n_total = plan_total(&l->plan);
    l->has_unit = plan_next(&l->plan, &l->unit);
    l->is_warm = l->o->warmup == 0;
    l->seen_ns = l->stats.began_ns = clock_ns();
    l->zero_ns = l->seen_ns - time_before(l);
    l->first_due_ns = l->first_begun_ns = NS_UNKNOWN;
    return OK;
}

static int stop_level(const struct loader *l)
{
    return l->o->stop ? *l->o->stop : 0;
}

static void give_up(struct loader *l, enum load_end why)
{
    l->begins_nothing = true;
    if (l->stats.end == LOAD_FINISHED)
        l->stats.end = why;
}

static void heed_signals(struct loader *l)
{
    int level = stop_level(l);

    if (level >= 1)
        give_up(l, LOAD_INTERRUPTED);
    while (level >= 2 && l->transport.n_active > 0)
        transport_stop(&l->transport, l->transport.active[0], "interrupted");
}

static void heed_limits(struct loader *l, int64_t now_ns)
{
    size_t enough = l->o->concurrency + 2;

    if (l->is_warm && l->o->duration_ns > 0 && now_ns - l->stats.began_ns >= l->o->duration_ns)
        l->begins_nothing = true;
    if (l->n_unreached_in_a_row > (enough < 20 ? enough : 20))
        give_up(l, LOAD_UNREACHABLE);
    if (l->stats.state.n_failed > 0 && l->stats.state.n_failed > loader_error_budget(l))
        give_up(l, LOAD_TOO_MANY_ERRORS);
}

/* What will not be sent any more. */
static void drop_unsent(struct loader *l)
{
    struct talk *t;

    while ((t = talk_list_pop(&l->ready)) != NULL || (t = talk_list_pop(&l->waiting)) != NULL) {
        l->stats.n_unfinished++;
        loader_drop(l, t);
    }
    l->has_unit = false;
}

static bool is_over(const struct loader *l)
{
    return l->is_warm && !l->has_unit && !l->ready.first && !l->waiting.first && !l->ended.first && l->n_pending == 0 &&
           l->transport.n_active == 0;
}

/* The clocks start when the last request for warming up is over. */
static void end_warmup(struct loader *l)
{
    if (l->is_warm || (l->n_warm_over < l->o->warmup && !l->begins_nothing) || l->transport.n_active > 0 ||
        l->n_pending > 0)
        return;
    l->is_warm = true;
    l->stats.began_ns = l->seen_ns = clock_ns();
    l->zero_ns = l->stats.began_ns - time_before(l);
    memset(&l->transport.lag, 0, sizeof l->transport.lag);
    memset(&l->transport.timer_lag, 0, sizeof l->transport.timer_lag);
    l->transport.busy_ns = l->transport.waited_ns = 0;
}

static enum status loop(struct loader *l, struct error *err)
{
    while (!is_over(l)) {
        int64_t next_ns = INT64_MAX, now_ns;

        heed_signals(l);
        heed_limits(l, clock_ns());
        if (l->begins_nothing)
            drop_unsent(l);
        end_warmup(l);
        TRY(loader_begin(l, &next_ns, err));
        now_ns = clock_ns();
        loader_measure(l, now_ns);
        loader_show(l, now_ns);
        if (is_over(l))
            break;
        TRY(transport_wait(&l->transport, next_ns < now_ns + ROUND_NS ? next_ns : now_ns + ROUND_NS, err));
        loader_look(l);
        TRY(loader_take(l, err));
    }
    return OK;
}

enum status load_run(const struct load_options *o, const struct taskset *tasks, const struct load_arm *arms,
                     size_t n_arms, struct load_stats *ret, struct error *err)
{
    AUTO(loader) l = {.o = o, .tasks = tasks, .arms = arms, .n_arms = n_arms};
    int64_t cpu_ns = clock_cpu_ns();
    size_t i;

    TRY(transport_make_room(o->concurrency, err));
    TRY(set_up(&l, err));
    TRY(loop(&l, err));
    loader_finish(&l);
    l.stats.cpu_ns = clock_cpu_ns() - cpu_ns;
    clerk_done(&l.clerk);
    for (i = 0; i < n_arms; i++) {
        l.stats.journal_cpu_ns += arms[i].journal->cpu_ns;
        TRY(journal_sync(arms[i].journal, err));
    }
    *ret = l.stats;
    return OK;
}
