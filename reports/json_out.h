/* json_out.h - strictly valid JSON, indented, in the order of the calls; a number that is none is null beside its
 * reason. */
#ifndef REPORTS_JSON_OUT_H
#define REPORTS_JSON_OUT_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_OUT_DEPTH = 12 };

struct json_out {
    struct buf *out; /* borrowed */
    int depth;
    bool has_member[JSON_OUT_DEPTH];
};

/* `key` is NULL inside an array and at the top. */
void json_out_open(struct json_out *j, const char *key, char bracket);     /* '{' or '[' */
void json_out_close(struct json_out *j, char bracket);                     /* '}' or ']' */
void json_out_text(struct json_out *j, const char *key, const char *text); /* NULL: null */
void json_out_int(struct json_out *j, const char *key, int64_t value);
void json_out_size(struct json_out *j, const char *key, size_t value);
void json_out_u64(struct json_out *j, const char *key, uint64_t value);
void json_out_bool(struct json_out *j, const char *key, bool value);
void json_out_null(struct json_out *j, const char *key);

/* Shortest digits that read back as the same number; otherwise null and "<key>_reason": reason. */
void json_out_number(struct json_out *j, const char *key, double value, const char *reason);
void json_out_texts(struct json_out *j, const char *key, const char *const *texts, size_t n);

#endif
