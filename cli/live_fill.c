#include "cli/live.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/client/earlier.h"
#include "core/client/probe.h"
#include "core/client/tokens.h"
#include "core/io/machine.h"
#include "core/io/recording.h"
#include "core/io/recording_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t index_of_task(const struct taskset *tasks, const char *id)
{
    size_t i;

    for (i = 0; i < tasks->n_tasks && strcmp(tasks->tasks[i].id, id) != 0; i++)
        continue;
    return i;
}

/* Where an exchange stands in the run: by repeat, task, turn, whatever order the answers came in. */
struct seat {
    struct exchange x;
    size_t task;
};

static int by_seat(const void *a, const void *b)
{
    const struct seat *s = a, *t = b;

    if (s->x.repeat != t->x.repeat)
        return s->x.repeat < t->x.repeat ? -1 : 1;
    if (s->task != t->task)
        return s->task < t->task ? -1 : 1;
    return (s->x.turn > t->x.turn) - (s->x.turn < t->x.turn);
}

/* Of what was asked twice, since it failed before, the last attempt stays. */
static enum status put_in_order(struct run *run, const struct taskset *tasks, struct error *err)
{
    AUTO(earlier) last = {0};
    struct seat *seats = NULL;
    size_t i;

    TRY(earlier_init(&last, run, err));
    TRY(mem_new(last.n, sizeof *seats, &seats, err));
    for (i = 0; i < last.n; i++) {
        seats[i].x = run->exchanges[last.order[i]];
        seats[i].task = index_of_task(tasks, seats[i].x.task);
    }
    qsort(seats, last.n, sizeof *seats, by_seat);
    for (i = 0; i < last.n; i++)
        run->exchanges[i] = seats[i].x;
    run->n_exchanges = last.n;
    free(seats);
    return OK;
}

static enum status set_real(json_t *j, const char *key, double value, struct error *err)
{
    if (isnan(value))
        return OK;
    if (json_object_set_new(j, key, json_real(round(value * 1000) / 1000)))
        return error_set(err, ERR_MEMORY, "no memory for the run's provenance");
    return OK;
}

static const char *arrivals_name(enum arrivals a)
{
    static const char *const names[] = {"closed", "constant", "poisson", "gamma"};

    return names[a];
}

static enum status set_measures(json_t *j, const struct load_stats *s, struct error *err)
{
    TRY(set_real(j, "concurrency_reached", s->mean_active, err));
    TRY(set_real(j, "rate_scheduled", s->offered_rate, err));
    TRY(set_real(j, "rate_reached", s->achieved_rate, err));
    TRY(set_real(j, "lag_p50_ms", (double)s->lag_p50_ns / 1e6, err));
    TRY(set_real(j, "lag_p99_ms", (double)s->lag_p99_ns / 1e6, err));
    TRY(set_real(j, "lag_max_ms", (double)s->lag_max_ns / 1e6, err));
    TRY(set_real(j, "timer_late_p99_ms", (double)s->timer_p99_ns / 1e6, err));
    TRY(set_real(j, "busy", s->busy, err));
    TRY(set_real(j, "cpu_s", (double)s->cpu_ns / 1e9, err));
    TRY(set_real(j, "journal_cpu_s", (double)s->journal_cpu_ns / 1e9, err));
    return set_real(j, "elapsed_s", (double)(s->ended_ns - s->began_ns) / 1e9, err);
}

static json_t *pack_settings(const struct live *l)
{
    const struct load_options *o = &l->options->load;
    const struct load_stats *s = &l->stats;

    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:I, s:f, s:b, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                     "arrivals", arrivals_name(o->plan.arrivals), "concurrency", (json_int_t)o->concurrency, "rate",
                     o->plan.rate, "burstiness", o->plan.arrivals == ARRIVE_GAMMA ? o->plan.shape : 1, "max_rate",
                     o->max_rate, "repeats", (json_int_t)o->plan.repeats, "sample", o->plan.sample, "shuffle",
                     o->plan.shuffles, "history", o->uses_reference ? "reference" : "own", "interleaved", l->n_arms > 1,
                     "warmup", (json_int_t)o->warmup, "sent", (json_int_t)s->state.n_sent, "answered",
                     (json_int_t)s->state.n_answered, "failed", (json_int_t)s->state.n_failed, "retried",
                     (json_int_t)s->state.n_retries, "not_asked", (json_int_t)s->n_not_asked, "unfinished",
                     (json_int_t)s->n_unfinished);
}

static enum status describe_load(const struct live *l, struct run *run, struct error *err)
{
    json_t *j = pack_settings(l);
    enum status st = OK;
    char *text = NULL;

    if (!j)
        return error_set(err, ERR_MEMORY, "no memory for the run's provenance");
    if (l->options->request.cache_salt &&
        json_object_set_new(j, "cache_salt", json_string(l->options->request.cache_salt)))
        st = error_set(err, ERR_USAGE, "--cache-salt is not valid UTF-8");
    if (st == OK)
        st = set_measures(j, &l->stats, err);
    if (st == OK) {
        text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
        st = text ? arena_strdup(&run->arena, text, &run->provenance.load, err)
                  : error_set(err, ERR_MEMORY, "no memory for the run's provenance");
    }
    free(text);
    json_decref(j);
    return st;
}

