#include "core/client/reply.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/client/chunk.h"
#include "core/client/http.h"
#include "core/client/refusal.h"
#include "core/client/reply_tokens.h"
#include "core/client/sse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_ERROR_WORDS = 500 };

/* A piece of the body, inside the run's bytes, and the read that brought it. */
struct piece {
    const unsigned char *bytes; /* borrowed */
    size_t len;
    int64_t t_ns;
    size_t read;
};

struct body {
    struct piece *pieces; /* owned */
    size_t n, cap;
    size_t len;
    size_t read; /* index of the read event being fed */
};

/* What is known while the body is read. */
struct reader {
    struct reply *reply;
    struct chunk chunk;
    size_t read, last_read; /* of the piece being fed; of the last content; SIZE_MAX before the first */
    int64_t counted;        /* tokens that usage told of so far                                       */
    int64_t total_tokens;   /* as usage tells; -1                                                     */
};

static void body_done(struct body *b)
{
    free(b->pieces);
    memset(b, 0, sizeof *b);
}

static void reader_done(struct reader *r)
{
    chunk_done(&r->chunk);
}

void reply_done(struct reply *r)
{
    buf_done(&r->text);
    buf_done(&r->error);
    buf_done(&r->model);
    buf_done(&r->finish_reason);
    free(r->arrivals);
}

const char *reply_state_name(enum reply_state s)
{
    switch (s) {
    case REPLY_OK:
        return "ok";
    case REPLY_HTTP_ERROR:
        return "http-error";
    case REPLY_ERROR:
        return "error";
    case REPLY_BROKEN:
        return "broken";
    default:
        return "empty";
    }
}

static enum status keep_piece(void *ctx, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    struct body *b = ctx;

    if (len == 0)
        return OK;
    TRY(mem_grow(&b->pieces, &b->cap, b->n + 1, sizeof *b->pieces, err));
    b->pieces[b->n++] = (struct piece){.bytes = bytes, .len = len, .t_ns = t_ns, .read = b->read};
    b->len += len;
    return OK;
}

/* Tokens of the event being read; -1 where it does not tell. */
static int64_t event_tokens(const struct reader *rd)
{
    const struct chunk *c = &rd->chunk;

    if (c->n_tokens >= 0)
        return c->n_tokens;
    return c->completion_tokens > rd->counted ? c->completion_tokens - rd->counted : -1;
}

static enum status note_arrival(struct reader *rd, int64_t t_ns, struct error *err)
{
    struct reply *r = rd->reply;
    int64_t n_tokens = event_tokens(rd);
    struct arrival *a;

    if (rd->read != rd->last_read) {
        TRY(mem_grow(&r->arrivals, &r->cap_arrivals, r->n_arrivals + 1, sizeof *r->arrivals, err));
        r->arrivals[r->n_arrivals++] = (struct arrival){.t_ns = t_ns};
    }
    a = &r->arrivals[r->n_arrivals - 1];
    a->n_pieces += rd->chunk.n_pieces;
    a->n_tokens = n_tokens < 0 || a->n_tokens < 0 ? -1 : a->n_tokens + n_tokens;
    rd->last_read = rd->read;
    return OK;
}

static enum status note_content(struct reader *rd, int64_t t_ns, struct error *err)
{
    struct reply *r = rd->reply;

    if (r->n_content_chunks == 0)
        r->first_content_ns = t_ns;
    r->n_content_chunks += rd->chunk.n_pieces;
    r->last_content_ns = t_ns;
    if (rd->chunk.content.len && r->first_visible_ns == NS_UNKNOWN)
        r->first_visible_ns = t_ns;
    return note_arrival(rd, t_ns, err);
}

static void set_text(struct buf *to, const struct buf *from)
{
    if (from->len == 0)
        return;
    buf_clear(to);
    buf_append(to, from->data, from->len);
}

