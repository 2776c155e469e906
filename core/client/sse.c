#include "core/client/sse.h"

#include "core/base/num.h"

#include <string.h>

enum { BLOCK = 512 };

static const unsigned char BOM[3] = {0xEF, 0xBB, 0xBF};

void sse_init(struct sse *s, struct sse_sink sink, size_t limit)
{
    memset(s, 0, sizeof *s);
    s->sink = sink;
    s->retry_ms = -1;
    s->line.limit = s->data.limit = s->name.limit = s->id.limit = limit ? limit : SSE_EVENT_LIMIT;
}

void sse_done(struct sse *s)
{
    buf_done(&s->line);
    buf_done(&s->name);
    buf_done(&s->id);
    buf_done(&s->data);
}

/* Appends unless the limit stands against it; a missing memory is found by buf_check() at the line's end. */
static enum status append(struct buf *b, const void *bytes, size_t len, struct error *err)
{
    if (len > b->limit - b->len)
        return error_set(err, ERR_LIMIT, "an event of the stream is longer than %zu bytes", b->limit);
    buf_append(b, bytes, len);
    return OK;
}

static enum status dispatch(struct sse *s, int64_t t_ns, struct error *err)
{
    struct sse_event event = {.name = buf_text(&s->name),
                              .id = buf_text(&s->id),
                              .data = buf_text(&s->data),
                              .len = s->data.len,
                              .t_ns = t_ns};

    if (s->has_data)
        TRY(s->sink.on_event(s->sink.ctx, &event, err));
    s->has_data = false;
    buf_clear(&s->name);
    buf_clear(&s->data);
    return OK;
}

static bool is_field(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && memcmp(name, wanted, len) == 0;
}

static void take_retry(struct sse *s, const char *value, size_t len)
{
    char digits[24] = "";
    uint64_t ms;

    if (len >= sizeof digits)
        return;
    memcpy(digits, value, len);
    if (strlen(digits) == len && num_u64(digits, &ms) && ms <= INT64_MAX)
        s->retry_ms = (int64_t)ms;
}

static enum status take_field(struct sse *s, const char *line, size_t name_len, const char *value, size_t len,
                              struct error *err)
{
    if (is_field(line, name_len, "data")) {
        if (s->has_data)
            TRY(append(&s->data, "\n", 1, err));
        s->has_data = true;
        TRY(append(&s->data, value, len, err));
        return buf_check(&s->data, err);
    }
    if (is_field(line, name_len, "event")) {
        buf_clear(&s->name);
        buf_append(&s->name, value, len);
        return buf_check(&s->name, err);
    }
    if (is_field(line, name_len, "id") && !memchr(value, '\0', len)) {
        buf_clear(&s->id);
        buf_append(&s->id, value, len);
        return buf_check(&s->id, err);
    }
    if (is_field(line, name_len, "retry"))
        take_retry(s, value, len);
    return OK;
}

/* A whole line without its end. */
static enum status take_line(struct sse *s, const char *line, size_t len, int64_t t_ns, struct error *err)
{
    const char *colon = memchr(line, ':', len);
    size_t name_len = colon ? (size_t)(colon - line) : len;
    size_t skip = colon ? name_len + 1 : name_len;

    if (len == 0)
        return dispatch(s, t_ns, err);
    if (name_len == 0) {
        s->n_comments++;
        return OK;
    }
    if (skip < len && line[skip] == ' ')
        skip++;
    return take_field(s, line, name_len, line + skip, len - skip, err);
}

/* The line that reads brought in pieces. */
static enum status take_kept_line(struct sse *s, int64_t t_ns, struct error *err)
{
    TRY(buf_check(&s->line, err));
    TRY(take_line(s, buf_text(&s->line), s->line.len, t_ns, err));
    buf_clear(&s->line);
    return OK;
}

/* Takes a byte order mark off the beginning, even when reads split it; returns how many bytes were used up. */
static size_t skip_bom(struct sse *s, const unsigned char *bytes, size_t len)
{
    size_t i = 0;

    while (s->n_bom < 3 && i < len) {
        if (bytes[i] != BOM[s->n_bom]) { /* no mark after all: what looked like one belongs to the first line */
            buf_append(&s->line, BOM, (size_t)s->n_bom);
            s->n_bom = 3;
            return i;
        }
        s->n_bom++;
        i++;
    }
    return i;
}

/* Where the line ends, or the bytes do. In blocks, so that lines of one end are not searched to the end of the bytes
 * for the other. */
static size_t line_len(const unsigned char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t n = len - at < BLOCK ? len - at : BLOCK;
        const unsigned char *lf = memchr(bytes + at, '\n', n);
        const unsigned char *cr = memchr(bytes + at, '\r', lf ? (size_t)(lf - bytes) - at : n);

        if (cr || lf)
            return (size_t)((cr ? cr : lf) - bytes);
        at += n;
    }
    return len;
}

/* A line that one read brought whole, as nearly all are, is taken where it lies. */
static enum status end_line(struct sse *s, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    if (s->line.len == 0 && len <= s->line.limit)
        return take_line(s, (const char *)bytes, len, t_ns, err);
    TRY(append(&s->line, bytes, len, err));
    return take_kept_line(s, t_ns, err);
}

enum status sse_feed(struct sse *s, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    size_t i = skip_bom(s, bytes, len), n;

    while (i < len) {
        if (s->after_cr) { /* CR LF is one line end, even when a read ends between them */
            s->after_cr = false;
            if (bytes[i] == '\n') {
                i++;
                continue;
            }
        }
        n = line_len(bytes + i, len - i);
        if (n == len - i) {
            TRY(append(&s->line, bytes + i, n, err));
            break;
        }
        s->after_cr = bytes[i + n] == '\r';
        TRY(end_line(s, bytes + i, n, t_ns, err));
        i += n + 1;
    }
    return buf_check(&s->line, err);
}

enum status sse_end(struct sse *s, int64_t t_ns, struct error *err)
{
    if (s->n_bom > 0 && s->n_bom < 3)
        buf_append(&s->line, BOM, (size_t)s->n_bom);
    s->n_bom = 3;
    if (s->line.len)
        TRY(take_kept_line(s, t_ns, err));
    return dispatch(s, t_ns, err);
}
