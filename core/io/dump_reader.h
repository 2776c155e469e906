/* dump_reader.h - what a container format answers about a dump. The layout, attn-dump 1, asks nothing else, so that
 * another container is one file that ends in a `const struct dump_format` and one word in dump.c.
 *
 * Names are paths without a leading slash: "" is the file, "layers/005" a layer, "layers/005/q" a tensor. */
#ifndef CORE_IO_DUMP_READER_H
#define CORE_IO_DUMP_READER_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "kernels/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor of four dimensions: samples, heads, rows, columns. */
struct dump_tensor {
    enum dtype dtype; /* N_DTYPES: two bytes, and the container does not say what they mean … */
    bool is_opaque;   /* … nor that they are whole numbers */
    size_t dim[4];
};

/* An array of any shape, its values in C order. */
enum { DUMP_MAX_RANK = 8 };
struct dump_shape {
    enum dtype dtype; /* as in struct dump_tensor */
    bool is_opaque;
    size_t rank, dim[DUMP_MAX_RANK];
};

/* Begins the struct of each container. */
struct dump_reader {
    const struct dump_format *format;
};

struct dump_format {
    const char *name, *suffix; /* "HDF5", ".h5" */

    /* Do the file's first n bytes belong to this format? */
    bool (*knows)(const unsigned char *head, size_t n);

    /* `path` is borrowed and outlives the reader. */
    enum status (*open)(const char *path, struct dump_reader **ret, struct error *err);
    void (*free)(struct dump_reader *r);

    /* Is there a group or tensor of that name? */
    bool (*has)(struct dump_reader *r, const char *name);

    /* Names of the layers' groups, "005", in `arena`. */
    enum status (*layer_names)(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n,
                               struct error *err);

    /* An attribute; *ret_found false, and OK, when it is not there. */
    enum status (*attr_text)(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                             bool *ret_found, char **ret, struct error *err);
    enum status (*attr_i64)(struct dump_reader *r, const char *object, const char *attr, bool *ret_found, int64_t *ret,
                            struct error *err);
    enum status (*attr_double)(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                               double *ret, struct error *err);

    /* A list of texts or whole numbers, at most `max`; a row of a table of whole numbers with n_cols columns. */
    enum status (*texts)(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                         size_t *ret_n, struct error *err);
    enum status (*integers)(struct dump_reader *r, const char *name, size_t max, struct arena *arena, int64_t **ret,
                            size_t *ret_n, struct error *err);
    enum status (*table)(struct dump_reader *r, const char *name, size_t *ret_rows, size_t *ret_cols,
                         struct error *err);
    enum status (*table_row)(struct dump_reader *r, const char *name, size_t row, size_t n_cols, int64_t *ret,
                             struct error *err);

    /* Type and shape, after checking that the values can be read; and rows of it, native byte order. */
    enum status (*tensor)(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err);
    enum status (*rows)(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row, size_t n_rows,
                        void *ret, struct error *err);

    /* For layouts of other makers (dump_map.h); names are the container's own here. The texts that stand between
     * `before` and `after` in names of arrays, as far as they are digits: the layers. */
    enum status (*numbers)(struct dump_reader *r, const char *before, const char *after, struct arena *arena,
                           char ***ret, size_t *ret_n, struct error *err);
    enum status (*shape)(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err);

    /* n_rows rows (of the last dimension) from the one whose index along each dimension is at[]; at[rank - 1] is 0, and
     * they lie in one piece along dimension rank - 2. */
    enum status (*block)(struct dump_reader *r, const char *name, const size_t *at, size_t n_rows, void *ret,
                         struct error *err);

    /* Where the tensor's values lie, if they do in native byte order and one after the other: a file descriptor,
     * borrowed, and an offset; else *ret_fd is -1, and OK. NULL: never. */
    enum status (*locate)(struct dump_reader *r, const char *name, int *ret_fd, uint64_t *ret_offset,
                          struct error *err);
};

extern const struct dump_format dump_hdf5, dump_safetensors, dump_npz, dump_npy;

#endif
