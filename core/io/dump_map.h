/* dump_map.h - dumps that were not laid out as attn-dump: a layout map in JSON says under which names tensors stand,
 * what their dimensions are, and what no array can say. A reader over the reader of a container. */
#ifndef CORE_IO_DUMP_MAP_H
#define CORE_IO_DUMP_MAP_H

#include "core/base/json.h"
#include "core/io/dump_reader.h"
#include "core/io/name_pattern.h"

enum map_axis { MAP_SAMPLES, MAP_LAYERS, MAP_HEADS, MAP_ROWS, MAP_COLS, N_MAP_AXES };

/* Which dimension of an array is which; SIZE_MAX = it has none. */
struct map_axes {
    size_t rank, axis[N_MAP_AXES];
};

/* What an array is to the layout. */
enum map_role { MAP_WEIGHTS, MAP_LOGITS, MAP_Q, MAP_K, MAP_LSE, MAP_SCALES, MAP_POSITIONS, N_MAP_ROLES };

/* One array. A layer has one for each sample, where names have a {sample}, and for each step, where they have a {step};
 * together they make up its tensor. */
struct map_piece {
    int64_t layer, step; /* as its name says, else 0 */
    size_t sample;       /* among the texts of {sample} */
    char *name;
    struct dump_shape shape;
    size_t heads, rows, cols;
    size_t row0, col0;  /* where it stands in the tensor */
    int64_t *positions; /* [cols]: the key of each column, -1 = none; NULL where they follow one another from col0 */
};

struct map_array {
    struct name_pattern pattern; /* text NULL: the map does not name it */
    struct map_axes axes;
    struct map_piece *pieces; /* by layer, sample and step */
    size_t n;
};

enum { MAP_MAX_NOTES = 4 };

struct dump_map {
    struct dump_reader base;
    struct dump_reader *inner; /* owned */
    struct json doc;           /* owned: the map */
    struct arena arena;
    struct map_array array[N_MAP_ROLES];
    bool is_stacked; /* layers are a dimension of the weights or logits */
    char **layers;   /* their numbers as text, ascending */
    size_t n_layers;
    char **sample_names; /* what stands for {sample} */
    size_t n_sample_names;
    bool is_collected;                /* all of them are known */
    size_t n_samples, n_rows, n_cols; /* of the first layer */
    int64_t *keys, *starts; /* [n_samples]: keys of the first layer's own arrays, and the first row's key; NULL where
                               all samples are in one array */
    enum dtype dtype;       /* said by the map; N_DTYPES = nothing */
    char *notes[MAP_MAX_NOTES]; /* what was assumed */
    size_t n_notes;
};

/* Reads a map for the dump whose reader is `inner`, which it takes over, also when it fails: the text `text`, or the
 * file `name` where that is NULL. */
MUST_CHECK enum status dump_map_open(const char *name, const char *text, struct dump_reader *inner,
                                     struct dump_reader **ret, struct error *err);

/* The map that a reader is, or NULL. */
const struct dump_map *dump_map_of(const struct dump_reader *r);

/* Of a reader that is a map: what its container may keep. */
void dump_map_limit_memory(struct dump_reader *r, size_t bytes);

#endif
