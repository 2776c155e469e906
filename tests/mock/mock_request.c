#include "tests/mock/mock_request.h"

#include "core/base/num.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

enum { MAX_HEAD = 64 * 1024, TOKENS_A_MESSAGE = 4 };

void mock_request_done(struct mock_request *r)
{
    buf_done(&r->target);
    buf_done(&r->model);
    buf_done(&r->last);
    buf_done(&r->header);
    buf_done(&r->auth);
    memset(r, 0, sizeof *r);
}

static const char *head_end(const char *bytes, size_t len)
{
    const char *at = memmem(bytes, len, "\r\n\r\n", 4);

    return at ? at + 4 : NULL;
}

/* Value of a header, up to the end of its line; NULL when there is none. */
static const char *header(const char *head, const char *end, const char *name, size_t *ret_len)
{
    const char *line = memchr(head, '\n', (size_t)(end - head));

    while (line && ++line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t n = strlen(name);

        if ((size_t)(end - line) > n && strncasecmp(line, name, n) == 0 && line[n] == ':') {
            const char *value = line + n + 1;

            while (*value == ' ')
                value++;
            *ret_len = strcspn(value, "\r\n");
            return value;
        }
        line = next;
    }
    return NULL;
}

static bool header_number(const char *head, const char *end, const char *name, uint64_t *ret)
{
    size_t len;
    const char *value = header(head, end, name, &len);
    char digits[24];

    if (!value || len >= sizeof digits)
        return false;
    memcpy(digits, value, len);
    digits[len] = '\0';
    return num_u64(digits, ret);
}

size_t mock_request_len(const char *bytes, size_t len, bool *ret_expects_continue)
{
    const char *end = head_end(bytes, len);
    uint64_t body = 0;
    size_t n;

    *ret_expects_continue = false;
    if (!end)
        return len > MAX_HEAD ? SIZE_MAX : 0;
    if (header(bytes, end, "transfer-encoding", &n))
        return SIZE_MAX;
    header_number(bytes, end, "content-length", &body);
    if (body > (1u << 28))
        return SIZE_MAX;
    n = (size_t)(end - bytes) + (size_t)body;
    *ret_expects_continue = n > len && header(bytes, end, "expect", &n) != NULL;
    n = (size_t)(end - bytes) + (size_t)body;
    return n <= len ? n : 0;
}

int64_t mock_count_words(const char *text, size_t len)
{
    int64_t n = 0;
    bool is_in = false;
    size_t i;

    for (i = 0; i < len; i++) {
        bool is_space = text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r';

        n += !is_space && !is_in;
        is_in = !is_space;
    }
    return n;
}

static void see_text(struct mock_request *r, const char *text, size_t len)
{
    size_t i;

    r->prompt_tokens += mock_count_words(text, len);
    for (i = 0; i < len; i++) /* FNV-1a */
        r->prompt_hash = (r->prompt_hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    buf_clear(&r->last);
    buf_append(&r->last, text, len);
}

/* A text, or a list of parts with texts. */
static void see_content(struct mock_request *r, const json_t *content)
{
    const json_t *part;
    size_t i;

    if (json_is_string(content))
        see_text(r, json_string_value(content), json_string_length(content));
    json_array_foreach (content, i, part) {
        const json_t *text = json_is_object(part) ? json_object_get(part, "text") : part;

        if (json_is_string(text))
            see_text(r, json_string_value(text), json_string_length(text));
    }
}

static void see_body(struct mock_request *r, const json_t *top)
{
    const json_t *bound = json_object_get(top, "max_tokens"), *message;
    const json_t *model = json_object_get(top, "model");
    size_t i;

    json_array_foreach (json_object_get(top, "messages"), i, message) {
        r->prompt_tokens += TOKENS_A_MESSAGE;
        see_content(r, json_object_get(message, "content"));
    }
    see_content(r, json_object_get(top, "prompt"));
    see_content(r, json_object_get(top, "content"));
    if (!json_is_integer(bound))
        bound = json_object_get(top, "max_completion_tokens");
    r->max_tokens = json_is_integer(bound) ? (int64_t)json_integer_value(bound) : 0;
    r->is_stream = json_is_true(json_object_get(top, "stream"));
    r->wants_usage = json_is_true(json_object_get(json_object_get(top, "stream_options"), "include_usage"));
    if (json_is_string(model))
        buf_puts(&r->model, json_string_value(model));
}

static enum mock_path find_path(const char *target)
{
    static const struct {
        const char *end;
        enum mock_path path;
    } paths[] = {{"/chat/completions", PATH_CHAT}, {"/completions", PATH_COMPLETIONS},
                 {"/models", PATH_MODELS},         {"/tokenize", PATH_TOKENIZE},
                 {"/props", PATH_PROPS},           {"/health", PATH_HEALTH}};
    size_t len = strcspn(target, "?"), i;

    for (i = 0; i < sizeof paths / sizeof *paths; i++) {
        size_t n = strlen(paths[i].end);

        if (len >= n && strncmp(target + len - n, paths[i].end, n) == 0)
            return paths[i].path;
    }
    return PATH_UNKNOWN;
}

static void read_head(struct mock_request *r, const char *bytes, const char *end)
{
    const char *target = memchr(bytes, ' ', (size_t)(end - bytes)), *value;
    size_t n;

    if (target)
        buf_append(&r->target, target + 1, strcspn(target + 1, " \r\n"));
    r->path = find_path(buf_text(&r->target));
    r->is_hop = strstr(buf_text(&r->target), "hop") != NULL;
    value = header(bytes, end, "connection", &n);
    r->is_keep_alive = !(value && n == 5 && strncasecmp(value, "close", 5) == 0);
    value = header(bytes, end, "x-mock", &n);
    if (value)
        buf_append(&r->header, value, n);
    value = header(bytes, end, "authorization", &n);
    if (value)
        buf_append(&r->auth, value, n);
}

enum status mock_request_read(struct mock_request *r, const char *bytes, size_t len, struct error *err)
{
    const char *end = head_end(bytes, len);

    memset(r, 0, sizeof *r);
    r->prompt_hash = 0xcbf29ce484222325u;
    read_head(r, bytes, end);
    if (end < bytes + len) {
        json_t *top = json_loadb(end, len - (size_t)(end - bytes), 0, NULL);

        r->is_bad_json = !json_is_object(top);
        see_body(r, top);
        json_decref(top);
    }
    TRY(buf_check(&r->last, err));
    return buf_check(&r->target, err);
}
