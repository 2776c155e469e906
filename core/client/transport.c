#include "core/client/transport.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/chunk.h"
#include "core/client/scrub.h"
#include "core/client/transport_curl.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MAX_READY = 256, FILES_BESIDE = 64 };

/* How often limits are looked at; how late that happens tells how late this machine calls us. */
#define CHECK_NS ((int64_t)10000000)

/* A wait shorter than this found something at once: it was ready before. */
#define AT_ONCE_NS ((int64_t)4000)

enum status transport_make_room(size_t n, struct error *err)
{
    struct rlimit limit;
    rlim_t want = (rlim_t)n + FILES_BESIDE;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
        return OK;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < want)
        return error_set(err, ERR_LIMIT,
                         "%zu streams at once need as many open files, this system allows %llu: ask for fewer, or "
                         "raise the hard limit (ulimit -Hn)",
                         n, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = want;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return error_set(err, ERR_LIMIT, "the limit of open files cannot be raised to %zu: %s", n, strerror(errno));
    return OK;
}

static enum status watch(struct transport *t, int fd, struct error *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    if (fd < 0 || epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &e))
        return error_set(err, ERR_IO, "the event loop cannot be set up: %s", strerror(errno));
    return OK;
}

static enum status set_up(struct transport *t, struct error *err)
{
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->epoll_fd < 0)
        return error_set(err, ERR_IO, "the event loop cannot be set up: %s", strerror(errno));
    TRY(watch(t, t->timer_fd, err));
    TRY(watch(t, t->wake_fd, err));
    return transport_curl_init(t, err);
}

/* 0 is what a zeroed transport has: never one of ours, since standard input is held. */
static void close_fd(int fd)
{
    if (fd > 0)
        close(fd);
}

enum status transport_init(struct transport *t, const struct transport_options *o, struct transport_sink sink,
                           struct error *err)
{
    enum status st;

    memset(t, 0, sizeof *t);
    t->options = *o;
    t->sink = sink;
    t->curl_due_ns = t->armed_ns = INT64_MAX;
    t->epoll_fd = t->timer_fd = t->wake_fd = -1;
    st = set_up(t, err);
    if (st != OK)
        transport_done(t);
    t->returned_ns = clock_ns();
    t->check_due_ns = t->returned_ns + CHECK_NS;
    return st;
}

void transport_done(struct transport *t)
{
    transport_curl_done(t);
    close_fd(t->epoll_fd);
    close_fd(t->timer_fd);
    close_fd(t->wake_fd);
    free(t->active);
    memset(t, 0, sizeof *t);
}

enum status transport_start(struct transport *t, struct transfer *x, struct error *err)
{
    transfer_reset(x);
    TRY(mem_grow(&t->active, &t->cap_active, t->n_active + 1, sizeof(struct transfer *), err));
    x->started_ns = clock_ns();
    TRY(transport_curl_start(t, x, err));
    x->place = t->n_active;
    t->active[t->n_active++] = x;
    return OK;
}

/* Takes it off the list, then tells: it may come back at once. */
static void end(struct transport *t, struct transfer *x)
{
    t->active[x->place] = t->active[--t->n_active];
    t->active[x->place]->place = x->place;
    x->ended_ns = clock_ns();
    transport_curl_stop(t, x);
    scrub(&x->bytes, x->secret);
    scrub(&x->headers, x->secret);
    scrub(&x->failure, x->secret);
    t->sink.on_end(t->sink.ctx, x);
}

static void end_by(struct transport *t, struct transfer *x, enum transfer_end how, const char *why)
{
    x->end = how;
    buf_clear(&x->failure);
    chunk_words(&x->failure, why, strlen(why), 400);
    end(t, x);
}

void transport_stop(struct transport *t, struct transfer *x, const char *why)
{
    end_by(t, x, TRANSFER_STOPPED, why);
}

void transport_wake(const struct transport *t)
{
    const uint64_t one = 1;
    ssize_t ignored = write(t->wake_fd, &one, sizeof one); /* full: a wake is on its way already */

    (void)ignored;
}

static bool is_past(int64_t limit_ns, int64_t since_ns, int64_t now_ns)
{
    return limit_ns > 0 && since_ns != NS_UNKNOWN && now_ns - since_ns > limit_ns;
}

