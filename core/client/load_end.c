#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/loader.h"
#include "core/client/retry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOW_NS ((int64_t)250000000)

/* Fewer failures than this never end a run by themselves, however short it is. */
enum { FEW_ERRORS = 3 };

static size_t n_requests(const struct loader *l)
{
    size_t n = 0, i;

    if (l->o->plan.repeats == 0)
        return l->stats.state.n_sent;
    for (i = 0; i < l->plan.n; i++)
        n += l->tasks->tasks[l->plan.sampled[i]].n_turns;
    return n * l->o->plan.repeats * l->n_arms;
}

size_t loader_error_budget(const struct loader *l)
{
    double share;

    if (l->o->max_errors != SIZE_MAX)
        return l->o->max_errors;
    share = l->o->max_error_share * (double)n_requests(l);
    return share > FEW_ERRORS ? (size_t)share : FEW_ERRORS;
}

/* Coming back before the server wants it would only make things worse. */
static bool asks_too_much(const struct loader *l, const struct transfer *x)
{
    return x->retry_after_ns > l->o->max_wait_ns;
}

/* True when it will be asked again. */
static bool wait_and_retry(struct loader *l, struct talk *t)
{
    struct transfer *x = &t->transfer;
    int64_t wait_ns;

    if (l->begins_nothing || t->n_failed_attempts >= l->o->max_retries || !retry_may_help(x) || asks_too_much(l, x))
        return false;
    t->n_failed_attempts++;
    l->stats.state.n_retries++;
    wait_ns =
        retry_wait(x, t->n_failed_attempts, l->o->max_wait_ns, l->o->seed, rng_stream(t->task->id) + (uint64_t)t->turn);
    t->due_ns = clock_ns() + wait_ns;
    if (x->retry_after_ns >= 0 && t->due_ns > l->paused_until_ns)
        l->paused_until_ns = t->due_ns; /* the server asks all of us to wait */
    talk_list_push(&l->waiting, t);
    return true;
}

static void look_at(struct loader *l, struct talk *t)
{
    if (t->transfer.end == TRANSFER_STOPPED) {
        l->stats.n_unfinished++;
        loader_drop(l, t);
        return;
    }
    if (t->transfer.end == TRANSFER_UNREACHED)
        l->n_unreached_in_a_row++;
    else
        l->n_unreached_in_a_row = 0;
    if (wait_and_retry(l, t))
        return;
    if (!t->is_warmup && t->transfer.sent_ns != NS_UNKNOWN && t->transfer.first_ns != NS_UNKNOWN)
        l->sum_ttft_ms += (double)(t->transfer.first_ns - t->transfer.sent_ns) / 1e6;
    talk_report(t, &l->arms[t->unit.arm], l->zero_ns);
    l->n_pending++;
    clerk_give(&l->clerk, &t->job);
}

void loader_look(struct loader *l)
{
    struct talk *t;

    while ((t = talk_list_pop(&l->ended)) != NULL)
        look_at(l, t);
}

/* What to do about it, where that is plain. */
static void put_advice(const struct loader *l, const struct talk *t, char *ret, size_t room)
{
    const struct transfer *x = &t->transfer;

    if (asks_too_much(l, x))
        snprintf(ret, room, " (it asks to wait %.0f s, which is more than --max-retry-wait)",
                 (double)x->retry_after_ns / 1e9);
    else if (x->status == 401 || x->status == 403)
        snprintf(ret, room,
                 x->secret ? " (the key of TARE_API_KEY or OPENAI_API_KEY was sent)"
                           : " (no key was sent: set TARE_API_KEY in the environment)");
    else if (x->status == 404 || x->status == 405)
        snprintf(ret, room, " (see --endpoint, --api and --model)");
}

static void note_failure(struct loader *l, const struct talk *t)
{
    struct arm_tally *y = &l->tallies[t->unit.arm];
    const struct reply *r = &t->job.reply;
    char advice[100] = "";
    AUTO(buf) fault = {0};

    l->stats.state.n_failed++;
    y->n_failed++;
    reply_put_fault(&fault, r);
    put_advice(l, t, advice, sizeof advice);
    snprintf(y->last_failure, sizeof y->last_failure, "task '%.80s', turn %lld: %s%s", t->task->id, (long long)t->turn,
             buf_text(&fault), advice);
    l->stats.failed_arm = t->unit.arm;
}

