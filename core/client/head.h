/* head.h - the header lines of requests, and the key in them, which comes from the environment and goes nowhere else.
 */
#ifndef CORE_CLIENT_HEAD_H
#define CORE_CLIENT_HEAD_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct head {
    void *lines;        /* owned: struct curl_slist                 */
    const char *secret; /* borrowed from the environment; NULL: none */
};

/* `extra`: n lines "Name: value". ERR_USAGE for a line that is none, or that carries a key. `key_header`: NULL for
 * "Authorization: Bearer <key>", else the header that takes the bare key. The key is TARE_API_KEY, else
 * OPENAI_API_KEY, else there is none. */
MUST_CHECK enum status head_init(struct head *h, bool is_stream, const char *key_header, const char *const *extra,
                                 size_t n, struct error *err);
void head_done(struct head *h);

#endif
