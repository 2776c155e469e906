/* dump_values.h - the names of a layer's parts in its dump. */
#ifndef CORE_IO_DUMP_VALUES_H
#define CORE_IO_DUMP_VALUES_H

#include "core/io/dump_layout.h"

struct dump_name dump_part_name(const struct dump_layer *l, enum dump_part part);

/* A number for each of n rows of a head, from a tensor of one number a row. */
MUST_CHECK enum status dump_read_row_numbers(struct dump *d, const struct dump_layer *l, const char *tensor,
                                             enum dtype stored, size_t sample, size_t head, size_t row, size_t n,
                                             double *ret, struct error *err);

#endif