/* The turns after one that has no answer are kept as what they are: not asked. */
static void close_talk(struct loader *l, struct talk *t, const char *why)
{
    if (t->turn >= (int64_t)t->task->n_turns) {
        l->stats.state.n_done++;
        l->n_first_pass += t->unit.repeat == 1;
        loader_drop(l, t);
        return;
    }
    t->turn++;
    l->stats.n_not_asked++;
    talk_report_not_asked(t, &l->arms[t->unit.arm], why);
    l->n_pending++;
    clerk_give(&l->clerk, &t->job);
}

static bool was_asked(const struct talk *t)
{
    return t->transfer.started_ns != NS_UNKNOWN;
}

static enum status go_on(struct loader *l, struct talk *t, struct error *err)
{
    const struct turn *turn = &t->task->turns[t->turn - 1];

    l->stats.state.n_answered++;
    l->tallies[t->unit.arm].n_answered++;
    TRY(talk_keep_reply(t, l->o->uses_reference ? turn->reference : buf_text(&t->job.reply.text), err));
    if (t->turn == (int64_t)t->task->n_turns) {
        close_talk(l, t, "");
        return OK;
    }
    t->turn++;
    t->n_failed_attempts = 0;
    t->due_ns = clock_ns();
    talk_list_push(&l->ready, t);
    return OK;
}

static enum status take(struct loader *l, struct talk *t, struct error *err)
{
    if (t->job.status != OK) {
        if (err)
            *err = t->job.error;
        return t->job.status;
    }
    l->n_pending--;
    if (t->is_warmup) {
        l->n_warm_over++;
        loader_drop(l, t);
        return OK;
    }
    if (!was_asked(t)) {
        close_talk(l, t, t->why_not_asked);
        return OK;
    }
    if (reply_has_answer(&t->job.reply))
        return go_on(l, t, err);
    if (t->job.reply.is_context_overflow) {
        close_talk(l, t, TALK_TOO_LONG);
        return OK;
    }
    note_failure(l, t);
    close_talk(l, t, TALK_NO_ANSWER);
    return OK;
}

enum status loader_take(struct loader *l, struct error *err)
{
    struct clerk_job *job = clerk_take(&l->clerk);

    while (job) {
        struct clerk_job *next = job->next;
        struct talk *t = job->owner;

        TRY(take(l, t, err));
        job = next;
    }
    return OK;
}

void loader_measure(struct loader *l, int64_t now_ns)
{
    double s = (double)(now_ns - l->seen_ns) / 1e9;
    size_t was_active = l->seen_active;
    bool had_work = l->seen_work;

    l->seen_ns = now_ns;
    l->seen_active = l->transport.n_active;
    l->seen_work = l->is_warm && l->has_unit && !l->begins_nothing;
    if (l->transport.n_active > l->stats.max_active)
        l->stats.max_active = l->transport.n_active;
    if (!had_work)
        return;
    l->work_s += s;
    l->active_s += s * (double)was_active;
}

static int64_t time_left(const struct loader *l, int64_t elapsed_ns)
{
    const struct load_state *s = &l->stats.state;
    int64_t by_time = l->o->duration_ns > 0 ? l->o->duration_ns - elapsed_ns : NS_UNKNOWN;
    double left;

    if (s->n_total == SIZE_MAX || s->n_done == 0)
        return by_time;
    left = (double)elapsed_ns / (double)s->n_done * (double)(s->n_total - s->n_done);
    return by_time != NS_UNKNOWN && (double)by_time < left ? by_time : (int64_t)left;
}

static void look_around(struct loader *l, int64_t now_ns)
{
    struct load_state *s = &l->stats.state;

    s->n_active = l->transport.n_active;
    s->elapsed_ns = now_ns - l->stats.began_ns;
    s->left_ns = time_left(l, s->elapsed_ns);
    s->mean_ttft_ms = s->n_answered ? l->sum_ttft_ms / (double)s->n_answered : NAN;
}

