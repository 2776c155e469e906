#include "core/base/mem.h"
#include "tests/mock/mock_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N_EVENTS = 256, BACKLOG = 4096 };

static enum status watch(struct mock *m, int fd, void *what, struct error *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

    if (epoll_ctl(m->poll, EPOLL_CTL_ADD, fd, &e) != 0)
        return error_set(err, ERR_IO, "the mock server cannot watch a socket: %s", strerror(errno));
    return OK;
}

static enum status listen_on(struct mock *m, uint16_t port, struct error *err)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int one = 1;

    m->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (m->listener < 0)
        return error_set(err, ERR_IO, "the mock server has no socket: %s", strerror(errno));
    setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(m->listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(m->listener, BACKLOG) != 0 ||
        getsockname(m->listener, (struct sockaddr *)&a, &len) != 0)
        return error_set(err, ERR_IO, "the mock server cannot listen on port %u: %s", port, strerror(errno));
    m->port = ntohs(a.sin_port);
    return watch(m, m->listener, &m->listener, err);
}

enum status mock_new(struct mock **ret, const struct mock_opts *opts, struct error *err)
{
    struct mock_spec spec;
    struct mock *m;
    enum status st;

    mock_spec_init(&spec);
    if (opts->spec)
        TRY(mock_spec_read(&spec, opts->spec, strlen(opts->spec), err));
    TRY(mem_new(1, sizeof *m, &m, err));
    m->opts = *opts;
    m->listener = m->stop = m->poll = -1;
    st = mem_new(1, sizeof *m->seen, &m->seen, err);
    if (st == OK) {
        m->poll = epoll_create1(EPOLL_CLOEXEC);
        m->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        st = watch(m, m->stop, &m->stop, err);
    }
    if (st == OK)
        st = listen_on(m, opts->port, err);
    if (st != OK) {
        mock_free(m);
        return st;
    }
    *ret = m;
    return OK;
}

uint16_t mock_port(const struct mock *m)
{
    return m->port;
}

uint64_t mock_n_requests(const struct mock *m)
{
    return m->n_requests;
}

size_t mock_peak_streams(const struct mock *m)
{
    return m->log.peak_open;
}

void mock_stop(struct mock *m)
{
    uint64_t one = 1;
    ssize_t n = write(m->stop, &one, sizeof one);

    (void)n; /* it can only fail when it was stopped already */
}

static void on_connections(struct mock *m)
{
    int fd;

    while ((fd = accept4(m->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        mock_conn_new(m, fd);
}

static struct timespec wait_for(const struct mock *m)
{
    int64_t ns = m->heap.n ? m->heap.conns[0]->wake_ns - mock_now_ns() : 1000000000;

    ns = ns < 0 ? 0 : ns > 1000000000 ? 1000000000 : ns;
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static bool on_events(struct mock *m, const struct epoll_event *events, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        struct mock_conn *c = events[i].data.ptr;

        if (events[i].data.ptr == &m->stop)
            return false;
        if (events[i].data.ptr == &m->listener) {
            on_connections(m);
            continue;
        }
        if (c->fd >= 0 && (events[i].events & EPOLLOUT))
            mock_conn_service(m, c);
        if (c->fd >= 0 && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
            mock_conn_read(m, c);
    }
    return true;
}

static void run_due(struct mock *m)
{
    int64_t now = mock_now_ns();
    int n = 0;

    while (m->heap.n && m->heap.conns[0]->wake_ns <= now && n++ < 4 * N_EVENTS)
        mock_conn_service(m, m->heap.conns[0]);
}

enum status mock_serve(struct mock *m, struct error *err)
{
    struct epoll_event events[N_EVENTS];
    bool is_going = true;

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* wake when asked for, not 50 us later */
    while (is_going) {
        struct timespec wait = wait_for(m);
        int n = epoll_pwait2(m->poll, events, N_EVENTS, &wait, NULL);

        if (n < 0 && errno != EINTR)
            return error_set(err, ERR_IO, "the mock server cannot wait: %s", strerror(errno));
        if (n > 0)
            is_going = on_events(m, events, n);
        run_due(m);
        mock_conn_bury(m);
    }
    while (m->n_conns)
        mock_conn_drop(m, m->conns[0], false, "stopped");
    mock_conn_bury(m);
    if (m->opts.log_path)
        TRY(mock_log_write(&m->log, m->opts.log_path, err));
    return OK;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void mock_free(struct mock *m)
{
    if (!m)
        return;
    while (m->n_conns)
        mock_conn_drop(m, m->conns[0], false, "stopped");
    mock_conn_bury(m);
    close_if_open(m->listener);
    close_if_open(m->stop);
    close_if_open(m->poll);
    mock_heap_done(&m->heap);
    mock_log_done(&m->log);
    free(m->conns);
    free(m->queue);
    free(m->gone);
    free(m->seen);
    free(m);
}
