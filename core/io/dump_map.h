/* dump_map.h - dumps that were not laid out as attn-dump: a layout map in JSON says under which names tensors stand,
 * what their dimensions are, and what no array can say. A reader over the reader of a container. */
#ifndef CORE_IO_DUMP_MAP_H
#define CORE_IO_DUMP_MAP_H

#include "core/base/json.h"
#include "core/io/dump_reader.h"

/* A name with the layer's number in it: "layers.{layer}.attn"; `name` is NULL where the map has none. */
struct map_name {
    const char *name; /* borrowed from the map's document */
    char *before, *after;
    bool has_layer;
};

enum map_axis { MAP_SAMPLES, MAP_LAYERS, MAP_HEADS, MAP_ROWS, MAP_COLS, N_MAP_AXES };

struct dump_map {
    struct dump_reader base;
    struct dump_reader *inner; /* owned */
    struct json doc;           /* owned: the map */
    const char *path;          /* borrowed: of the dump */
    struct arena arena;
    struct map_name weights, q, k;
    bool is_stacked;               /* layers are a dimension of `weights` */
    size_t rank, axis[N_MAP_AXES]; /* which dimension is which; SIZE_MAX = none */
    char **layers;                 /* their numbers as text */
    size_t n_layers;
    size_t n_samples, n_rows, n_cols; /* of the first layer */
    enum dtype dtype;                 /* said by the map; N_DTYPES = nothing */
};

/* Reads the map `file` for the dump `path` whose reader is `inner`, which it takes over, also when it fails. */
MUST_CHECK enum status dump_map_open(const char *file, const char *path, struct dump_reader *inner,
                                     struct dump_reader **ret, struct error *err);

/* What the map says about element types, N_DTYPES where `r` is no map or it says nothing. */
enum dtype dump_map_dtype(const struct dump_reader *r);

#endif