void loader_show(struct loader *l, int64_t now_ns)
{
    if (!l->o->on_progress || now_ns - l->shown_ns < SHOW_NS)
        return;
    l->shown_ns = now_ns;
    look_around(l, now_ns);
    l->o->on_progress(l->o->ctx, &l->stats.state);
}

/* n events over the n - 1 gaps between them. */
static double rate_of(size_t n, int64_t first_ns, int64_t last_ns)
{
    return n > 1 && last_ns > first_ns ? (double)(n - 1) / ((double)(last_ns - first_ns) / 1e9) : 0;
}

/* An arm that answered nothing has failed whatever the budget is. */
static void find_unanswered(struct loader *l)
{
    struct load_stats *s = &l->stats;
    size_t i;

    for (i = 0; i < l->n_arms && !s->is_unanswered; i++) {
        if (l->tallies[i].n_failed == 0 || l->tallies[i].n_answered > 0)
            continue;
        s->is_unanswered = true;
        s->failed_arm = i;
        if (s->end == LOAD_FINISHED)
            s->end = l->n_unreached_in_a_row > 0 ? LOAD_UNREACHABLE : LOAD_TOO_MANY_ERRORS;
    }
}

void loader_finish(struct loader *l)
{
    struct load_stats *s = &l->stats;
    const struct transport *t = &l->transport;
    double total_ns = (double)(t->busy_ns + t->waited_ns);

    s->ended_ns = clock_ns();
    look_around(l, s->ended_ns);
    if (l->o->plan.arrivals != ARRIVE_CLOSED) {
        s->offered_rate = rate_of(l->n_begun, l->first_due_ns, l->last_due_ns);
        s->achieved_rate = rate_of(l->n_begun, l->first_begun_ns, l->last_begun_ns);
    }
    s->mean_active = l->work_s > 0 ? l->active_s / l->work_s : NAN;
    s->mean_wanted = l->o->plan.arrivals == ARRIVE_CLOSED && l->work_s > 0 ? (double)l->o->concurrency : NAN;
    s->lag_p50_ns = lag_quantile(&t->lag, 0.5);
    s->lag_p99_ns = lag_quantile(&t->lag, 0.99);
    s->lag_max_ns = t->lag.max_ns;
    s->n_reads = t->lag.n;
    s->n_timers = t->timer_lag.n;
    s->timer_p99_ns = lag_quantile(&t->timer_lag, 0.99);
    s->busy = total_ns > 0 ? (double)t->busy_ns / total_ns : 0;
    s->is_first_pass_whole = l->n_first_pass == l->plan.n * l->n_arms;
    s->work_s = l->work_s;
    find_unanswered(l);
    snprintf(s->last_failure, sizeof s->last_failure, "%s", l->tallies[s->failed_arm].last_failure);
}

/* Lags above this are no longer small beside what is measured. */
#define MAX_LAG_NS ((int64_t)10000000)

/* Shares of less time than that are chance. */
#define LONG_ENOUGH_S 2.0

/* A percentile of fewer is their maximum: one hiccup. */
enum { FEW_SAMPLES = 200 };

const char *load_bottleneck(const struct load_options *o, const struct load_stats *s)
{
    bool is_long = s->work_s >= LONG_ENOUGH_S;

    if (s->n_reads >= FEW_SAMPLES && s->lag_p99_ns > MAX_LAG_NS)
        return "reads waited for tare";
    if (s->n_timers >= FEW_SAMPLES && s->timer_p99_ns > MAX_LAG_NS)
        return "this machine called tare too late";
    if (is_long && s->busy > 0.9)
        return "tare was busy nearly all the time";
    if (is_long && s->offered_rate > 0 && s->achieved_rate < 0.95 * s->offered_rate)
        return "requests were begun later than scheduled";
    if (is_long && o->max_rate <= 0 && s->state.n_retries == 0 && s->mean_active < 0.9 * s->mean_wanted)
        return "fewer requests were on their way than asked for";
    return NULL;
}