static void take_counts(struct reader *rd)
{
    struct reply *r = rd->reply;
    const struct chunk *c = &rd->chunk;

    if (c->prompt_tokens >= 0)
        r->prompt_tokens = c->prompt_tokens;
    if (c->completion_tokens >= 0)
        r->completion_tokens = c->completion_tokens;
    if (c->completion_tokens >= 0 && c->n_pieces) /* text that was held back comes with the next content */
        rd->counted = c->completion_tokens;
    if (c->cached_tokens >= 0)
        r->cached_tokens = c->cached_tokens;
    if (c->reasoning_tokens >= 0)
        r->reasoning_tokens = c->reasoning_tokens;
    if (c->total_tokens >= 0)
        rd->total_tokens = c->total_tokens;
}

/* Moves what the chunk says into the reply. */
static enum status take_chunk(struct reader *rd, int64_t t_ns, struct error *err)
{
    struct reply *r = rd->reply;
    const struct chunk *c = &rd->chunk;

    buf_append(&r->text, buf_text(&c->content), c->content.len);
    if (c->n_pieces)
        TRY(note_content(rd, t_ns, err));
    r->end_ns = t_ns;
    set_text(&r->finish_reason, &c->finish_reason);
    set_text(&r->model, &c->model);
    r->has_reasoning |= c->has_reasoning;
    r->has_tool_calls |= c->has_tool_call;
    r->has_refusal |= c->has_refusal;
    take_counts(rd);
    if (c->is_error && r->state != REPLY_ERROR) {
        r->state = REPLY_ERROR;
        chunk_words(&r->error, buf_text(&c->error), c->error.len, MAX_ERROR_WORDS);
    }
    if (c->is_garbage)
        r->n_bad_events++;
    return OK;
}

static size_t first_visible_byte(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
        i++;
    return i;
}

static bool is_done_mark(const struct sse_event *e)
{
    size_t at = first_visible_byte(e->data, e->len);

    return e->len - at >= 6 && memcmp(e->data + at, "[DONE]", 6) == 0 &&
           first_visible_byte(e->data + at + 6, e->len - at - 6) == e->len - at - 6;
}

/* Plain words instead of JSON: an error when the event is named so, else a keep-alive of a proxy. */
static void take_plain_event(struct reader *rd, const struct sse_event *e)
{
    struct reply *r = rd->reply;

    if (strcmp(e->name, "error") != 0) {
        r->n_bad_events++;
        return;
    }
    if (r->state != REPLY_ERROR)
        chunk_words(&r->error, e->data, e->len, MAX_ERROR_WORDS);
    r->state = REPLY_ERROR;
}

static enum status on_event(void *ctx, const struct sse_event *e, struct error *err)
{
    struct reader *rd = ctx;
    size_t at = first_visible_byte(e->data, e->len);

    if (at == e->len)
        return OK;
    if (is_done_mark(e)) {
        rd->reply->done_seen = true;
        rd->reply->end_ns = e->t_ns;
        return OK;
    }
    if (e->data[at] != '{' && e->data[at] != '[') {
        take_plain_event(rd, e);
        return OK;
    }
    chunk_clear(&rd->chunk);
    TRY(chunk_read(&rd->chunk, e->data, e->len, err));
    if (rd->chunk.is_garbage)
        rd->reply->has_bad_json = true;
    if (strcmp(e->name, "error") == 0 && !rd->chunk.is_error) {
        rd->chunk.is_error = true;
        chunk_words(&rd->chunk.error, e->data, e->len, MAX_ERROR_WORDS);
    }
    return take_chunk(rd, e->t_ns, err);
}

static enum status read_stream(struct reader *rd, const struct body *b, struct error *err)
{
    struct sse_sink sink = {.on_event = on_event, .ctx = rd};
    AUTO(sse) sse = {0};
    int64_t t_ns = NS_UNKNOWN;
    size_t i;

