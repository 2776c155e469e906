/* base64.h - encoding, and strict decoding (RFC 4648, section 4): no white space, padding where it belongs, no stray
 * bits. */
#ifndef CORE_IO_BASE64_H
#define CORE_IO_BASE64_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* At most this many bytes come out of `len` characters. */
#define BASE64_ROOM(len) ((len) / 4 * 3)

/* False, and `ret` undefined, when `text` is not the base64 form of anything. */
bool base64_decode(const char *text, size_t len, unsigned char *ret, size_t *ret_len);

/* Appends the base64 form. */
void base64_encode(const unsigned char *bytes, size_t len, struct buf *ret);

#endif
