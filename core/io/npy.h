/* npy.h - the header of a NumPy array file: type, order and shape. Nothing in it is ever evaluated or unpickled. */
#ifndef CORE_IO_NPY_H
#define CORE_IO_NPY_H

#include "core/base/error.h"
#include "core/io/flat.h"

/* Bytes from the beginning of a file that npy_read() wants to see, where there are so many. */
enum { NPY_PEEK_BYTES = 1 << 16 };

/* Fills type and shape of `a`, and its offset: where the values begin. `total` is the size of the whole; values and
 * header must make it up exactly. Messages name `a->name` and the file of `f`. */
MUST_CHECK enum status npy_read(const struct flat *f, struct flat_array *a, const unsigned char *bytes, size_t len,
                                uint64_t total, struct arena *arena, struct error *err);

#endif
