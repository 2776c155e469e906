/* json_more.h - what several JSON formats share: schema numbers, names, lists of texts kept in an arena. */
#ifndef CORE_IO_JSON_MORE_H
#define CORE_IO_JSON_MORE_H

#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/base/sha256.h"

/* ERR_FORMAT unless "schema" is 1 to `newest`; a newer one is refused by name. */
MUST_CHECK enum status json_more_schema(const struct json_at *at, int newest, struct error *err);

/* A text that is not empty. */
MUST_CHECK enum status json_more_text(const struct json_at *at, const char *key, struct arena *arena, char **ret,
                                      struct error *err);

/* The same; `other` when it is absent. */
MUST_CHECK enum status json_more_text_or(const struct json_at *at, const char *key, const char *other,
                                         struct arena *arena, char **ret, struct error *err);

/* A name of letters, digits, ".", "_" and "-", at most 200 of them. */
MUST_CHECK enum status json_more_id(const struct json_at *at, const char *key, struct arena *arena, char **ret,
                                    struct error *err);

/* A SHA-256, or "" when it is absent. */
MUST_CHECK enum status json_more_hash_or(const struct json_at *at, const char *key, struct sha256 *ret,
                                         struct error *err);

/* Texts of the array `key` go to list[first ..]; *ret_n counts all, and is `first` when it is absent. */
MUST_CHECK enum status json_more_texts(const struct json_at *at, const char *key, size_t first, struct arena *arena,
                                       char ***ret, size_t *ret_n, struct error *err);

/* An array of objects, or nothing: *ret_n is 0 when it is absent. More than `max` is ERR_LIMIT. */
MUST_CHECK enum status json_more_list(const struct json_at *at, const char *key, size_t max, struct json_at *ret,
                                      size_t *ret_n, struct error *err);

#endif
