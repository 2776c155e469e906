#include "core/client/transport_curl.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/chunk.h"
#include "core/client/retry.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#define MAX_HEADER_BYTES ((size_t)64 << 10)
#define READ_BYTES       8192L
enum { MAX_WORDS = 400 };

/* A handle of libcurl's with the room that it writes its words to. */
struct stream_slot {
    CURL *easy; /* owned */
    struct transport *transport;
    struct transfer *transfer; /* NULL at rest */
    char words[CURL_ERROR_SIZE];
};

static int on_timer(CURLM *multi, long wait_ms, void *ctx)
{
    struct transport *t = ctx;

    (void)multi;
    t->curl_due_ns = wait_ms < 0 ? INT64_MAX : clock_ns() + (int64_t)wait_ms * 1000000;
    return 0;
}

struct transfer *transport_curl_transfer(void *easy)
{
    struct stream_slot *s = NULL;

    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&s) == CURLE_OK && s ? s->transfer : NULL;
}

/* Once a request has begun, the socket is watched for writing only while some of it is left. */
static void note_written(CURL *easy, int what)
{
    struct transfer *x = transport_curl_transfer(easy);

    if (!x || x->sent_ns == NS_UNKNOWN)
        return;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) {
        x->waits_to_write = true;
    } else if (x->waits_to_write) {
        x->waits_to_write = false;
        x->sent_ns = clock_ns();
    }
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    struct transport *t = ctx;
    struct epoll_event e = {.data.fd = fd};

    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    note_written(easy, what);
    e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (!known)
        curl_multi_assign(t->multi, fd, t);
    /* a number that was closed and given out again may be known to libcurl and not to epoll, or the other way round */
    if (epoll_ctl(t->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e))
        return epoll_ctl(t->epoll_fd, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &e) ? -1 : 0;
    return 0;
}

enum status transport_curl_init(struct transport *t, struct error *err)
{
    CURLM *m;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(m = curl_multi_init()))
        return error_set(err, ERR_MEMORY, "libcurl cannot be set up");
    t->multi = m;
    curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(m, CURLMOPT_SOCKETDATA, t);
    curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(m, CURLMOPT_TIMERDATA, t);
    curl_multi_setopt(m, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)(t->options.max_streams + 8));
    return OK;
}

static void slot_free(struct stream_slot *s)
{
    curl_easy_cleanup(s->easy);
    free(s);
}

void transport_curl_done(struct transport *t)
{
    size_t i;

    for (i = 0; i < t->n_spare; i++)
        slot_free(t->spare[i]);
    free(t->spare);
    t->spare = NULL;
    t->n_spare = 0;
    if (t->multi)
        curl_multi_cleanup(t->multi);
}

/* The clocks of a request start when it goes to a connection that stands. */
static int on_begin(void *ctx, char *ip, char *local, int port, int local_port)
{
    struct stream_slot *s = ctx;

    (void)ip, (void)local, (void)port, (void)local_port;
    s->transfer->sent_ns = clock_ns();
    return CURL_PREREQFUNC_OK;
}

static enum status add_event(struct transfer *x, int64_t t_ns, size_t len)
{
    if (mem_grow(&x->events, &x->cap_events, x->n_events + 1, sizeof *x->events, NULL) != OK)
        return ERR_MEMORY;
    x->events[x->n_events++] = (struct read_event){.t_ns = t_ns, .offset = x->bytes.len, .len = len};
    return OK;
}

/* What libcurl hands over in one round came with one read. */
static enum status keep(struct transport *t, struct transfer *x, const char *bytes, size_t len)
{
    if (x->round == t->round && x->n_events > 0) {
        x->events[x->n_events - 1].len += len;
    } else {
        x->last_ns = clock_ns();
        lag_add(&t->lag, x->last_ns - t->ready_ns);
        if (add_event(x, x->last_ns, len) != OK)
            return ERR_MEMORY;
    }
    x->round = t->round;
    buf_append(&x->bytes, bytes, len);
    return x->bytes.failed ? ERR_MEMORY : OK;
}

