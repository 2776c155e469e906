/* h5attr.h - attributes of HDF5 objects as texts and numbers, each a single value. */
#ifndef CORE_IO_H5ATTR_H
#define CORE_IO_H5ATTR_H

#include "core/io/h5.h"

#include <stdint.h>

bool h5attr_has(const struct h5 *at, const char *name);

/* Each is ERR_FORMAT when the attribute is missing, has another type, more than one value, or does not fit.
 * A text is fixed or variable, valid UTF-8, at most H5ATTR_MAX_TEXT bytes, and is kept in `arena`. */
enum { H5ATTR_MAX_TEXT = 1 << 24 };
MUST_CHECK enum status h5attr_text(const struct h5 *at, const char *name, struct arena *arena, char **ret,
                                   struct error *err);
MUST_CHECK enum status h5attr_i64(const struct h5 *at, const char *name, int64_t *ret, struct error *err);
MUST_CHECK enum status h5attr_u64(const struct h5 *at, const char *name, uint64_t *ret, struct error *err);
MUST_CHECK enum status h5attr_double(const struct h5 *at, const char *name, double *ret, struct error *err);

/* Written as variable-length UTF-8, which h5py shows as str, and as little-endian numbers. */
MUST_CHECK enum status h5attr_put_text(const struct h5 *at, const char *name, const char *text, struct error *err);
MUST_CHECK enum status h5attr_put_i64(const struct h5 *at, const char *name, int64_t value, struct error *err);
MUST_CHECK enum status h5attr_put_u64(const struct h5 *at, const char *name, uint64_t value, struct error *err);
MUST_CHECK enum status h5attr_put_double(const struct h5 *at, const char *name, double value, struct error *err);

#endif