    sse_init(&sse, sink, 0);
    for (i = 0; i < b->n; i++) {
        rd->read = b->pieces[i].read;
        t_ns = b->pieces[i].t_ns;
        TRY(sse_feed(&sse, b->pieces[i].bytes, b->pieces[i].len, t_ns, err));
    }
    return sse_end(&sse, t_ns, err);
}

static bool is_failure(int64_t status)
{
    return status != 0 && (status < 200 || status > 299);
}

static enum status join(const struct body *b, struct buf *ret, struct error *err)
{
    size_t i;

    for (i = 0; i < b->n; i++)
        buf_append(ret, b->pieces[i].bytes, b->pieces[i].len);
    return buf_check(ret, err);
}

/* One JSON value, or the words of a proxy. */
static enum status read_whole(struct reader *rd, const struct body *b, struct error *err)
{
    struct reply *r = rd->reply;
    AUTO(buf) text = {0};
    size_t at;

    TRY(join(b, &text, err));
    at = text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a byte order mark */
    at += first_visible_byte(buf_text(&text) + at, text.len - at);
    if (at == text.len)
        return OK;
    chunk_clear(&rd->chunk);
    if (text.data[at] == '{' || text.data[at] == '[') {
        TRY(chunk_read(&rd->chunk, text.data + at, text.len - at, err));
        r->has_bad_json = rd->chunk.is_garbage;
    } else {
        rd->chunk.is_error = true;
        chunk_words(&rd->chunk.error, text.data + at, text.len - at, MAX_ERROR_WORDS);
    }
    rd->read = b->pieces[b->n - 1].read;
    TRY(take_chunk(rd, b->pieces[b->n - 1].t_ns, err));
    if (r->error.len == 0 && is_failure(r->status))
        chunk_words(&r->error, text.data + at, text.len - at, MAX_ERROR_WORDS);
    return OK;
}

/* The first bytes decide, since content types lie in both directions; then the content type. */
static bool is_event_stream(const struct http *h, const struct body *b)
{
    static const char *const fields[] = {":", "data:", "event:", "id:", "retry:", "data\n", "data\r"};
    const char *type = http_header(h, "content-type");
    char head[16] = {0};
    size_t n = 0, at, i, k;

    for (i = 0; i < b->n && n < sizeof head - 1; i++) {
        for (k = 0; k < b->pieces[i].len && n < sizeof head - 1; k++) {
            if (n || !strchr("\xEF\xBB\xBF \t\r\n", b->pieces[i].bytes[k]) || !b->pieces[i].bytes[k])
                head[n++] = (char)b->pieces[i].bytes[k];
        }
    }
    at = 0;
    for (i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strncmp(head + at, fields[i], strlen(fields[i])) == 0)
            return true;
    }
    if (head[0] == '{' || head[0] == '[')
        return false;
    return type && strncasecmp(type, "text/event-stream", 17) == 0;
}

static bool ends_cleanly(const struct reply *r, const struct http *h, bool is_closed)
{
    const char *length = http_header(h, "content-length");
    uint64_t len;

    if (h->framing == HTTP_BODY_ONLY) {
        if (length && !http_header(h, "content-encoding") && num_u64(length, &len) && h->body_len < len)
            return false;
    } else if (h->framing != HTTP_UNTIL_CLOSE) {
        return http_is_whole(h);
    }
    return is_closed || r->done_seen || r->finish_reason.len > 0;
}

static enum reply_state judge(const struct reader *rd)
{
    const struct reply *r = rd->reply;
    const char *finish = buf_text(&r->finish_reason);

    if (is_failure(r->status))
        return REPLY_HTTP_ERROR;
    if (r->state == REPLY_ERROR || strcmp(finish, "error") == 0 || strcmp(finish, "abort") == 0)
        return REPLY_ERROR;
    if (!r->is_clean_end || r->has_bad_json)
        return REPLY_BROKEN;
    if (r->n_content_chunks == 0)
        return REPLY_EMPTY;
    return r->finish_reason.len ? REPLY_OK : REPLY_BROKEN;
}

