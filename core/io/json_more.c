#include "core/io/json_more.h"

#include <string.h>

enum { MAX_ID = 200 };

enum status json_more_schema(const struct json_at *at, int newest, struct error *err)
{
    struct json_at member;
    int64_t schema = 0;

    TRY(json_get(at, "schema", JSON_INTEGER, &member, err));
    schema = json_integer_value(member.value);
    if (schema > newest)
        return json_bad(&member, err, "written for a newer tare (schema %lld), this one reads up to %d",
                        (long long)schema, newest);
    if (schema < 1)
        return json_bad(&member, err, "schema %lld does not exist, %d is the newest", (long long)schema, newest);
    return OK;
}

enum status json_more_text_or(const struct json_at *at, const char *key, const char *other, struct arena *arena,
                              char **ret, struct error *err)
{
    const char *text = other;

    TRY(json_text_or(at, key, other, &text, err));
    return arena_strdup(arena, text, ret, err);
}

enum status json_more_text(const struct json_at *at, const char *key, struct arena *arena, char **ret,
                           struct error *err)
{
    const char *text = NULL;
    struct json_at member;

    TRY(json_get_text(at, key, &text, err));
    if (!text[0]) {
        TRY(json_get(at, key, JSON_STRING, &member, err));
        return json_bad(&member, err, "the text may not be empty");
    }
    return arena_strdup(arena, text, ret, err);
}

enum status json_more_id(const struct json_at *at, const char *key, struct arena *arena, char **ret, struct error *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    struct json_at member;
    const char *text = NULL;
    size_t len;

    TRY(json_get(at, key, JSON_STRING, &member, err));
    TRY(json_get_text(at, key, &text, err));
    len = strlen(text);
    if (len == 0 || len > MAX_ID || text[strspn(text, allowed)])
        return json_bad(&member, err, "'%.60s' is no name: use 1 to %d letters, digits, '.', '_' and '-'", text,
                        (int)MAX_ID);
    return arena_strdup(arena, text, ret, err);
}

enum status json_more_hash_or(const struct json_at *at, const char *key, struct sha256 *ret, struct error *err)
{
    struct json_at member;
    const char *text = "";

    TRY(json_opt(at, key, JSON_STRING, &member, err));
    TRY(json_text_or(at, key, "", &text, err));
    if (member.value && (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64))
        return json_bad(&member, err, "no SHA-256: write 64 lower-case hexadecimal digits");
    memcpy(ret->hex, text, strlen(text) + 1);
    return OK;
}

static enum status keep_item(const struct json_at *list, size_t i, struct arena *arena, char **ret, struct error *err)
{
    struct json_at item;
    const char *text;

    TRY(json_item(list, i, JSON_STRING, &item, err));
    text = json_string_value(item.value);
    if (!text[0])
        return json_bad(&item, err, "the text may not be empty");
    if (strlen(text) != json_string_length(item.value))
        return json_bad(&item, err, "a text may not hold a NUL character");
    return arena_strdup(arena, text, ret, err);
}

enum status json_more_texts(const struct json_at *at, const char *key, size_t first, struct arena *arena, char ***ret,
                            size_t *ret_n, struct error *err)
{
    struct json_at list;
    char **texts = NULL;
    size_t n, i;

    TRY(json_opt(at, key, JSON_ARRAY, &list, err));
    n = json_array_size(list.value);
    TRY(arena_new(arena, first + n, sizeof *texts, &texts, err));
    for (i = 0; i < n; i++)
        TRY(keep_item(&list, i, arena, &texts[first + i], err));
    *ret = texts;
    *ret_n = first + n;
    return OK;
}

enum status json_more_list(const struct json_at *at, const char *key, size_t max, struct json_at *ret, size_t *ret_n,
                           struct error *err)
{
    struct json_at list;
    size_t n;

    TRY(json_opt(at, key, JSON_ARRAY, &list, err));
    n = json_array_size(list.value);
    if (n > max)
        return error_set(err, ERR_LIMIT, "'%s' at %s: %zu elements, %zu are the limit", list.file, list.pointer, n,
                         max);
    *ret = list;
    *ret_n = n;
    return OK;
}
