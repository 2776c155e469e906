/* dump_look.h - a look at the values of a dump, to propose what was not said and to find what was said wrong. */
#ifndef CORE_IO_DUMP_LOOK_H
#define CORE_IO_DUMP_LOOK_H

#include "core/io/dump.h"

/* Do the first rows of the first sample put weight on a later key? ERR_FORMAT where the sample does not begin at key
 * and row 0, so that this cannot be seen. */
MUST_CHECK enum status dump_look_above_diagonal(struct dump *d, const struct dump_layer *l, bool *ret,
                                                struct error *err);

/* ERR_FORMAT where the last rows of the first sample see exactly as many keys as each other, and fewer than there are:
 * a window that nobody spoke of. */
MUST_CHECK enum status dump_look_window(struct dump *d, const struct dump_layer *l, struct error *err);

/* ERR_FORMAT where integers have no factor, where rows sum to what a factor would make 1, and where not the rows sum to
 * 1 but the columns. */
MUST_CHECK enum status dump_look_at_sums(struct dump *d, const struct dump_layer *l, struct error *err);

/* The type by which one of the first rows of the first sample's first head sums to 1; N_DTYPES where neither
 * float16 nor bfloat16 does. `dim`: of the tensor. */
MUST_CHECK enum status dump_look_two_bytes(struct dump *d, const char *name, const size_t dim[4], enum dtype *ret,
                                           struct error *err);

#endif
