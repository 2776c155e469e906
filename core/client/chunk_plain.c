#include "core/client/chunk_plain.h"

#include "core/io/texts.h"

#include <string.h>

/* What is left of the text; every step says whether it could be taken. */
struct scan {
    const char *at, *end;
};

/* A text as it stands between its quotes. */
struct span_of {
    const char *text;
    size_t len;
    bool has_escapes;
};

/* What a chunk says, all of it spans of the text. */
struct said {
    struct span_of content, finish_reason, model;
    bool has_content, has_finish, has_model, has_choices, has_delta;
};

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(struct scan *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);

    skip_space(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool take_text(struct scan *s, struct span_of *ret)
{
    bool is_ascii = true;

    if (!take(s, '"'))
        return false;
    *ret = (struct span_of){.text = s->at};
    for (; s->at < s->end && *s->at != '"'; s->at++) {
        unsigned char b = (unsigned char)*s->at;

        if (b < 0x20)
            return false;
        is_ascii &= b < 0x80;
        if (b == '\\') {
            ret->has_escapes = true;
            s->at++;
        }
    }
    if (s->at >= s->end)
        return false;
    ret->len = (size_t)(s->at++ - ret->text);
    return is_ascii || texts_is_utf8(ret->text, ret->len);
}

/* A whole number of few digits; others go the long way. */
static bool take_number(struct scan *s)
{
    const char *start;

    skip_space(s);
    if (s->at < s->end && *s->at == '-')
        s->at++;
    start = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    if (s->at == start || s->at - start > 17 || (*start == '0' && s->at - start > 1))
        return false;
    return s->at < s->end && *s->at != '.' && *s->at != 'e' && *s->at != 'E';
}

static bool is_key(const struct span_of *key, const char *name)
{
    return key->len == strlen(name) && memcmp(key->text, name, key->len) == 0;
}

static bool is_any(const struct span_of *key, const char *const *names, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (is_key(key, names[i]))
            return true;
    return false;
}

/* A text once only: a second one of the same name would replace the first. */
static bool take_once(struct scan *s, struct span_of *ret, bool *has)
{
    if (*has)
        return false;
    *has = true;
    return take_text(s, ret);
}

static bool take_null_once(struct scan *s, bool has)
{
    return !has && take_word(s, "null");
}

/* Members of an object; `take_value` knows its keys. */
static bool take_object(struct scan *s, struct said *said,
                        bool (*take_value)(struct scan *s, const struct span_of *key, struct said *said))
{
    struct span_of key;

    if (!take(s, '{'))
        return false;
    if (take(s, '}'))
        return true;
    do {
        if (!take_text(s, &key) || key.has_escapes || !take(s, ':') || !take_value(s, &key, said))
            return false;
    } while (take(s, ','));
    return take(s, '}');
}

static bool take_delta_value(struct scan *s, const struct span_of *key, struct said *said)
{
    static const char *const quiet[] = {"tool_calls", "function_call", "refusal", "reasoning", "reasoning_content"};
    struct span_of role;

    if (is_key(key, "content"))
        return take_null_once(s, said->has_content) || take_once(s, &said->content, &said->has_content);
    if (is_key(key, "role"))
        return take_word(s, "null") || (take_text(s, &role) && !role.has_escapes);
    return is_any(key, quiet, 5) && take_word(s, "null");
}

static bool take_choice_value(struct scan *s, const struct span_of *key, struct said *said)
{
    static const char *const quiet[] = {"logprobs", "stop_reason", "token_ids", "matched_stop"};

    if (is_key(key, "index"))
        return take_word(s, "0") && s->at < s->end && (*s->at == ',' || *s->at == '}' || *s->at == ' ');
    if (is_key(key, "delta")) {
        if (said->has_delta)
            return false;
        said->has_delta = true;
        return take_object(s, said, take_delta_value);
    }
    if (is_key(key, "text"))
        return take_once(s, &said->content, &said->has_content);
    if (is_key(key, "finish_reason"))
        return take_null_once(s, said->has_finish) || take_once(s, &said->finish_reason, &said->has_finish);
    return is_any(key, quiet, 4) && take_word(s, "null");
}

static bool take_top_value(struct scan *s, const struct span_of *key, struct said *said)
{
    static const char *const texts[] = {"id", "object", "system_fingerprint", "service_tier", "obfuscation"};
    struct span_of ignored;

    if (is_key(key, "choices")) {
        if (said->has_choices)
            return false;
        said->has_choices = true;
        return take(s, '[') && take_object(s, said, take_choice_value) && take(s, ']');
    }
    if (is_key(key, "model"))
        return take_once(s, &said->model, &said->has_model) && !said->model.has_escapes;
    if (is_key(key, "created"))
        return take_number(s);
    if (is_key(key, "usage"))
        return take_word(s, "null");
    return is_any(key, texts, 5) && (take_word(s, "null") || (take_text(s, &ignored) && !ignored.has_escapes));
}

/* Four hexadecimal digits; -1 for others. */
static int32_t hex4(const char *at)
{
    int32_t n = 0;
    int i;

    for (i = 0; i < 4; i++) {
        char c = at[i];

        if (c >= '0' && c <= '9')
            n = n * 16 + c - '0';
        else if (c >= 'a' && c <= 'f')
            n = n * 16 + c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            n = n * 16 + c - 'A' + 10;
        else
            return -1;
    }
    return n;
}

/* UTF-8 of a character of the first plane that is no half of a pair. */
static size_t encode(int32_t n, char ret[3])
{
    if (n < 0x80) {
        ret[0] = (char)n;
        return 1;
    }
    if (n < 0x800) {
        ret[0] = (char)(0xC0 | n >> 6);
        ret[1] = (char)(0x80 | (n & 0x3F));
        return 2;
    }
    ret[0] = (char)(0xE0 | n >> 12);
    ret[1] = (char)(0x80 | (n >> 6 & 0x3F));
    ret[2] = (char)(0x80 | (n & 0x3F));
    return 3;
}

/* One escape at `at`, after the backslash; returns how many bytes of the text it took, 0 for the long way. */
static size_t put_escape(struct buf *ret, const char *at, size_t left)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = left && *at ? strchr(names, *at) : NULL;
    char bytes[3];
    int32_t n;

    if (name) {
        buf_putc(ret, values[name - names]);
        return 1;
    }
    if (left < 5 || *at != 'u')
        return 0;
    n = hex4(at + 1);
    if (n <= 0 || (n >= 0xD800 && n < 0xE000))
        return 0;
    buf_append(ret, bytes, encode(n, bytes));
    return 5;
}

