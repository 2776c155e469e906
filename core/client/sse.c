#include "core/client/sse.h"

#include "core/base/num.h"

#include <string.h>

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

static bool is_field(const struct buf *line, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(line->data, name, len) == 0;
}

static enum status take_field(struct sse *s, size_t name_len, const char *value, size_t len, struct error *err)
{
    const struct buf *line = &s->line;

    if (is_field(line, name_len, "data")) {
        if (s->has_data)
            TRY(append(&s->data, "\n", 1, err));
        s->has_data = true;
        return append(&s->data, value, len, err);
    }
    if (is_field(line, name_len, "event")) {
        buf_clear(&s->name);
        buf_append(&s->name, value, len);
    } else if (is_field(line, name_len, "id")) {
        if (!memchr(value, '\0', len)) {
            buf_clear(&s->id);
            buf_append(&s->id, value, len);
        }
    } else if (is_field(line, name_len, "retry")) {
        uint64_t ms;

        if (strlen(value) == len && num_u64(value, &ms) && ms <= INT64_MAX)
            s->retry_ms = (int64_t)ms;
    }
    return OK;
}

static enum status end_line(struct sse *s, int64_t t_ns, struct error *err)
{
    const char *text = buf_text(&s->line);
    const char *colon = memchr(text, ':', s->line.len);
    size_t name_len = colon ? (size_t)(colon - text) : s->line.len;
    size_t skip = colon ? name_len + 1 : name_len;

    TRY(buf_check(&s->line, err));
    if (s->line.len == 0)
        return dispatch(s, t_ns, err);
    if (name_len == 0) {
        s->n_comments++;
    } else {
        if (colon && text[skip] == ' ')
            skip++;
        TRY(take_field(s, name_len, text + skip, s->line.len - skip, err));
    }
    buf_clear(&s->line);
    TRY(buf_check(&s->name, err));
    TRY(buf_check(&s->id, err));
    return buf_check(&s->data, err);
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

enum status sse_feed(struct sse *s, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    size_t i = skip_bom(s, bytes, len);

    while (i < len) {
        size_t start = i;

        if (s->after_cr) { /* CR LF is one line end, even when a read ends between them */
            s->after_cr = false;
            if (bytes[i] == '\n') {
                i++;
                continue;
            }
        }
        while (i < len && bytes[i] != '\r' && bytes[i] != '\n')
            i++;
        TRY(append(&s->line, bytes + start, i - start, err));
        if (i == len)
            break;
        s->after_cr = bytes[i] == '\r';
        i++;
        TRY(end_line(s, t_ns, err));
    }
    return buf_check(&s->line, err);
}

enum status sse_end(struct sse *s, int64_t t_ns, struct error *err)
{
    if (s->n_bom > 0 && s->n_bom < 3)
        buf_append(&s->line, BOM, (size_t)s->n_bom);
    s->n_bom = 3;
    if (s->line.len)
        TRY(end_line(s, t_ns, err));
    return dispatch(s, t_ns, err);
}