static enum status describe_server(const struct live *l, const struct live_arm *a, struct run *run, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(probe) probe = {0};

    TRY(arena_strdup(&run->arena, "endpoint", &p->source, err));
    TRY(arena_strdup(&run->arena, a->model, &p->model_asked, err));
    TRY(arena_strdup(&run->arena, buf_text(&a->sampling), &p->sampling, err));
    TRY(arena_strdup(&run->arena, a->endpoint.host, &p->observed_on.host, err));
    TRY(machine_now(&run->arena, &p->observed_on.when_utc, err));
    TRY(probe_server(&probe, &l->options->load.transport, &a->endpoint, &a->head, a->model, err));
    TRY(arena_strdup(&run->arena, probe.server, &p->observed_on.server, err));
    if (probe.context_limit <= 0)
        return OK;
    p->context_limit = probe.context_limit;
    return arena_strdup(&run->arena, "server", &p->context_limit_from, err);
}

static enum status note_end(const struct live *l, struct run *run, struct error *err)
{
    const struct load_stats *s = &l->stats;
    const char *why = load_bottleneck(&l->options->load, s);

    run->provenance.is_complete = s->end == LOAD_FINISHED && s->is_first_pass_whole;
    run->provenance.is_client_bound = why != NULL;
    if (s->end == LOAD_INTERRUPTED)
        TRY(run_note(run, err, "interrupted",
                     "the run was interrupted: %zu conversations were cut off, the rest was "
                     "not begun; --resume goes on",
                     s->n_unfinished));
    else if (s->end != LOAD_FINISHED)
        TRY(run_note(run, err, "interrupted",
                     "the server failed too often and the run ended early, the last failure: "
                     "%s",
                     s->last_failure));
    else if (!s->is_first_pass_whole)
        TRY(run_note(run, err, "partial",
                     "the time or the number of requests ended before every task was asked once: "
                     "a partial run is not gated"));
    if (l->n_sessions_before)
        TRY(run_note(run, err, "resumed",
                     "the run was interrupted and resumed: its requests were sent in more than "
                     "one session, the time between them is left out"));
    if (why)
        TRY(run_note(run, err, "client-bound",
                     "%s (P99: reads waited %.3g ms, timers were %.3g ms late; busy %.0f %%; %.3g of %zu on "
                     "their way): latencies decide nothing",
                     why, (double)s->lag_p99_ns / 1e6, (double)s->timer_p99_ns / 1e6, s->busy * 100, s->mean_active,
                     l->options->load.concurrency));
    if (s->state.n_retries)
        TRY(run_note(run, err, "retried", "%zu attempts failed and were made again: they are in no latency",
                     s->state.n_retries));
    return OK;
}

/* Counting must not take longer than people will wait for it after a run. */
#define COUNTING_NS ((int64_t)20000000000)

static enum status count_tokens(const struct live *l, const struct live_arm *a, struct run *run, struct error *err)
{
    const char *from = l->options->tokens_from;
    struct tokens_options o = {.asks_server = strcmp(from, "auto") == 0 || strcmp(from, "server") == 0,
                               .estimates = strcmp(from, "auto") == 0 || strcmp(from, "estimate") == 0,
                               .patience_ns = COUNTING_NS};

    if (!o.asks_server && !o.estimates)
        return OK;
    return tokens_count(run, &o, &l->options->load.transport, &a->endpoint, &a->head, err);
}

enum status live_fill(const struct live *l, size_t i, struct run *run, struct error *err)
{
    const struct live_arm *a = &l->arms[i];

    TRY(journal_read(a->journal_path, run, err));
    TRY(put_in_order(run, &l->tasks, err));
    TRY(describe_server(l, a, run, err));
    if (l->stats.end == LOAD_FINISHED)
        TRY(count_tokens(l, a, run, err));
    TRY(describe_load(l, run, err));
    return note_end(l, run, err);
}

static enum status export_dir(const struct live_options *o, const char *output, struct buf *ret, struct error *err)
{
    const char *slash = strrchr(output, '/');

    buf_puts(ret, o->export_dir);
    if (o->second.output && strcmp(output, o->second.output) == 0)
        buf_printf(ret, "/%s.recording", slash ? slash + 1 : output);
    return buf_check(ret, err);
}

enum status live_export_check(const struct live_options *o, const char *output, struct error *err)
{
    AUTO(buf) dir = {0};

    if (!o->export_dir)
        return OK;
    TRY(export_dir(o, output, &dir, err));
    if (recording_is(dir.data))
        return error_set(err, ERR_USAGE, "'%s' holds a recording already: name another folder", dir.data);
    return OK;
}

enum status live_export(const struct run *run, const struct live_options *o, const char *output, struct error *err)
{
    AUTO(buf) dir = {0};

    TRY(export_dir(o, output, &dir, err));
    return recording_write(run, dir.data, err);
}