static enum status feed_all(struct http *h, struct body *b, const struct exchange *x, const struct read_event *events,
                            const unsigned char *bytes, bool *ret_is_closed, int64_t *ret_first_ns, struct error *err)
{
    bool is_closed = false;
    size_t i;

    for (i = 0; i < x->n_events; i++) {
        const struct read_event *e = &events[i];

        b->read = i;
        is_closed |= e->len == 0;
        if (e->len && *ret_first_ns == NS_UNKNOWN)
            *ret_first_ns = e->t_ns;
        if (e->len)
            TRY(http_feed(h, bytes + e->offset, (size_t)e->len, e->t_ns, err));
    }
    *ret_is_closed = is_closed;
    return OK;
}

static enum status read_body(struct reader *rd, const struct http *h, const struct body *b, struct error *err)
{
    struct reply *r = rd->reply;
    const char *coding = http_header(h, "content-encoding");

    if (coding && strcasecmp(coding, "identity") != 0 && h->framing != HTTP_BODY_ONLY) {
        r->has_bad_json = true;
        buf_printf(&r->error, "the body is compressed ('%.20s'): record it without Accept-Encoding", coding);
        return OK;
    }
    r->is_stream = is_event_stream(h, b);
    if (r->is_stream)
        TRY(read_stream(rd, b, err));
    else
        TRY(read_whole(rd, b, err));
    if (rd->chunk.half)
        buf_puts(&r->text, "\xEF\xBF\xBD");
    return OK;
}

static void start(struct reply *r, const struct exchange *x)
{
    r->sent_ns = x->sent_ns;
    r->scheduled_ns = x->scheduled_ns;
    r->tokens_sent = x->tokens_sent_is_estimate ? 0 : x->tokens_sent;
    r->first_content_ns = r->last_content_ns = r->first_visible_ns = NS_UNKNOWN;
    r->first_byte_ns = r->end_ns = NS_UNKNOWN;
    r->prompt_tokens = r->completion_tokens = r->cached_tokens = r->reasoning_tokens = -1;
}

static enum status read_reply(struct reply *r, const struct exchange *x, const struct read_event *events,
                              const unsigned char *bytes, struct error *err)
{
    AUTO(body) body = {0};
    AUTO(http) http = {0};
    AUTO(reader) rd = {.reply = r, .last_read = SIZE_MAX, .total_tokens = -1};
    struct http_sink sink = {.on_body = keep_piece, .ctx = &body};
    bool is_closed;

    start(r, x);
    if (x->has_http_head)
        http_init(&http, sink);
    else
        TRY(http_init_body(&http, sink, x->status, x->headers, err));
    TRY(feed_all(&http, &body, x, events, bytes, &is_closed, &r->first_byte_ns, err));
    r->status = http.status ? http.status : x->status;
    TRY(read_body(&rd, &http, &body, err));
    r->is_clean_end = ends_cleanly(r, &http, is_closed);
    if (x->failure && x->failure[0]) {
        r->is_clean_end = false;
        if (r->error.len == 0)
            chunk_words(&r->error, x->failure, strlen(x->failure), MAX_ERROR_WORDS);
    }
    reply_settle_tokens(r, x, rd.total_tokens);
    if (r->error.len == 0 && http.is_bad)
        buf_puts(&r->error, http.why);
    r->is_context_overflow = refusal_is_for_length(r->status, buf_text(&r->error));
    if ((r->status == 0 && body.len == 0) || (x->has_http_head && http.status == 0))
        r->state = REPLY_HTTP_ERROR;
    else
        r->state = judge(&rd);
    TRY(buf_check(&r->text, err));
    return buf_check(&r->error, err);
}

enum status reply_read(struct reply *ret, const struct exchange *x, const struct read_event *events,
                       const unsigned char *bytes, struct error *err)
{
    AUTO(reply) r = {0};

    TRY(read_reply(&r, x, events, bytes, err));
    *ret = r;
    memset(&r, 0, sizeof r);
    return OK;
}
