#include "tests/support/stream.h"

#include "core/base/file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stream_init(struct stream *s)
{
    memset(s, 0, sizeof *s);
    s->exchange.headers = "";
    s->exchange.turn = s->exchange.repeat = 1;
    s->exchange.scheduled_ns = NS_UNKNOWN;
    s->exchange.prompt_tokens = s->exchange.completion_tokens = -1;
    s->exchange.has_http_head = true;
}

void stream_done(struct stream *s)
{
    free(s->events);
    buf_done(&s->bytes);
    memset(s, 0, sizeof *s);
}

void stream_add(struct stream *s, int64_t t_ns, const void *bytes, size_t len)
{
    if (s->exchange.n_events == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->events = realloc(s->events, s->cap * sizeof *s->events);
        if (!s->events)
            abort();
    }
    s->events[s->exchange.n_events++] = (struct read_event){.t_ns = t_ns, .offset = s->bytes.len, .len = len};
    buf_append(&s->bytes, bytes, len);
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

static void add_base64(struct stream *s, int64_t t_ns, const char *text)
{
    struct buf bytes = {0};
    uint32_t bits = 0;
    int n = 0;

    for (; *text && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)digit(*text);
        n += 6;
        if (n >= 8) {
            n -= 8;
            buf_putc(&bytes, (char)(bits >> n));
        }
    }
    stream_add(s, t_ns, buf_text(&bytes), bytes.len);
    buf_done(&bytes);
}

static void path_of(char path[256], const char *name)
{
    snprintf(path, 256, "tests/fixtures/streams/%s", name);
}

char *stream_text(const char *name)
{
    struct buf text = {0};
    char path[256];

    path_of(path, name);
    if (file_read(path, 1 << 20, &text, NULL) != OK)
        abort();
    return text.data ? text.data : calloc(1, 1);
}

void stream_load(struct stream *s, const char *name)
{
    char file[128], *text, *line, *next;

    snprintf(file, sizeof file, "%s.jsonl", name);
    text = stream_text(file);
    stream_init(s);
    for (line = text; *line; line = next) {
        char *lf = strchr(line, '\n');
        json_t *item;

        next = lf ? lf + 1 : line + strlen(line);
        item = json_loadb(line, (size_t)(next - line), 0, NULL);
        if (!item)
            abort();
        if (json_object_get(item, "b64"))
            add_base64(s, json_integer_value(json_object_get(item, "t_us")) * 1000,
                       json_string_value(json_object_get(item, "b64")));
        json_decref(item);
    }
    free(text);
}
