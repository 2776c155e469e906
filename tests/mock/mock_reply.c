#include "tests/mock/mock_reply.h"

#include "tests/mock/mock_event.h"
#include "tests/mock/mock_text.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { AT_HEAD, AT_ROLE, AT_TOKENS, AT_TAIL, AT_WHOLE, AT_FLOOD };

#define TYPE_EVENTS "text/event-stream; charset=utf-8"
#define TYPE_JSON   "application/json"
#define MS          ((int64_t)1000000)

void mock_reply_done(struct mock_reply *r)
{
    mock_request_done(&r->request);
    buf_done(&r->words);
    buf_done(&r->prefix);
    buf_done(&r->event);
    memset(r, 0, sizeof *r);
}

static bool is_whole(const struct mock_reply *r)
{
    switch (r->spec.what) {
    case DO_STATUS:
    case DO_EMPTY:
    case DO_GZIP:
    case DO_JSON:
    case DO_LENGTH:
    case DO_GARBAGE:
    case DO_HANGUP:
    case DO_RESET:
    case DO_REDIRECT:
        return true;
    case DO_REDIRECT_ONCE:
        return !r->request.is_hop || !r->request.is_stream;
    default:
        return !r->request.is_stream;
    }
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ (b + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return a ^ a >> 29;
}

/* When the event that comes next is due: an absolute schedule, so that lateness does not add up. */
static int64_t token_due(const struct mock_reply *r)
{
    int64_t due = r->begin_ns + r->spec.first_ns + (int64_t)r->n_events * r->spec.gap_ns;

    return r->spec.jitter_ns ? due + (int64_t)(mix(r->id, r->n_events) % (uint64_t)r->spec.jitter_ns) : due;
}

static uint64_t n_tokens(const struct mock_reply *r)
{
    return r->spec.reason + r->n_text + r->spec.tools;
}

static int64_t whole_due(const struct mock_reply *r)
{
    int64_t n = (int64_t)((n_tokens(r) + r->spec.k - 1) / r->spec.k);

    if (r->spec.what == DO_STATUS || r->spec.what == DO_HANGUP || r->spec.what == DO_RESET)
        return r->begin_ns + r->spec.head_ns;
    return r->begin_ns + r->spec.first_ns + (n > 1 ? n - 1 : 0) * r->spec.gap_ns;
}

static void bound_tokens(struct mock_reply *r)
{
    uint64_t bound = (uint64_t)r->request.max_tokens;

    if (r->request.path != PATH_CHAT)
        r->spec.reason = r->spec.tools = 0;
    if (r->spec.what == DO_ENDLESS) {
        r->n_text = UINT64_MAX / 2;
    } else if (r->request.max_tokens > 0 && n_tokens(r) > bound) {
        r->is_cut = true;
        r->spec.tools = 0;
        r->spec.reason = r->spec.reason < bound ? r->spec.reason : bound;
        r->n_text = r->n_text < bound - r->spec.reason ? r->n_text : bound - r->spec.reason;
    }
}

void mock_reply_start(struct mock_reply *r, struct mock_request *request, const struct mock_spec *spec, uint64_t id,
                      int64_t begin_ns, int64_t cached_tokens)
{
    memset(r, 0, sizeof *r);
    r->spec = *spec;
    r->request = *request;
    memset(request, 0, sizeof *request);
    if (spec->what == DO_DONE_ONLY)
        r->spec.role = ROLE_NONE;
    r->id = id;
    r->begin_ns = begin_ns;
    r->cached_tokens = cached_tokens;
    r->ping_due_ns = spec->ping_ns ? begin_ns + spec->ping_ns : INT64_MAX;
    r->trickle = (size_t)spec->split;
    r->is_stream = !is_whole(r);
    r->is_chunked = r->is_stream && spec->what != DO_HTTP10;
    mock_text_start(r);
    bound_tokens(r);
    mock_event_start(r);
    if (!r->spec.split_ns)
        r->spec.split_ns = spec->what == DO_LORIS || spec->what == DO_LORIS_BODY ? 100 * MS : 50 * 1000;
    if (spec->what == DO_LORIS)
        r->trickle = 1;
    r->stage = spec->what == DO_FLOOD ? AT_FLOOD : r->is_stream ? AT_HEAD : AT_WHOLE;
    r->due_ns = r->is_stream ? begin_ns + spec->head_ns : whole_due(r);
    if (r->stage == AT_FLOOD)
        r->due_ns = begin_ns;
}

static const char *words_of(int64_t status)
{
    switch (status) {
    case 200:
        return "OK";
    case 307:
        return "Temporary Redirect";
    case 404:
        return "Not Found";
    case 429:
        return "Too Many Requests";
    default:
        return "Something";
    }
}

static void put_head(struct mock_reply *r, struct buf *out, int64_t status, const char *type)
{
    bool is_close = r->spec.what == DO_HTTP10 || !r->spec.is_keep_alive || !r->request.is_keep_alive;

    buf_printf(out, "HTTP/1.%d %lld %s\r\nServer: tare-mock\r\nContent-Type: %s\r\nConnection: %s\r\n",
               r->spec.what != DO_HTTP10, (long long)status, words_of(status), type, is_close ? "close" : "keep-alive");
    if (r->spec.retry_after >= 0)
        buf_printf(out, "Retry-After: %lld\r\n", (long long)r->spec.retry_after);
}

static enum mock_then ended(const struct mock_reply *r)
{
    bool is_open = r->spec.is_keep_alive && r->request.is_keep_alive && r->spec.what != DO_HTTP10;

    return is_open ? THEN_DONE : THEN_CLOSE;
}

static const char *error_body(const struct mock_spec *s)
{
    switch (s->body) {
    case BODY_FLAT:
        return "{\"object\":\"error\",\"message\":\"it went wrong\",\"type\":\"x\",\"code\":500}";
    case BODY_DETAIL:
        return "{\"detail\":\"it went wrong\"}";
    case BODY_TEXT:
        return "upstream connect error or disconnect/reset before headers";
    case BODY_HTML:
        return "<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n";
    case BODY_NOTHING:
        return "";
    case BODY_TOO_LONG:
        return "{\"error\":{\"message\":\"This model's maximum context length is 64 tokens. However, you requested "
               "more."
               "\",\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}";
    default:
        return "{\"error\":{\"message\":\"it went wrong\",\"type\":\"server_error\",\"param\":null,\"code\":null}}";
    }
}

static void put_gzip(struct buf *out, const struct buf *plain)
{
    unsigned room = (unsigned)plain->len + 1024;
    unsigned char *packed = malloc(room);
    z_stream z = {.next_in = (unsigned char *)plain->data,
                  .avail_in = (unsigned)plain->len,
                  .next_out = packed,
                  .avail_out = room};

    if (!packed || deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    deflate(&z, Z_FINISH);
    buf_printf(out, "Content-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n", z.total_out);
    buf_append(out, packed, z.total_out);
    deflateEnd(&z);
    free(packed);
}

static enum mock_then put_whole(struct mock_reply *r, struct buf *out)
{
    struct buf body = {0};
    bool is_error = r->spec.what == DO_STATUS;
    const char *type = r->spec.what == DO_WRONG_TYPE ? TYPE_EVENTS : TYPE_JSON;

    if (is_error)
        buf_puts(&body, error_body(&r->spec));
    else
        mock_event_whole(r, &body);
    if (is_error && r->spec.body == BODY_HTML)
        type = "text/html";
    put_head(r, out, is_error ? r->spec.status : 200, type);
    if (r->spec.what == DO_GZIP)
        put_gzip(out, &body);
    else
        buf_printf(out, "Content-Length: %zu\r\n\r\n%s", body.len + (r->spec.what == DO_LENGTH ? 100 : 0),
                   buf_text(&body));
    buf_done(&body);
    return r->spec.what == DO_LENGTH ? THEN_CLOSE : ended(r);
}

static enum mock_then step_whole(struct mock_reply *r, struct buf *out)
{
    const char *target = buf_text(&r->request.target);

    switch (r->spec.what) {
    case DO_HANGUP:
        return THEN_CLOSE;
    case DO_RESET:
        return THEN_RESET;
    case DO_GARBAGE:
        buf_puts(out, "\x16\x03\x01 this is no HTTP\r\n\r\n");
        return THEN_CLOSE;
    case DO_EMPTY:
        put_head(r, out, 200, r->request.is_stream ? TYPE_EVENTS : TYPE_JSON);
        buf_puts(out, "Content-Length: 0\r\n\r\n");
        return ended(r);
    case DO_REDIRECT_ONCE:
    case DO_REDIRECT:
        if (r->spec.what == DO_REDIRECT_ONCE && r->request.is_hop)
            return put_whole(r, out);
        put_head(r, out, 307, TYPE_JSON);
        buf_printf(out, "Location: %s%s\r\nContent-Length: 0\r\n\r\n", target,
                   r->spec.what == DO_REDIRECT_ONCE ? "?hop" : "");
        return ended(r);
    default:
        return put_whole(r, out);
    }
}

static enum mock_then step_head(struct mock_reply *r, struct buf *out)
{
    put_head(r, out, 200, r->spec.what == DO_WRONG_TYPE ? TYPE_JSON : TYPE_EVENTS);
    buf_puts(out, r->is_chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    r->stage = AT_ROLE;
    r->due_ns = r->spec.role_ns >= 0 ? r->begin_ns + r->spec.role_ns : token_due(r);
    return THEN_MORE;
}

static enum mock_then step_flood(struct mock_reply *r, struct buf *out)
{
    int i;

    if (r->n_events++ == 0)
        buf_puts(out, "HTTP/1.1 200 OK\r\n");
    for (i = 0; i < 64; i++)
        buf_printf(out, "X-Flood-%llu-%d: %0200d\r\n", (unsigned long long)r->n_events, i, i);
    r->due_ns += MS;
    return THEN_MORE;
}

static enum mock_then step_tokens(struct mock_reply *r, struct buf *out)
{
    enum mock_then then;

    if (r->spec.what != DO_NORMAL && mock_event_strike(r, out, &then)) {
        if (then == THEN_DONE)
            then = ended(r);
        return then;
    }
    if (r->n_sent < n_tokens(r)) {
        mock_event_tokens(r, out);
        r->due_ns = token_due(r);
        if (r->n_sent < n_tokens(r))
            return THEN_MORE;
        r->stage = AT_TAIL; /* at once, in a write of its own */
        r->due_ns = r->begin_ns;
        return THEN_MORE;
    }
    r->stage = AT_TAIL;
    return THEN_MORE;
}

enum mock_then mock_reply_step(struct mock_reply *r, struct buf *out)
{
    switch (r->stage) {
    case AT_HEAD:
        return step_head(r, out);
    case AT_ROLE:
        if (r->spec.what == DO_LORIS)
            r->trickle = 0;
        if (r->spec.what == DO_LORIS_BODY)
            r->trickle = 1;
        mock_event_role(r, out);
        r->stage = AT_TOKENS;
        r->due_ns = token_due(r);
        return THEN_MORE;
    case AT_TOKENS:
        return step_tokens(r, out);
    case AT_FLOOD:
        return step_flood(r, out);
    case AT_WHOLE:
        return step_whole(r, out);
    default:
        mock_event_tail(r, out);
        return ended(r);
    }
}

void mock_reply_simple(struct buf *out, int64_t status, const char *json, bool is_keep_alive)
{
    buf_printf(out,
               "HTTP/1.1 %lld %s\r\nServer: tare-mock\r\nContent-Type: " TYPE_JSON
               "\r\nConnection: %s\r\nContent-Length: %zu\r\n\r\n%s",
               (long long)status, words_of(status), is_keep_alive ? "keep-alive" : "close", strlen(json), json);
}
