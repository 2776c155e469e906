/* What the mock server's spec does in the middle of a stream. */
#include "tests/mock/mock_event.h"

#include <stdlib.h>
#include <string.h>

#define WORDS "the engine ran out of memory while it decoded"

static void put_text(struct mock_reply *r, struct buf *out, const char *name, const char *json)
{
    mock_event_put(r, out, name, json, strlen(json));
}

/* One event whose content is `text`; the JSON is closed by hand, since the text may break it. */
static void put_content(struct mock_reply *r, struct buf *out, const char *text, size_t len, bool is_closed)
{
    struct buf json = {0};

    buf_append(&json, buf_text(&r->prefix), r->prefix.len);
    buf_puts(&json, r->request.path == PATH_CHAT ? "\"content\":\"" : "\"text\":\"");
    buf_append(&json, text, len);
    if (is_closed)
        buf_puts(&json,
                 r->request.path == PATH_CHAT ? "\"},\"finish_reason\":null}]}" : "\",\"finish_reason\":null}]}");
    mock_event_put(r, out, NULL, buf_text(&json), json.len);
    buf_done(&json);
}

static void put_big(struct mock_reply *r, struct buf *out)
{
    size_t len = (size_t)r->spec.size, i;
    char *text = malloc(len ? len : 1);

    if (!text)
        abort();
    for (i = 0; i < len; i++)
        text[i] = i % 64 == 63 ? ' ' : (char)('a' + i % 26);
    put_content(r, out, text, len, true);
    free(text);
}

static void put_half_event(struct mock_reply *r, struct buf *out)
{
    buf_clear(&r->event);
    buf_printf(&r->event, "data: %s\"content\":\"ha", buf_text(&r->prefix));
    mock_event_raw(r, out, buf_text(&r->event), r->event.len);
}

static bool ends_stream(struct mock_reply *r, struct buf *out, enum mock_then *ret_then)
{
    *ret_then = THEN_DONE;
    switch (r->spec.what) {
    case DO_ERROR:
        put_text(r, out, NULL, "{\"error\":{\"message\":\"" WORDS "\",\"type\":\"internal_error\",\"code\":500}}");
        put_text(r, out, NULL, "[DONE]");
        break;
    case DO_ERROR_EVENT:
        put_text(r, out, "error", "{\"error\":{\"message\":\"" WORDS "\"}}");
        break;
    case DO_ERROR_FLAT:
        put_text(r, out, NULL, "{\"object\":\"error\",\"message\":\"" WORDS "\",\"code\":500}");
        break;
    case DO_DONE_ONLY:
        put_text(r, out, NULL, "[DONE]");
        break;
    case DO_END:
        break;
    case DO_DROP:
    case DO_CUT:
        put_half_event(r, out);
        *ret_then = r->spec.what == DO_DROP ? THEN_RESET : THEN_CLOSE;
        return true;
    case DO_STALL:
        *ret_then = THEN_STALL;
        return true;
    default:
        return false;
    }
    mock_event_close(r, out);
    return true;
}

bool mock_event_strike(struct mock_reply *r, struct buf *out, enum mock_then *ret_then)
{
    if (r->has_struck || r->n_sent < r->spec.after)
        return false;
    if (ends_stream(r, out, ret_then))
        return true;
    *ret_then = THEN_MORE;
    r->has_struck = true;
    if (r->spec.what == DO_BIG) {
        put_big(r, out);
    } else if (r->spec.what == DO_BAD_JSON) {
        put_content(r, out, "cut", 3, false);
    } else if (r->spec.what == DO_BAD_UTF8) {
        put_content(r, out, " a\xFF\xC3z", 5, true);
    } else if (r->spec.what == DO_HALF) {
        put_content(r, out, " \\ud83d", 7, true);
        put_content(r, out, "\\ude00", 6, true);
    } else {
        r->has_struck = false;
        return false;
    }
    return true;
}
