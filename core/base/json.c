#include "core/base/json.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/base/similar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* jansson does not say that memory was short: a document that it has no room for reads like a broken one. */
static _Thread_local bool ran_short;

static void *watched_malloc(size_t n)
{
    void *p = malloc(n);

    ran_short = ran_short || !p;
    return p;
}

/* The byte order mark that some editors write first says nothing in UTF-8. */
static size_t bom_bytes(const char *text, size_t len)
{
    static const char bom[] = "\xef\xbb\xbf";

    return len >= sizeof bom - 1 && memcmp(text, bom, sizeof bom - 1) == 0 ? sizeof bom - 1 : 0;
}

static bool is_blank(const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            return false;
    return true;
}

static enum status not_json(const char *name, bool is_empty, const json_error_t *je, struct error *err)
{
    if (ran_short)
        return error_set(err, ERR_MEMORY, "no memory for '%s'", name);
    if (is_empty)
        return error_set(err, ERR_FORMAT, "'%s': not valid JSON: it is empty", name);
    if (json_error_code(je) == json_error_null_character)
        return error_set(err, ERR_FORMAT,
                         "'%s': not valid JSON at line %d, column %d: a text may not hold NUL (\\u0000)", name,
                         je->line, je->column);
    return error_set(err, ERR_FORMAT, "'%s': not valid JSON at line %d, column %d: %s", name, je->line, je->column,
                     je->text);
}

enum status json_parse(struct json *j, const char *name, const char *text, size_t len, struct error *err)
{
    size_t skipped = bom_bytes(text, len);
    json_error_t je;

    memset(j, 0, sizeof *j);
    TRY(mem_strdup(name, &j->name, err));
    text += skipped;
    len -= skipped;
    ran_short = false;
    json_set_alloc_funcs(watched_malloc, free);
    j->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    if (!j->root) {
        json_done(j);
        return not_json(name, is_blank(text, len), &je, err);
    }
    return OK;
}

enum status json_read(struct json *j, const char *path, size_t limit, struct error *err)
{
    AUTO(buf) text = {0};

    TRY(file_read(path, limit, &text, err));
    return json_parse(j, path, buf_text(&text), text.len, err);
}

void json_done(struct json *j)
{
    json_decref(j->root);
    free(j->name);
    memset(j, 0, sizeof *j);
}

struct json_at json_top(const struct json *j)
{
    struct json_at at = {.value = j->root, .file = j->name};

    return at;
}

enum status json_bad(const struct json_at *at, struct error *err, const char *fmt, ...)
{
    char why[400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at %s: %s", at->file, at->pointer[0] ? at->pointer : "/", why);
}

static const char *type_name(int type)
{
    switch (type) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

static bool fits(const json_t *value, int type)
{
    if (type < 0)
        return true;
    if (type == JSON_REAL)
        return json_is_number(value);
    if (type == JSON_TRUE)
        return json_is_boolean(value);
    return (int)json_typeof(value) == type;
}

enum status json_is(const struct json_at *at, int type, struct error *err)
{
    if (fits(at->value, type))
        return OK;
    return json_bad(at, err, "expected %s, found %s", type_name(type), type_name((int)json_typeof(at->value)));
}

static void step(const struct json_at *at, const char *key, struct json_at *ret)
{
    char pointer[sizeof ret->pointer];

    snprintf(pointer, sizeof pointer, "%.*s/%.*s", 140, at->pointer, 58, key);
    memcpy(ret->pointer, pointer, sizeof pointer);
    ret->file = at->file;
}

enum status json_opt(const struct json_at *at, const char *key, int type, struct json_at *ret, struct error *err)
{
    struct json_at member = {0};

    TRY(json_is(at, JSON_OBJECT, err));
    step(at, key, &member);
    member.value = json_object_get(at->value, key);
    if (json_is_null(member.value))
        member.value = NULL;
    if (member.value)
        TRY(json_is(&member, type, err));
    *ret = member;
    return OK;
}

enum status json_get(const struct json_at *at, const char *key, int type, struct json_at *ret, struct error *err)
{
    struct json_at member;

    TRY(json_opt(at, key, type, &member, err));
    if (!member.value)
        return json_bad(at, err, "'%s' is missing: add %s of that name", key, type_name(type));
    *ret = member;
    return OK;
}

enum status json_item(const struct json_at *at, size_t i, int type, struct json_at *ret, struct error *err)
{
    struct json_at item = {0};
    char key[24];

    snprintf(key, sizeof key, "%zu", i);
    step(at, key, &item);
    item.value = json_array_get(at->value, i);
    if (!item.value)
        return json_bad(at, err, "element %zu is missing", i);
    TRY(json_is(&item, type, err));
    *ret = item;
    return OK;
}

enum status json_text_or(const struct json_at *at, const char *key, const char *other, const char **ret,
                         struct error *err)
{
    struct json_at member;

    TRY(json_opt(at, key, JSON_STRING, &member, err));
    if (!member.value) {
        *ret = other;
        return OK;
    }
    if (strlen(json_string_value(member.value)) != json_string_length(member.value))
        return json_bad(&member, err, "a text may not hold a NUL character");
    *ret = json_string_value(member.value);
    return OK;
}

enum status json_get_text(const struct json_at *at, const char *key, const char **ret, struct error *err)
{
    struct json_at member;

    TRY(json_get(at, key, JSON_STRING, &member, err));
    return json_text_or(at, key, "", ret, err);
}

enum status json_i64_or(const struct json_at *at, const char *key, int64_t min, int64_t max, int64_t other,
                        int64_t *ret, struct error *err)
{
    struct json_at member;
    int64_t value;

    TRY(json_opt(at, key, JSON_INTEGER, &member, err));
    if (!member.value) {
        *ret = other;
        return OK;
    }
    value = json_integer_value(member.value);
    if (value < min || value > max)
        return json_bad(&member, err, "%lld is not between %lld and %lld", (long long)value, (long long)min,
                        (long long)max);
    *ret = value;
    return OK;
}

enum status json_get_i64(const struct json_at *at, const char *key, int64_t min, int64_t max, int64_t *ret,
                         struct error *err)
{
    struct json_at member;

    TRY(json_get(at, key, JSON_INTEGER, &member, err));
    return json_i64_or(at, key, min, max, 0, ret, err);
}

enum status json_double_or(const struct json_at *at, const char *key, double other, double *ret, struct error *err)
{
    struct json_at member;

    TRY(json_opt(at, key, JSON_REAL, &member, err));
    *ret = member.value ? json_number_value(member.value) : other;
    return OK;
}

enum status json_bool_or(const struct json_at *at, const char *key, bool other, bool *ret, struct error *err)
{
    struct json_at member;

    TRY(json_opt(at, key, JSON_TRUE, &member, err));
    *ret = member.value ? json_is_true(member.value) : other;
    return OK;
}

enum status json_only_keys(const struct json_at *at, const char *const *keys, size_t n, struct error *err)
{
    const char *key;
    json_t *value;

    TRY(json_is(at, JSON_OBJECT, err));
    json_object_foreach (at->value, key, value) {
        const char *near;
        size_t i;

        for (i = 0; i < n && strcmp(key, keys[i]) != 0; i++)
            continue;
        if (i < n || strcmp(key, "$schema") == 0)
            continue;
        near = similar_find(key, keys, n);
        if (near)
            return json_bad(at, err, "unknown key '%.60s', did you mean '%s'?", key, near);
        return json_bad(at, err, "unknown key '%.60s'", key);
    }
    return OK;
}