/* What limit a transfer has run over, in words; NULL for none. */
static const char *overrun(const struct transport *t, const struct transfer *x, int64_t now_ns)
{
    const struct transport_options *o = &t->options;

    if (is_past(x->total_timeout_ns ? x->total_timeout_ns : o->total_ns, x->started_ns, now_ns))
        return "no whole answer within the time for a request (--timeout)";
    if (x->sent_ns == NS_UNKNOWN)
        return is_past(o->connect_ns, x->started_ns, now_ns) ? "no connection in time (--connect-timeout)" : NULL;
    if (x->first_ns == NS_UNKNOWN && is_past(o->first_ns, x->sent_ns, now_ns))
        return "no first token in time (--first-token-timeout)";
    if (x->n_events > 0 && is_past(o->idle_ns, x->last_ns, now_ns))
        return "the answer stopped in the middle (--idle-timeout)";
    return NULL;
}

static void check_limits(struct transport *t, int64_t now_ns)
{
    size_t i = t->n_active;

    if (now_ns < t->check_due_ns)
        return;
    t->check_due_ns = now_ns + CHECK_NS;
    while (i-- > 0) {
        const char *why;

        if (i >= t->n_active)
            continue;
        why = overrun(t, t->active[i], now_ns);
        if (why)
            end_by(t, t->active[i], TRANSFER_TIMED_OUT, why);
    }
}

static void read_messages(struct transport *t)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(t->multi, &left)) != NULL) {
        struct transfer *x = transport_curl_transfer(m->easy_handle);

        if (m->msg != CURLMSG_DONE || !x)
            continue;
        transport_curl_judge(t, x, m->data.result);
        end(t, x);
    }
}

static enum status arm(struct transport *t, int64_t due_ns, struct error *err)
{
    struct itimerspec when = {.it_value = {.tv_sec = due_ns / 1000000000, .tv_nsec = due_ns % 1000000000}};

    if (due_ns == t->armed_ns)
        return OK;
    if (due_ns == INT64_MAX)
        memset(&when, 0, sizeof when);
    else if (due_ns <= 0)
        when.it_value.tv_nsec = 1;
    if (timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
        return error_set(err, ERR_INTERNAL, "the timer cannot be set: %s", strerror(errno));
    t->armed_ns = due_ns;
    return OK;
}

static void drain(int fd)
{
    uint64_t count;
    ssize_t ignored = read(fd, &count, sizeof count);

    (void)ignored;
}

static void handle(struct transport *t, const struct epoll_event *e)
{
    if (e->data.fd == t->timer_fd) {
        drain(t->timer_fd);
        if (t->armed_ns != INT64_MAX) /* else it was for something that came earlier by another way */
            lag_add(&t->timer_lag, clock_ns() - t->armed_ns);
        t->armed_ns = INT64_MAX;
    } else if (e->data.fd == t->wake_fd) {
        drain(t->wake_fd);
    } else {
        transport_curl_ready(t, e->data.fd, e->events);
    }
}

static int64_t next_due(const struct transport *t, int64_t until_ns)
{
    int64_t due = until_ns;

    if (t->curl_due_ns < due)
        due = t->curl_due_ns;
    return t->n_active > 0 && t->check_due_ns < due ? t->check_due_ns : due;
}

enum status transport_wait(struct transport *t, int64_t until_ns, struct error *err)
{
    struct epoll_event ready[MAX_READY];
    int64_t before = clock_ns(), after;
    int n, i;

    TRY(arm(t, next_due(t, until_ns), err));
    n = epoll_wait(t->epoll_fd, ready, MAX_READY, -1);
    if (n < 0 && errno != EINTR)
        return error_set(err, ERR_INTERNAL, "waiting for the network failed: %s", strerror(errno));
    after = clock_ns();
    t->round++;
    /* Found at once: it may have been there since the wait before. */
    t->ready_ns = after - before < AT_ONCE_NS ? t->returned_ns : after;
    t->busy_ns += before - t->returned_ns;
    t->waited_ns += after - before;
    t->returned_ns = after;
    for (i = 0; i < n; i++)
        handle(t, &ready[i]);
    if (t->curl_due_ns != INT64_MAX && t->curl_due_ns <= clock_ns()) {
        t->curl_due_ns = INT64_MAX;
        transport_curl_ready(t, -1, 0);
    }
    read_messages(t);
    check_limits(t, clock_ns());
    return OK;
}
