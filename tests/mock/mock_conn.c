#include "core/base/mem.h"
#include "tests/mock/mock_state.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t mock_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_request(struct mock *m, struct mock_conn *c);
static void start_queued(struct mock *m);

static void end_record(struct mock *m, struct mock_conn *c, const char *end)
{
    if (c->record != NO_RECORD)
        mock_log_end(&m->log, c->record, end);
    c->record = NO_RECORD;
}

static void end_reply(struct mock *m, struct mock_conn *c, const char *end)
{
    size_t i;

    end_record(m, c, end);
    if (c->is_queued) {
        for (i = 0; m->queue[i] != c;)
            i++;
        memmove(m->queue + i, m->queue + i + 1, (--m->n_queue - i) * sizeof(*m->queue));
        c->is_queued = false;
    } else if (c->has_reply) {
        m->n_active--;
    }
    if (c->has_reply)
        mock_reply_done(&c->reply);
    c->has_reply = false;
}

void mock_conn_drop(struct mock *m, struct mock_conn *c, bool is_reset, const char *end)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};

    end_reply(m, c, end);
    mock_heap_set(&m->heap, c, NEVER);
    if (is_reset)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(c->fd);
    c->fd = -1;
    if (mem_grow(&m->gone, &m->cap_gone, m->n_gone + 1, sizeof(*m->gone), NULL) != OK)
        abort();
    m->gone[m->n_gone++] = c;
    m->conns[c->place] = m->conns[--m->n_conns];
    m->conns[c->place]->place = c->place;
    buf_done(&c->in);
    buf_done(&c->out);
}

void mock_conn_bury(struct mock *m)
{
    while (m->n_gone)
        free(m->gone[--m->n_gone]);
}

static void poll_out(struct mock *m, struct mock_conn *c, bool is_wanted)
{
    struct epoll_event e = {.events = EPOLLIN | (is_wanted ? EPOLLOUT : 0), .data.ptr = c};

    if (c->is_polling_out != is_wanted)
        epoll_ctl(m->poll, EPOLL_CTL_MOD, c->fd, &e);
    c->is_polling_out = is_wanted;
}

/* Sends what may go now; false when the connection is gone. */
static bool flush(struct mock *m, struct mock_conn *c)
{
    size_t trickle = c->has_reply ? c->reply.trickle : 0;

    while (c->out_at < c->out.len) {
        size_t left = c->out.len - c->out_at;
        ssize_t n = send(c->fd, c->out.data + c->out_at, trickle && trickle < left ? trickle : left, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN) {
            poll_out(m, c, true);
            mock_heap_set(&m->heap, c, NEVER);
            return true;
        }
        if (n < 0) {
            mock_conn_drop(m, c, false, "client-left");
            return false;
        }
        c->out_at += (size_t)n;
        if (trickle && c->out_at < c->out.len) {
            mock_heap_set(&m->heap, c, mock_now_ns() + c->reply.spec.split_ns);
            return true;
        }
    }
    poll_out(m, c, false);
    buf_clear(&c->out);
    c->out_at = 0;
    return true;
}

static void arm(struct mock *m, struct mock_conn *c)
{
    const struct mock_reply *r = &c->reply;

    mock_heap_set(&m->heap, c, r->due_ns < r->ping_due_ns ? r->due_ns : r->ping_due_ns);
}

/* What comes when all bytes of the reply are out. */
static void finish(struct mock *m, struct mock_conn *c)
{
    switch (c->then) {
    case THEN_MORE:
        arm(m, c);
        return;
    case THEN_STALL:
        mock_heap_set(&m->heap, c, NEVER);
        return;
    case THEN_DONE:
        mock_heap_set(&m->heap, c, NEVER);
        end_reply(m, c, "whole");
        take_request(m, c);
        break;
    default:
        mock_conn_drop(m, c, c->then == THEN_RESET, c->then == THEN_RESET ? "reset" : "closed");
        break;
    }
    start_queued(m);
}

static void put_ping(struct mock_reply *r, struct buf *out)
{
    static const char ping[] = ": ping\n\n";

    if (r->is_stream)
        buf_printf(out, r->is_chunked ? "%zx\r\n%s\r\n" : "%.0zu%s", sizeof ping - 1, ping);
    r->ping_due_ns += r->spec.ping_ns;
}

static void step(struct mock *m, struct mock_conn *c)
{
    struct mock_reply *r = &c->reply;
    uint64_t before = r->n_sent;
    int64_t t_ns;

    if (r->ping_due_ns < r->due_ns) {
        put_ping(r, &c->out);
        c->then = THEN_MORE;
    } else {
        c->then = mock_reply_step(r, &c->out);
    }
    if (r->n_sent > before) {
        t_ns = mock_now_ns();
        mock_log_sent(&m->log, c->record, r->n_sent - before, t_ns);
    }
}