static bool is_answer(const struct transfer *x)
{
    return x->status >= 200 && x->status < 300;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct stream_slot *s = ctx;
    struct transfer *x = s->transfer;
    size_t len = size * n;

    if (len > s->transport->options.max_reply_bytes - x->bytes.len) {
        x->end = TRANSFER_TOO_LONG;
        return 0;
    }
    if (keep(s->transport, x, bytes, len) != OK) {
        buf_puts(&x->failure, "no memory for an answer");
        return 0;
    }
    if (x->first_ns == NS_UNKNOWN && is_answer(x) && (!x->is_stream || transfer_has_content(bytes, len)))
        x->first_ns = x->last_ns;
    return len;
}

static bool is_named(const char *line, size_t len, const char *name)
{
    size_t n = strlen(name);

    return len > n && line[n] == ':' && strncasecmp(line, name, n) == 0;
}

/* The head of the last response counts: one of "100 Continue" or of a proxy is forgotten. */
static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    struct stream_slot *s = ctx;
    struct transfer *x = s->transfer;
    size_t len = size * n, kept = len;

    while (kept && (line[kept - 1] == '\r' || line[kept - 1] == '\n'))
        kept--;
    if (x->n_events > 0 || kept == 0)
        return len; /* a trailer, or the end of the head */
    if (kept > 5 && memcmp(line, "HTTP/", 5) == 0) {
        long status = 0;

        buf_clear(&x->headers);
        x->retry_after_ns = -1;
        curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
        x->status = status;
        return len;
    }
    if (is_named(line, kept, "retry-after") || is_named(line, kept, "retry-after-ms"))
        x->retry_after_ns = retry_after(line, kept, clock_wall_ns(), x->retry_after_ns);
    if (!is_named(line, kept, "set-cookie") && x->headers.len + kept < MAX_HEADER_BYTES) {
        chunk_words(&x->headers, line, kept, x->headers.len + kept);
        buf_putc(&x->headers, '\n');
    }
    return len;
}

/* What every request has, set once. */
static void set_fixed(struct stream_slot *s, const struct transport_options *o)
{
    CURL *e = s->easy;

    curl_easy_setopt(e, CURLOPT_PRIVATE, s);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, s->words);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, s);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_begin);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, s);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, READ_BYTES);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "identity"); /* not asked for, and undone where it comes */
    curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, "tare/" TARE_VERSION);
    if (o->connect_ns > 0)
        curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect_ns / 1000000 + 1));
    if (o->cacert)
        curl_easy_setopt(e, CURLOPT_CAINFO, o->cacert);
    if (o->is_insecure) {
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static enum status take_slot(struct transport *t, struct stream_slot **ret, struct error *err)
{
    struct stream_slot *s = NULL;

    if (t->n_spare > 0) {
        *ret = t->spare[--t->n_spare];
        return OK;
    }
    TRY(mem_new(1, sizeof *s, &s, err));
    s->easy = curl_easy_init();
    s->transport = t;
    if (!s->easy) {
        free(s);
        return error_set(err, ERR_MEMORY, "no memory for a request");
    }
    set_fixed(s, &t->options);
    *ret = s;
    return OK;
}

static void give_slot(struct transport *t, struct stream_slot *s)
{
    s->transfer = NULL;
    if (mem_grow(&t->spare, &t->cap_spare, t->n_spare + 1, sizeof(struct stream_slot *), NULL) == OK)
        t->spare[t->n_spare++] = s;
    else
        slot_free(s);
}

enum status transport_curl_start(struct transport *t, struct transfer *x, struct error *err)
{
    struct stream_slot *s = NULL;
    CURL *e;

    TRY(take_slot(t, &s, err));
    e = s->easy;
    s->transfer = x;
    s->words[0] = '\0';
    curl_easy_setopt(e, CURLOPT_URL, x->url);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, (struct curl_slist *)x->lines);
    if (x->is_get) {
        curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
    } else {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body.len);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, buf_text(&x->body));
    }
    if (curl_multi_add_handle(t->multi, e) != CURLM_OK) {
        give_slot(t, s);
        return error_set(err, ERR_MEMORY, "no memory for a request");
    }
    x->stream = s;
    return OK;
}

