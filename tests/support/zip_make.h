/* zip_make.h - zip archives and NumPy arrays of a test's own making, right or as wrong as the test wants them. */
#ifndef TESTS_SUPPORT_ZIP_MAKE_H
#define TESTS_SUPPORT_ZIP_MAKE_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* An .npy file; `header` is the dictionary as text, `version` 1 to 3. */
void npy_make(struct buf *ret, int version, const char *header, const void *values, size_t len);

struct zip_part {
    const char *name;
    const void *bytes;
    size_t len;
    bool is_deflated;
};

/* Where things lie in the archive, for tests that change them. */
struct zip_place {
    size_t local, data, entry; /* of the part that was asked for */
    size_t end;                /* the end record */
};

/* ret_place, of part number `which`, may be NULL. */
void zip_make(struct buf *ret, const struct zip_part *parts, size_t n, size_t which, struct zip_place *ret_place);

#endif
