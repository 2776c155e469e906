#include "core/io/stream_read.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/base64.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)256 << 20)

/* Far beyond any clock, and safe to subtract. */
#define MAX_NS (INT64_MAX / 4)

/* JSON of a value as it was sent: keys in their order, no spaces. */
static enum status dump_json(struct run *run, json_t *value, char **ret, struct error *err)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    enum status st;

    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    st = arena_strdup(&run->arena, text, ret, err);
    free(text);
    return st;
}

static enum status parse_request(struct run *run, const struct json_at *meta, struct exchange *x, struct error *err)
{
    struct json_at request;
    const char *text = "";

    TRY(json_opt(meta, "request", -1, &request, err));
    if (request.value && json_is_object(request.value))
        return dump_json(run, request.value, &x->request, err);
    TRY(json_text_or(meta, "request", "", &text, err));
    return arena_strdup(&run->arena, text, &x->request, err);
}

static enum status append_line(struct buf *lines, const struct json_at *line, const char *name, struct error *err)
{
    const char *text;

    if (!json_is_string(line->value))
        return json_bad(line, err, "a header must be a text");
    text = json_string_value(line->value);
    if (strlen(text) != json_string_length(line->value) || strpbrk(text, "\r\n"))
        return json_bad(line, err, "a header may not hold NUL or line ends");
    if (name)
        buf_printf(lines, "%s: ", name);
    buf_puts(lines, text);
    buf_putc(lines, '\n');
    return OK;
}

/* An array of lines, or an object of names and values. */
static enum status parse_headers(struct run *run, const struct json_at *meta, struct exchange *x, struct error *err)
{
    AUTO(buf) lines = {0};
    struct json_at headers, line;
    const char *name;
    json_t *value;
    size_t i;

    TRY(json_opt(meta, "headers", -1, &headers, err));
    if (json_is_object(headers.value)) {
        json_object_foreach (headers.value, name, value) {
            line = headers;
            line.value = value;
            TRY(append_line(&lines, &line, name, err));
        }
    } else if (headers.value) {
        TRY(json_is(&headers, JSON_ARRAY, err));
        for (i = 0; i < json_array_size(headers.value); i++) {
            TRY(json_item(&headers, i, JSON_STRING, &line, err));
            TRY(append_line(&lines, &line, NULL, err));
        }
    }
    TRY(buf_check(&lines, err));
    return arena_strdup(&run->arena, buf_text(&lines), &x->headers, err);
}

/* "status", or the second word of "status_line". */
static enum status parse_status(const struct json_at *meta, struct exchange *x, struct error *err)
{
    const char *line = "", *space;
    char digits[4] = "";

    TRY(json_i64_or(meta, "status", 0, 999, 0, &x->status, err));
    TRY(json_text_or(meta, "status_line", "", &line, err));
    space = strchr(line, ' ');
    if (x->status != 0 || !space)
        return OK;
    memcpy(digits, space + 1, strnlen(space + 1, 3));
    if (!num_i64(digits, &x->status))
        x->status = 0;
    return OK;
}

/* Counts of a reply whose text differed say nothing of this one's length. */
static enum status parse_usage(const struct json_at *meta, struct exchange *x, struct error *err)
{
    struct json_at usage;
    bool is_same = true;

    x->prompt_tokens = x->completion_tokens = -1;
    TRY(json_opt(meta, "usage", JSON_OBJECT, &usage, err));
    if (!usage.value)
        return OK;
    TRY(json_i64_or(&usage, "prompt_tokens", 0, INT32_MAX, -1, &x->prompt_tokens, err));
    TRY(json_i64_or(&usage, "completion_tokens", 0, INT32_MAX, -1, &x->completion_tokens, err));
    TRY(json_bool_or(&usage, "same_text", true, &is_same, err));
    if (!is_same)
        x->completion_tokens = -1;
    return OK;
}

/* What only a live endpoint's recording has. */
static enum status parse_transfer(struct run *run, const struct json_at *meta, struct exchange *x, struct error *err)
{
    const char *failure = NULL;

    TRY(json_text_or(meta, "failure", NULL, &failure, err));
    if (!failure)
        return json_i64_or(meta, "sent_ns", -MAX_NS, MAX_NS, 0, &x->sent_ns, err);
    TRY(arena_strdup(&run->arena, failure, &x->failure, err));
    TRY(json_i64_or(meta, "sent_ns", -MAX_NS, MAX_NS, NS_UNKNOWN, &x->sent_ns, err));
    TRY(json_i64_or(meta, "started_ns", -MAX_NS, MAX_NS, NS_UNKNOWN, &x->started_ns, err));
    TRY(json_i64_or(meta, "connect_ns", 0, MAX_NS, 0, &x->connect_ns, err));
    TRY(json_i64_or(meta, "n_retries", 0, INT32_MAX, 0, &x->n_retries, err));
    TRY(json_i64_or(meta, "tokens_sent", 0, INT32_MAX, 0, &x->tokens_sent, err));
    TRY(json_bool_or(meta, "is_redacted", false, &x->is_redacted, err));
    return json_bool_or(meta, "tokens_sent_is_estimate", false, &x->tokens_sent_is_estimate, err);
}

enum framing { FRAMING_AUTO, FRAMING_HTTP, FRAMING_BODY };

static enum status parse_framing(const struct json_at *meta, enum framing *ret, struct error *err)
{
    const char *text = "";

    TRY(json_text_or(meta, "framing", "", &text, err));
    if (strcmp(text, "http") != 0 && strcmp(text, "body") != 0 && text[0])
        return json_bad(meta, err,
                        "framing is '%.40s': write \"http\" when the bytes begin with the HTTP head, or "
                        "\"body\"",
                        text);
    *ret = text[0] == 'h' ? FRAMING_HTTP : text[0] == 'b' ? FRAMING_BODY : FRAMING_AUTO;
    return OK;
}

