/* buf.h - growing bytes with a limit. Appending never reports; buf_check() says once at the end whether all went in. */
#ifndef CORE_BASE_BUF_H
#define CORE_BASE_BUF_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* owned; NUL-terminated once anything was appended; may be NULL when len is 0 */
    size_t len; /* bytes without the NUL                                                      */
    size_t cap;
    size_t limit; /* 0 = BUF_DEFAULT_LIMIT                                                       */
    bool failed;  /* an append did not fit or found no memory; later appends do nothing          */
    bool is_full; /* … and it was the limit, not the memory                                      */
};

#define BUF_DEFAULT_LIMIT ((size_t)1 << 30)

/* A zeroed struct buf is ready to use. */
void buf_done(struct buf *b);
void buf_clear(struct buf *b);

void buf_append(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The text, "" when empty. */
const char *buf_text(const struct buf *b);

/* OK, or ERR_LIMIT or ERR_MEMORY when an append failed. */
MUST_CHECK enum status buf_check(const struct buf *b, struct error *err);

#endif