/* Appends the text that a span stands for; false for the long way. */
static bool put(struct buf *ret, const struct span_of *span)
{
    size_t at = 0, n;

    if (!span->has_escapes) {
        buf_append(ret, span->text, span->len);
        return true;
    }
    while (at < span->len) {
        const char *slash = memchr(span->text + at, '\\', span->len - at);
        size_t plain = slash ? (size_t)(slash - span->text) - at : span->len - at;

        buf_append(ret, span->text + at, plain);
        at += plain;
        if (at == span->len)
            break;
        n = put_escape(ret, span->text + at + 1, span->len - at - 1);
        if (n == 0)
            return false;
        at += n + 1;
    }
    return true;
}

bool chunk_plain(struct chunk *c, const char *text, size_t len)
{
    struct scan s = {text, text + len};
    struct said said = {0};

    if (c->half || c->has_stand_ins || c->content.len || !take_object(&s, &said, take_top_value) || !said.has_choices)
        return false;
    skip_space(&s);
    if (s.at != s.end || said.finish_reason.has_escapes)
        return false;
    if (!put(&c->content, &said.content)) {
        buf_clear(&c->content);
        return false;
    }
    if (said.finish_reason.len) {
        buf_clear(&c->finish_reason);
        put(&c->finish_reason, &said.finish_reason);
    }
    if (said.model.len) {
        buf_clear(&c->model);
        put(&c->model, &said.model);
    }
    if (c->content.len)
        c->n_pieces++;
    return true;
}
