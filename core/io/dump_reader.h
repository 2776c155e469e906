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
    enum dtype dtype; /* N_DTYPES: one or two bytes, and the container does not say what they mean … */
    bool is_opaque;   /* … nor that they are whole numbers */
    size_t element;   /* bytes */
    size_t dim[4];
};

/* An array of any shape, its values in C order. */
enum { DUMP_MAX_RANK = 8 };
struct dump_shape {
    enum dtype dtype; /* as in struct dump_tensor */
    bool is_opaque;
    bool is_none;   /* nothing stands there: None, an empty dataspace; the rest is zero */
    size_t element; /* bytes */
    size_t rank, dim[DUMP_MAX_RANK];
};

/* Where rows of a sample lie, all heads of it, in native byte order. */
struct dump_place {
    int fd; /* borrowed: one after the other in this file; -1: they do not lie so */
    uint64_t offset;
    const struct h5chunk *chunks; /* borrowed: in chunks, that any thread may fetch until another array is read, of a
                                     dataset whose last dimensions are heads, rows and columns; NULL: they do not */
    const struct h5 *dataset;     /* borrowed */
    size_t n_lead, lead[DUMP_MAX_RANK]; /* where in its dimensions before those three */
};

/* Begins the struct of each container. */
struct dump_reader {
    const struct dump_format *format;
    const char *path; /* borrowed */
    size_t memory;    /* for what a container must keep of the tensors; 0: 256 MiB */
};

struct dump_format {
    const char *name, *suffix; /* "HDF5", ".h5" */
    bool enters_freely;        /* the first bytes of an array cost nothing more than those bytes */

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

    /* Where the rows of a sample lie in the file. */
    enum status (*place)(struct dump_reader *r, const char *name, size_t sample, struct dump_place *ret,
                         struct error *err);

    /* Of containers only, for layouts of other makers (dump_map.h), where names are the container's own. Names of all
     * arrays, in `arena`, ascending. */
    enum status (*names)(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err);
    enum status (*shape)(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err);

    /* The part of an array that begins at start[] and is count[] long, in C order. */
    enum status (*slab)(struct dump_reader *r, const char *name, const size_t *start, const size_t *count, void *ret,
                        struct error *err);

    /* Where an array begins whose values lie one after the other in native byte order; ret->fd is -1 where they do
     * not, and OK. */
    enum status (*locate)(struct dump_reader *r, const char *name, struct dump_place *ret, struct error *err);
};

/* Answers of containers by their own shape(), slab() and locate(). */
enum status dump_reader_tensor(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err);
enum status dump_reader_rows(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row,
                             size_t n_rows, void *ret, struct error *err);
enum status dump_reader_place(struct dump_reader *r, const char *name, size_t sample, struct dump_place *ret,
                              struct error *err);

/* Is the part within the array? *ret_n: its elements. */
bool dump_reader_is_part(const struct dump_shape *shape, const size_t *start, const size_t *count, size_t *ret_n);

extern const struct dump_format dump_hdf5, dump_safetensors, dump_npz, dump_npy;

#endif
