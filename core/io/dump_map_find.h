/* dump_map_find.h - the arrays that a layout map names: which are there, and how they make up the tensors of layers. */
#ifndef CORE_IO_DUMP_MAP_FIND_H
#define CORE_IO_DUMP_MAP_FIND_H

#include "core/io/dump_map.h"

/* Fills arrays, layers, names of samples and sizes. ERR_FORMAT asks for what is not clear. */
MUST_CHECK enum status dump_map_find(struct dump_map *m, struct error *err);

/* A layer's pieces of one sample; NULL and 0 where there are none. */
const struct map_piece *dump_map_pieces(const struct dump_map *m, enum map_role role, const char *layer, size_t sample,
                                        size_t *ret_n);

/* Dimensions and type of a layer's tensor: [samples, heads, rows, cols]. */
MUST_CHECK enum status dump_map_tensor(const struct dump_map *m, enum map_role role, const char *layer,
                                       struct dump_tensor *ret, struct error *err);

/* Length of a piece along an axis: one where it has no such dimension. */
size_t dump_map_along(const struct map_axes *axes, const struct dump_shape *shape, enum map_axis axis);

#endif
