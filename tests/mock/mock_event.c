#include "tests/mock/mock_event.h"

#include "tests/mock/mock_text.h"

#include <string.h>

#define HEAD_CHAT "{\"id\":\"chatcmpl-mock-%llu\",\"object\":\"chat.completion%s\",\"created\":1700000000,\"model\":\""
#define HEAD_TEXT "{\"id\":\"cmpl-mock-%llu\",\"object\":\"text_completion%s\",\"created\":1700000000,\"model\":\""

static bool is_chat(const struct mock_reply *r)
{
    return r->request.path == PATH_CHAT;
}

static void put_head(struct mock_reply *r, struct buf *json, const char *kind)
{
    buf_printf(json, is_chat(r) ? HEAD_CHAT : HEAD_TEXT, (unsigned long long)r->id, is_chat(r) ? kind : "");
    mock_text_escape(json, buf_text(&r->request.model), r->request.model.len);
}

void mock_event_start(struct mock_reply *r)
{
    put_head(r, &r->prefix, ".chunk");
    buf_puts(&r->prefix, is_chat(r) ? "\",\"choices\":[{\"index\":0,\"delta\":{" : "\",\"choices\":[{\"index\":0,");
}

void mock_event_raw(struct mock_reply *r, struct buf *out, const char *bytes, size_t len)
{
    if (len == 0)
        return;
    if (r->is_chunked)
        buf_printf(out, r->spec.what == DO_TRAILERS ? "%zx;note=\"a;b\"\r\n" : "%zx\r\n", len);
    buf_append(out, bytes, len);
    if (r->is_chunked)
        buf_puts(out, "\r\n");
}

void mock_event_close(struct mock_reply *r, struct buf *out)
{
    if (r->is_chunked)
        buf_puts(out, r->spec.what == DO_TRAILERS ? "0;last\r\nX-Sum: 1\r\nX-More: data: {\r\n\r\n" : "0\r\n\r\n");
}

static const char *line_end(struct mock_reply *r)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};

    return ends[r->spec.eol == EOL_MIXED ? (r->n_events + r->event.len) % 3 : r->spec.eol];
}

/* Data over several lines: JSON may be broken after the commas of its head. */
static void put_data(struct mock_reply *r, const char *data, size_t len)
{
    static const char *const before[] = {"\"object\":", "\"created\":", "\"model\":"};
    const char *label = r->spec.has_space ? "data: " : "data:";
    size_t at = 0, i;

    buf_puts(&r->event, label);
    for (i = 0; i + 1 < r->spec.lines && i < 3; i++) {
        const char *cut = memmem(data + at, len - at, before[i], strlen(before[i]));

        if (!cut)
            break;
        buf_append(&r->event, data + at, (size_t)(cut - data) - at);
        buf_puts(&r->event, line_end(r));
        buf_puts(&r->event, label);
        at = (size_t)(cut - data);
    }
    buf_append(&r->event, data + at, len - at);
}

void mock_event_put(struct mock_reply *r, struct buf *out, const char *name, const char *data, size_t len)
{
    buf_clear(&r->event);
    if (name) {
        buf_printf(&r->event, "event: %s", name);
        buf_puts(&r->event, line_end(r));
    }
    put_data(r, data, len);
    buf_puts(&r->event, line_end(r));
    buf_puts(&r->event, r->spec.eol == EOL_MIXED ? "\n" : line_end(r));
    mock_event_raw(r, out, buf_text(&r->event), r->event.len);
}

static int64_t n_done(const struct mock_reply *r)
{
    return (int64_t)r->n_sent;
}

static void put_usage(struct mock_reply *r, struct buf *json)
{
    int64_t prompt = r->request.prompt_tokens;

    if (r->spec.limit && prompt > (int64_t)r->spec.limit)
        prompt = (int64_t)r->spec.limit;
    buf_printf(json, "\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"total_tokens\":%lld",
               (long long)prompt, (long long)n_done(r), (long long)(prompt + n_done(r)));
    if (r->cached_tokens >= 0)
        buf_printf(json, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld}", (long long)r->cached_tokens);
    if (r->spec.reason)
        buf_printf(json, ",\"completion_tokens_details\":{\"reasoning_tokens\":%llu}",
                   (unsigned long long)r->spec.reason);
    buf_putc(json, '}');
}

static enum mock_usage usage_of(const struct mock_reply *r)
{
    if (r->spec.usage == USAGE_ASKED)
        return r->request.wants_usage ? USAGE_LAST : USAGE_NONE;
    return r->spec.usage;
}