/* Called when its time has come, or its socket takes bytes again. */
void mock_conn_service(struct mock *m, struct mock_conn *c)
{
    if (c->out_at == c->out.len && c->has_reply && !c->is_queued && c->then != THEN_STALL)
        step(m, c);
    if (!flush(m, c) || c->out_at < c->out.len)
        return;
    finish(m, c);
}

static void begin(struct mock *m, struct mock_conn *c)
{
    m->n_active++;
    c->is_queued = false;
    c->record = mock_log_begin(&m->log, c->reply.id, c->received_ns, c->reply.begin_ns);
    c->then = THEN_MORE;
    arm(m, c);
}

/* Times of a reply that waited for a slot count from now. */
static void start_queued(struct mock *m)
{
    while (m->n_queue && m->n_active < m->opts.slots) {
        struct mock_conn *c = m->queue[0];
        struct mock_reply *r = &c->reply;
        int64_t later = mock_now_ns() - r->begin_ns;

        memmove(m->queue, m->queue + 1, --m->n_queue * sizeof(*m->queue));
        r->begin_ns += later;
        r->due_ns += later;
        begin(m, c);
    }
}

static void enqueue(struct mock *m, struct mock_conn *c)
{
    if (mem_grow(&m->queue, &m->cap_queue, m->n_queue + 1, sizeof(*m->queue), NULL) != OK)
        abort();
    m->queue[m->n_queue++] = c;
    c->is_queued = true;
}

static void answer(struct mock *m, struct mock_conn *c, struct mock_request *request)
{
    struct mock_spec spec;
    struct error err = {0};
    struct buf json = {0};

    if (mock_answer_simple(&c->out, &m->opts, request)) {
        c->then = request->is_keep_alive ? THEN_DONE : THEN_CLOSE;
        mock_conn_service(m, c);
        return;
    }
    m->n_requests++;
    if (mock_answer_spec(&spec, &m->opts, request, m->n_requests, &err) != OK) {
        buf_printf(&json, "{\"error\":{\"message\":\"%s\"}}", err.message);
        mock_reply_simple(&c->out, 400, buf_text(&json), request->is_keep_alive);
        buf_done(&json);
        c->then = request->is_keep_alive ? THEN_DONE : THEN_CLOSE;
        mock_conn_service(m, c);
        return;
    }
    mock_reply_start(&c->reply, request, &spec, m->n_requests, c->received_ns,
                     mock_answer_seen(m->seen, &spec, request));
    c->has_reply = true;
    if (m->opts.slots && m->n_active >= m->opts.slots)
        enqueue(m, c);
    else
        begin(m, c);
}

static bool is_dead(const struct mock *m)
{
    return m->opts.dead_after && m->n_requests >= m->opts.dead_after;
}

static void die(struct mock *m)
{
    while (m->n_conns)
        mock_conn_drop(m, m->conns[0], true, "reset");
    if (m->listener >= 0)
        close(m->listener);
    m->listener = -1;
}

static void take_request(struct mock *m, struct mock_conn *c)
{
    bool expects_continue;
    size_t len = c->in.len ? mock_request_len(c->in.data, c->in.len, &expects_continue) : 0;
    struct mock_request request = {0};

    if (c->in.len == 0 || (len == 0 && !expects_continue))
        return;
    if (len == 0) {
        ssize_t n = send(c->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);

        (void)n; /* a client that is gone shows when it is read */
        return;
    }
    if (len == SIZE_MAX || mock_request_read(&request, c->in.data, len, NULL) != OK) {
        mock_conn_drop(m, c, false, "closed");
        return;
    }
    if (is_dead(m)) {
        mock_request_done(&request);
        die(m);
        return;
    }
    c->received_ns = mock_now_ns();
    memmove(c->in.data, c->in.data + len, c->in.len - len);
    c->in.len -= len;
    answer(m, c, &request);
    mock_request_done(&request);
}

void mock_conn_read(struct mock *m, struct mock_conn *c)
{
    ssize_t n = recv(c->fd, m->bytes, sizeof m->bytes, 0);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        mock_conn_drop(m, c, false, "client-left");
        start_queued(m);
        return;
    }
    buf_append(&c->in, m->bytes, (size_t)n);
    if (!c->has_reply && c->out.len == 0)
        take_request(m, c);
}

void mock_conn_new(struct mock *m, int fd)
{
    struct mock_conn *c = calloc(1, sizeof *c);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    int one = 1;

    if (!c || mem_grow(&m->conns, &m->cap_conns, m->n_conns + 1, sizeof(*m->conns), NULL) != OK ||
        epoll_ctl(m->poll, EPOLL_CTL_ADD, fd, &e) != 0)
        abort(); /* a test's server without memory is no use to anyone */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->fd = fd;
    c->wake_ns = NEVER;
    c->record = NO_RECORD;
    c->place = m->n_conns;
    m->conns[m->n_conns++] = c;
}
