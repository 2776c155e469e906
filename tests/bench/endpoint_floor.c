/* The least that a client of an endpoint can do: reads every byte, takes the time of every read, counts events, and
 * parses nothing. What the machine and the mock server leave possible, for the figures of tare run to stand beside.
 *
 *   endpoint_floor URL STREAMS REQUESTS LOG
 *
 * URL: http://127.0.0.1:PORT/… of the mock server, whose --spec says what is streamed. Each stream asks REQUESTS times,
 * one after another. LOG: a line for each request, times on CLOCK_MONOTONIC:
 *   {"request": as the server counts, "sent_ns": …, "read_ns": [an event each]}
 */
#include "core/base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { N_EVENTS = 256, READ_BYTES = 65536, TAIL = 5 };

static const char body[] = "{\"model\":\"mock\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Say "
                           "something.\"}]}";

struct asked {
    unsigned long id;
    int64_t sent_ns, *read_ns; /* owned: [n] */
    size_t n, cap;
};

struct stream {
    int fd;
    uint64_t left;
    struct asked *now;
    char tail[TAIL]; /* the last bytes seen */
    bool was_lf;     /* the last byte was a line's end */
};

struct floor {
    int poll;
    struct sockaddr_in to;
    struct stream *streams;   /* owned */
    struct asked *asked;      /* owned */
    uint64_t n_asked, n_open; /* begun in all; connections that stand */
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "endpoint_floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *grow(void *at, size_t n, size_t size)
{
    void *p = realloc(at, n * size);

    if (!p)
        give_up("memory");
    return p;
}

static void send_request(struct floor *f, struct stream *s)
{
    char text[512];
    int len = snprintf(text, sizeof text,
                       "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       sizeof body - 1, body);

    s->left--;
    s->now = &f->asked[f->n_asked++];
    s->now->sent_ns = now_ns();
    if (send(s->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        give_up("send");
}

static void open_stream(struct floor *f, struct stream *s)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    int one = 1;

    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&f->to, sizeof f->to))
        give_up("connect");
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(f->poll, EPOLL_CTL_ADD, s->fd, &e))
        give_up("epoll");
    f->n_open++;
}

static void note_event(struct asked *a, int64_t t_ns)
{
    if (a->n == a->cap) {
        a->cap = a->cap ? 2 * a->cap : 256;
        a->read_ns = grow(a->read_ns, a->cap, sizeof *a->read_ns);
    }
    a->read_ns[a->n++] = t_ns;
}

/* An empty line ends an event; the server's own lines end in LF, HTTP's in CR LF. */
static void count_events(struct stream *s, const char *bytes, size_t len, int64_t t_ns)
{
    const char *at = bytes, *end = bytes + len, *lf;

    if (s->was_lf && len && *at == '\n')
        note_event(s->now, t_ns);
    while ((lf = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at = lf + 1;
        if (at < end && *at == '\n') {
            note_event(s->now, t_ns);
            at++;
        }
    }
    s->was_lf = len && end[-1] == '\n' && !(len > 1 && end[-2] == '\n');
}

static bool is_end(struct stream *s, const char *bytes, size_t len)
{
    size_t keep = len < TAIL ? TAIL - len : 0;

    memmove(s->tail, s->tail + TAIL - keep, keep);
    memcpy(s->tail + keep, bytes + len - (TAIL - keep), TAIL - keep);
    return memcmp(s->tail, "0\r\n\r\n", TAIL) == 0;
}

static void find_id(struct asked *a, const char *bytes, size_t len)
{
    const char *at = memmem(bytes, len, "-mock-", 6);

    if (a->id == 0 && at)
        a->id = strtoul(at + 6, NULL, 10);
}

static void read_stream(struct floor *f, struct stream *s)
{
    static char bytes[READ_BYTES + 1];
    ssize_t n = recv(s->fd, bytes, READ_BYTES, 0);
    int64_t t_ns = now_ns();

    if (n <= 0)
        give_up("the server closed a stream");
    bytes[n] = '\0';
    if (s->now->n == 0)
        find_id(s->now, bytes, (size_t)n);
    count_events(s, bytes, (size_t)n, t_ns);
    if (!is_end(s, bytes, (size_t)n))
        return;
    if (s->left > 0) {
        send_request(f, s);
        return;
    }
    close(s->fd);
    f->n_open--;
}

static void serve(struct floor *f)
{
    struct epoll_event events[N_EVENTS];

    while (f->n_open > 0) {
        int n = epoll_wait(f->poll, events, N_EVENTS, -1), i;

        for (i = 0; i < n; i++)
            read_stream(f, events[i].data.ptr);
    }
}

static void write_log(const struct floor *f, const char *path)
{
    FILE *to = fopen(path, "w");
    uint64_t i;
    size_t k;

    if (!to)
        give_up(path);
    for (i = 0; i < f->n_asked; i++) {
        const struct asked *a = &f->asked[i];

        fprintf(to, "{\"request\":%lu,\"sent_ns\":%" PRId64 ",\"read_ns\":[", a->id, a->sent_ns);
        for (k = 0; k < a->n; k++)
            fprintf(to, "%s%" PRId64, k ? "," : "", a->read_ns[k]);
        fputs("]}\n", to);
    }
    if (fclose(to))
        give_up(path);
}

static uint64_t port_of(const char *url)
{
    static const char before[] = "http://127.0.0.1:";
    char digits[8] = "";
    uint64_t port = 0;

    if (strncmp(url, before, sizeof before - 1) != 0)
        return 0;
    url += sizeof before - 1;
    memcpy(digits, url, strnlen(url, 5));
    digits[strspn(digits, "0123456789")] = '\0';
    return num_u64(digits, &port) && port < 65536 ? port : 0;
}

int main(int argc, char **argv)
{
    struct floor f = {.to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    uint64_t n = 0, each = 0, i, port = argc == 5 ? port_of(argv[1]) : 0;
    struct rlimit files;

    if (port == 0 || !num_u64(argv[2], &n) || !num_u64(argv[3], &each) || n == 0 || n > 65536 || each == 0 ||
        each > 65536) {
        fputs("usage: endpoint_floor http://127.0.0.1:PORT/v1 STREAMS REQUESTS LOG\n", stderr);
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    f.to.sin_port = htons((uint16_t)port);
    f.poll = epoll_create1(0);
    f.streams = calloc(n, sizeof *f.streams);
    f.asked = calloc(n * each, sizeof *f.asked);
    if (f.poll < 0 || !f.streams || !f.asked)
        give_up("start");
    for (i = 0; i < n; i++) {
        f.streams[i].left = each;
        open_stream(&f, &f.streams[i]);
        send_request(&f, &f.streams[i]);
    }
    serve(&f);
    write_log(&f, argv[4]);
    for (i = 0; i < f.n_asked; i++)
        free(f.asked[i].read_ns);
    free(f.asked);
    free(f.streams);
    close(f.poll);
    return 0;
}
