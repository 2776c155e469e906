/* dump_tensors.h - which tensors a layer of a dump has, of what type and with which factors. */
#ifndef CORE_IO_DUMP_TENSORS_H
#define CORE_IO_DUMP_TENSORS_H

#include "core/io/dump.h"

/* Fills what tensors say of a layer: weights, or else q and k, or else scores. *ret_found is false, and OK, where it
 * has none. */
MUST_CHECK enum status dump_tensors_read(struct dump *d, struct dump_layer *l, bool *ret_found, struct error *err);

/* An attribute of an object; `other` where it is not there. */
MUST_CHECK enum status dump_attr_i64_or(struct dump *d, const char *object, const char *attr, int64_t min, int64_t max,
                                        int64_t other, bool *ret_found, int64_t *ret, struct error *err);

/* Positive, or 0 where it is that or not there. */
MUST_CHECK enum status dump_attr_double_or_zero(struct dump *d, const char *object, const char *attr, double *ret,
                                                struct error *err);

#endif
