/* json.h - jansson with the place of a bad value in the message: file and JSON pointer. */
#ifndef CORE_BASE_JSON_H
#define CORE_BASE_JSON_H

#include "core/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A document and where it came from. */
struct json {
    json_t *root; /* owned */
    char *name;   /* owned: the file's name for messages */
};

/* A value inside a document; `pointer` is its JSON pointer (RFC 6901), cut to fit. */
struct json_at {
    json_t *value;    /* borrowed from the document; NULL when optional and absent */
    const char *file; /* borrowed */
    char pointer[200];
};

/* Reads and parses a file of at most `limit` bytes; duplicate keys and trailing text are ERR_FORMAT with line and
 * column. */
MUST_CHECK enum status json_read(struct json *j, const char *path, size_t limit, struct error *err);
MUST_CHECK enum status json_parse(struct json *j, const char *name, const char *text, size_t len, struct error *err);
void json_done(struct json *j);
struct json_at json_top(const struct json *j);

/* ERR_FORMAT that names file and pointer: "'p.json' at /tasks/3: …". */
enum status json_bad(const struct json_at *at, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Member of an object, element of an array. A required one that is missing is ERR_FORMAT. `type` < 0: any. */
MUST_CHECK enum status json_get(const struct json_at *at, const char *key, int type, struct json_at *ret,
                                struct error *err);
MUST_CHECK enum status json_opt(const struct json_at *at, const char *key, int type, struct json_at *ret,
                                struct error *err);
MUST_CHECK enum status json_item(const struct json_at *at, size_t i, int type, struct json_at *ret, struct error *err);
MUST_CHECK enum status json_is(const struct json_at *at, int type, struct error *err);

/* Borrowed text; without an embedded NUL. The _or forms give `other` when the key is absent or null. */
MUST_CHECK enum status json_get_text(const struct json_at *at, const char *key, const char **ret, struct error *err);
MUST_CHECK enum status json_text_or(const struct json_at *at, const char *key, const char *other, const char **ret,
                                    struct error *err);
MUST_CHECK enum status json_get_i64(const struct json_at *at, const char *key, int64_t min, int64_t max, int64_t *ret,
                                    struct error *err);
MUST_CHECK enum status json_i64_or(const struct json_at *at, const char *key, int64_t min, int64_t max, int64_t other,
                                   int64_t *ret, struct error *err);
MUST_CHECK enum status json_double_or(const struct json_at *at, const char *key, double other, double *ret,
                                      struct error *err);
MUST_CHECK enum status json_bool_or(const struct json_at *at, const char *key, bool other, bool *ret,
                                    struct error *err);

/* ERR_FORMAT, with a "did you mean", when the object has a key that is not among the n `keys` ("$schema" always may
 * be). */
MUST_CHECK enum status json_only_keys(const struct json_at *at, const char *const *keys, size_t n, struct error *err);

#endif
