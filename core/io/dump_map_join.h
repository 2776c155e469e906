/* dump_map_join.h - the steps of a generation as one tensor: rows follow one another, keys grow by one a step. */
#ifndef CORE_IO_DUMP_MAP_JOIN_H
#define CORE_IO_DUMP_MAP_JOIN_H

#include "core/io/dump_map.h"

/* Gives every piece its place in the tensor of its layer and sample. ERR_FORMAT where steps are missing or do not
 * continue one another, and asks where a cache was cut to a window and the order of its columns is not said. */
MUST_CHECK enum status dump_map_join(struct dump_map *m, struct error *err);

/* Rows [row, row + n_rows) of a head, `width` columns each: what no piece holds is zero, of scores -infinity. */
MUST_CHECK enum status dump_map_join_rows(struct dump_map *m, enum map_role role, const char *layer, size_t sample,
                                          size_t head, size_t row, size_t n_rows, size_t width, void *ret,
                                          struct error *err);

/* Index of a layer along the stacked dimension. */
size_t dump_map_stacked_index(const struct dump_map *m, const char *layer);

#endif