static enum status parse_meta(struct run *run, const struct json_at *top, struct exchange *x, enum framing *ret_framing,
                              struct error *err)
{
    struct json_at meta;
    const char *path = "";

    TRY(json_get(top, "meta", JSON_OBJECT, &meta, err));
    TRY(json_text_or(&meta, "path", "", &path, err));
    TRY(arena_strdup(&run->arena, path, &x->path, err));
    TRY(parse_request(run, &meta, x, err));
    TRY(parse_headers(run, &meta, x, err));
    TRY(parse_status(&meta, x, err));
    TRY(parse_usage(&meta, x, err));
    TRY(parse_transfer(run, &meta, x, err));
    TRY(json_i64_or(&meta, "scheduled_ns", -MAX_NS, MAX_NS, NS_UNKNOWN, &x->scheduled_ns, err));
    return parse_framing(&meta, ret_framing, err);
}

static enum status parse_time(const struct json_at *top, int64_t *ret, struct error *err)
{
    struct json_at ns, us;

    TRY(json_opt(top, "t_ns", JSON_INTEGER, &ns, err));
    TRY(json_opt(top, "t_us", JSON_INTEGER, &us, err));
    if (!ns.value == !us.value)
        return json_bad(top, err, "write the time of the read as either 't_ns' or 't_us'");
    if (ns.value)
        return json_get_i64(top, "t_ns", -MAX_NS, MAX_NS, ret, err);
    TRY(json_get_i64(top, "t_us", -MAX_NS / 1000, MAX_NS / 1000, ret, err));
    *ret *= 1000;
    return OK;
}

static enum status parse_event(struct run *run, const struct json_at *top, size_t max_bytes, struct exchange *x,
                               struct error *err)
{
    const struct read_event *last = x->n_events ? &run->events[run->n_events - 1] : NULL;
    struct read_event e = {.offset = run->n_bytes};
    struct json_at b64;
    size_t chars, len = 0;

    TRY(parse_time(top, &e.t_ns, err));
    if (last && e.t_ns < last->t_ns)
        return json_bad(top, err, "the time goes back: %lld ns after %lld ns", (long long)e.t_ns,
                        (long long)last->t_ns);
    TRY(json_get(top, "b64", JSON_STRING, &b64, err));
    chars = json_string_length(b64.value);
    if (BASE64_ROOM(chars) > max_bytes - run->n_bytes)
        return error_set(err, ERR_LIMIT, "'%s': the recording has more than %zu bytes in all", top->file, max_bytes);
    TRY(mem_grow(&run->bytes, &run->cap_bytes, run->n_bytes + BASE64_ROOM(chars) + 1, 1, err));
    if (!base64_decode(json_string_value(b64.value), chars, run->bytes + run->n_bytes, &len))
        return json_bad(&b64, err, "not valid base64");
    e.len = len;
    TRY(mem_grow(&run->events, &run->cap_events, run->n_events + 1, sizeof e, err));
    run->events[run->n_events++] = e;
    run->n_bytes += len;
    x->n_events++;
    return OK;
}

/* The next line that is not blank, without its end; NULL after the last. */
static const char *next_line(const char **at, const char *end, size_t *line, size_t *ret_len)
{
    while (*at < end) {
        const char *start = *at;
        const char *stop = memchr(start, '\n', (size_t)(end - start));

        *ret_len = (size_t)((stop ? stop : end) - start);
        *at = stop ? stop + 1 : end;
        ++*line;
        if (*ret_len > 0 && strspn(start, " \t\r\n") < *ret_len)
            return start;
    }
    return NULL;
}

/* One line as JSON; messages call it "file:line". */
static enum status parse_line(struct json *j, const char *path, size_t line, const char *text, size_t len,
                              struct error *err)
{
    AUTO(buf) name = {0};

    buf_printf(&name, "%s:%zu", path, line);
    TRY(buf_check(&name, err));
    TRY(json_parse(j, buf_text(&name), text, len, err));
    return OK;
}

static void settle_framing(const struct run *run, size_t first_byte, enum framing framing, struct exchange *x)
{
    const unsigned char *bytes = run->bytes + first_byte;

    x->has_http_head = framing == FRAMING_HTTP ||
                       (framing == FRAMING_AUTO && run->n_bytes - first_byte >= 7 && memcmp(bytes, "HTTP/1.", 7) == 0);
    if (x->has_http_head)
        x->headers[0] = '\0'; /* they stand in the bytes */
}

enum status stream_read(struct run *run, const char *path, size_t max_bytes, struct exchange *x, struct error *err)
{
    AUTO(buf) file = {.limit = MAX_FILE_BYTES};
    size_t first_byte = run->n_bytes, line = 0, len = 0;
    enum framing framing = FRAMING_AUTO;
    bool has_meta = false;
    const char *at, *end, *text;

    TRY(file_check_regular(path, err));
    TRY(file_read(path, MAX_FILE_BYTES, &file, err));
    x->first_event = run->n_events;
    x->n_events = 0;
    at = buf_text(&file);
    end = at + file.len;
    while ((text = next_line(&at, end, &line, &len)) != NULL) {
        AUTO(json) j = {0};
        struct json_at top;

        TRY(parse_line(&j, path, line, text, len, err));
        top = json_top(&j);
        if (has_meta)
            TRY(parse_event(run, &top, max_bytes, x, err));
        else
            TRY(parse_meta(run, &top, x, &framing, err));
        has_meta = true;
    }
    if (!has_meta)
        return error_set(err, ERR_FORMAT, "'%s': the file is empty, its first line must be {\"meta\": …}", path);
    settle_framing(run, first_byte, framing, x);
    return OK;
}