/* Closes the delta and the event's JSON. */
static void end_json(struct mock_reply *r, struct buf *json, const char *finish)
{
    buf_puts(json, is_chat(r) ? "},\"logprobs\":null,\"finish_reason\":" : ",\"logprobs\":null,\"finish_reason\":");
    if (finish)
        buf_printf(json, "\"%s\"}]", finish);
    else
        buf_puts(json, "null}]");
    if (usage_of(r) == USAGE_EACH || (finish && usage_of(r) == USAGE_FINISH)) {
        buf_putc(json, ',');
        put_usage(r, json);
    } else if (r->spec.is_nulls) {
        buf_puts(json, ",\"usage\":null");
    }
    buf_putc(json, '}');
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void put_call(struct mock_reply *r, struct buf *json, uint64_t i)
{
    bool is_last = i + 1 == r->spec.tools;

    buf_puts(json, "\"tool_calls\":[{\"index\":0,");
    if (i == 0)
        buf_printf(json,
                   "\"id\":\"call_%llu\",\"type\":\"function\",\"function\":{\"name\":\"lookup\",\"arguments\":\"\"}",
                   (unsigned long long)r->id);
    else
        buf_printf(json, "\"function\":{\"arguments\":\"%s%s\"}", i == 1 ? "{\\\"list\\\":[1" : ",1",
                   is_last ? "]}" : "");
    buf_puts(json, "}]");
}

/* Members of a delta with up to k tokens; none of them of two kinds. */
static void put_tokens(struct mock_reply *r, struct buf *json)
{
    uint64_t i = r->n_sent, reason = r->spec.reason, n;

    if (i < reason) {
        n = least(r->spec.k, reason - i);
        buf_printf(json, "\"%s\":\"", r->spec.reason_key);
        for (r->n_sent += n; i < r->n_sent; i++)
            buf_puts(json, i ? " hmm" : "hmm");
        buf_putc(json, '"');
    } else if (i - reason < r->n_text) {
        n = least(r->spec.k, r->n_text - (i - reason));
        buf_puts(json, is_chat(r) ? "\"content\":\"" : "\"text\":\"");
        for (r->n_sent += n; i < r->n_sent; i++)
            mock_text_word(r, i - reason, json);
        buf_putc(json, '"');
    } else {
        put_call(r, json, i - reason - r->n_text);
        r->n_sent++;
    }
}

void mock_event_tokens(struct mock_reply *r, struct buf *out)
{
    struct buf json = {0};

    buf_append(&json, buf_text(&r->prefix), r->prefix.len);
    put_tokens(r, &json);
    end_json(r, &json, NULL);
    if (r->spec.what == DO_TWO && !r->has_struck && r->n_sent > r->spec.after &&
        r->n_sent < r->spec.reason + r->n_text) {
        buf_append(&json, buf_text(&r->prefix), r->prefix.len);
        put_tokens(r, &json);
        end_json(r, &json, NULL);
        r->has_struck = true;
    }
    r->n_events++;
    mock_event_put(r, out, NULL, buf_text(&json), json.len);
    buf_done(&json);
}

void mock_event_role(struct mock_reply *r, struct buf *out)
{
    static const char *const members[] = {"\"role\":\"assistant\",\"content\":\"\"", "\"role\":\"assistant\"",
                                          "\"role\":\"assistant\",\"content\":null"};
    struct buf json = {0};

    if (!is_chat(r) || r->spec.role == ROLE_NONE)
        return;
    buf_append(&json, buf_text(&r->prefix), r->prefix.len);
    buf_puts(&json, members[r->spec.role]);
    end_json(r, &json, NULL);
    mock_event_put(r, out, NULL, buf_text(&json), json.len);
    buf_done(&json);
}

static const char *finish_of(const struct mock_reply *r)
{
    if (r->spec.finish[0])
        return r->spec.finish;
    return r->is_cut ? "length" : r->spec.tools ? "tool_calls" : "stop";
}

static void put_last_usage(struct mock_reply *r, struct buf *out)
{
    struct buf json = {0};

    put_head(r, &json, ".chunk");
    buf_puts(&json, "\",\"choices\":[],");
    put_usage(r, &json);
    buf_putc(&json, '}');
    mock_event_put(r, out, NULL, buf_text(&json), json.len);
    buf_done(&json);
}

void mock_event_tail(struct mock_reply *r, struct buf *out)
{
    struct buf json = {0};
    size_t before;

    if (strcmp(r->spec.finish, "none") != 0) {
        buf_append(&json, buf_text(&r->prefix), r->prefix.len);
        if (!is_chat(r))
            buf_puts(&json, "\"text\":\"\"");
        end_json(r, &json, finish_of(r));
        before = out->len;
        mock_event_put(r, out, NULL, buf_text(&json), json.len);
        if (!r->spec.has_final_newline && !r->spec.has_done && usage_of(r) != USAGE_LAST) {
            out->len = before; /* the same without the line ends behind it */
            mock_event_raw(r, out, buf_text(&r->event), r->event.len - (r->spec.eol == EOL_CRLF ? 4 : 2));
        }
        buf_done(&json);
    }
    if (usage_of(r) == USAGE_LAST)
        put_last_usage(r, out);
    if (r->spec.has_done && r->spec.has_final_newline)
        mock_event_put(r, out, NULL, "[DONE]", 6);
    else if (r->spec.has_done)
        mock_event_raw(r, out, "data: [DONE]", 12);
    mock_event_close(r, out);
}

void mock_event_whole(struct mock_reply *r, struct buf *json)
{
    put_head(r, json, "");
    buf_puts(json, "\",\"choices\":[{\"index\":0,");
    buf_puts(json, is_chat(r) ? "\"message\":{\"role\":\"assistant\",\"content\":\"" : "\"text\":\"");
    for (r->n_sent = 0; r->n_sent < r->n_text; r->n_sent++)
        mock_text_word(r, r->n_sent, json);
    buf_printf(json, "\"%s,\"finish_reason\":\"%s\"}],", is_chat(r) ? "}" : "", finish_of(r));
    r->n_sent += r->spec.reason;
    put_usage(r, json);
    buf_putc(json, '}');
}
