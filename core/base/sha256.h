/* sha256.h - SHA-256 as lower-case hexadecimal text. */
#ifndef CORE_BASE_SHA256_H
#define CORE_BASE_SHA256_H

#include "core/base/error.h"

#include <stddef.h>

struct sha256 {
    char hex[65]; /* 64 digits and a NUL; "" where no hash is known */
};

MUST_CHECK enum status sha256_bytes(struct sha256 *h, const void *data, size_t len, struct error *err);
MUST_CHECK enum status sha256_file(struct sha256 *h, const char *path, struct error *err);

#endif