void transport_curl_stop(struct transport *t, struct transfer *x)
{
    struct stream_slot *s = x->stream;

    x->stream = NULL;
    curl_multi_remove_handle(t->multi, s->easy);
    give_slot(t, s);
}

void transport_curl_ready(struct transport *t, int fd, uint32_t events)
{
    int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    int running;

    curl_multi_socket_action(t->multi, fd < 0 ? CURL_SOCKET_TIMEOUT : fd, what, &running);
}

/* A transfer that broke: by its code, and by whether anything had come. */
static enum transfer_end end_of(const struct transfer *x, CURLcode code)
{
    if (x->end == TRANSFER_TOO_LONG)
        return TRANSFER_TOO_LONG;
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_NOTFOUND:
        return TRANSFER_REFUSED;
    case CURLE_OPERATION_TIMEDOUT:
        return TRANSFER_TIMED_OUT;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
        return TRANSFER_CUT;
    default:
        return x->status == 0 && x->bytes.len == 0 ? TRANSFER_UNREACHED : TRANSFER_CUT;
    }
}

static void find_words(struct transfer *x, const struct stream_slot *s, CURLcode code)
{
    const char *words = s->words[0] ? s->words : curl_easy_strerror(code);

    if (x->end == TRANSFER_TOO_LONG)
        buf_printf(&x->failure, "the answer is longer than %zu bytes (--max-reply-bytes)",
                   s->transport->options.max_reply_bytes);
    else if (code == CURLE_UNSUPPORTED_PROTOCOL && x->sent_ns != NS_UNKNOWN)
        buf_puts(&x->failure, "what came is no HTTP: is the address right, and is it http or https?");
    else if (x->failure.len == 0)
        chunk_words(&x->failure, words, strlen(words), MAX_WORDS);
    if (code == CURLE_SSL_CONNECT_ERROR)
        buf_puts(&x->failure, " (is it an https address?)");
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        buf_puts(&x->failure, " (--cacert names a certificate to trust)");
    if (strcasestr(buf_text(&x->headers), "\ncontent-encoding:") && code != CURLE_OPERATION_TIMEDOUT)
        buf_puts(&x->failure, " (the answer is compressed, which was not asked for)");
}

static void note_connecting(struct transfer *x, CURL *easy)
{
    curl_off_t us = 0;
    long n = 0;

    if (curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &n) == CURLE_OK && n > 0 &&
        curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK)
        x->connect_ns = (int64_t)us * 1000;
}

/* A reply to another address than was asked would not be comparable, and a key must not follow it. */
static void note_redirect(struct transfer *x, CURL *easy)
{
    char *to = NULL;

    if (x->status == 304)
        return;
    buf_puts(&x->failure, "redirected, which is not followed");
    if (curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to || strncasecmp(to, "http", 4) != 0)
        return;
    buf_puts(&x->failure, ": name the address with --endpoint: ");
    chunk_words(&x->failure, to, strlen(to), MAX_WORDS);
}

void transport_curl_judge(struct transport *t, struct transfer *x, int code)
{
    struct stream_slot *s = x->stream;

    (void)t;
    note_connecting(x, s->easy);
    if (code != CURLE_OK) {
        x->end = end_of(x, (CURLcode)code);
        find_words(x, s, (CURLcode)code);
        return;
    }
    x->end = TRANSFER_WHOLE;
    if (x->status >= 300 && x->status < 400)
        note_redirect(x, s->easy);
    if (add_event(x, clock_ns(), 0) != OK) /* the end of the answer */
        buf_puts(&x->failure, "no memory for an answer");
}
