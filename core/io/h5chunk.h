/* h5chunk.h - chunked HDF5 datasets, inflated here: see chunk_codec.h. */
#ifndef CORE_IO_H5CHUNK_H
#define CORE_IO_H5CHUNK_H

#include "core/io/chunk_codec.h"
#include "core/io/h5.h"

enum { H5CHUNK_MAX_RANK = 8 };

/* Of a chunk that is inflated: its stored bytes, what they become, and its values. */
enum { CHUNK_COPIES = 3 };

/* A chunked dataset of known shape, and the chunks that were inflated last. */
struct h5chunk {
    size_t rank;
    size_t dim[H5CHUNK_MAX_RANK], chunk[H5CHUNK_MAX_RANK];
    struct chunk_codec codec;
    bool fills_zero;            /* chunks that were never written are zeros */
    size_t memory;              /* for its chunks, set by the caller; 0: 256 MiB */
    struct h5chunk_slot *slots; /* owned: [n_slots], filled as chunks are used */
    size_t n_slots;
    size_t rows_kept;           /* rows of chunks that a head keeps */
    size_t rows_dim, heads_dim; /* which dimensions these are, by what is read at a time */
    struct h5chunk_job *jobs;   /* owned: [N_JOBS], scratch */
    size_t n_jobs;
};

void h5chunk_done(struct h5chunk *c);

/* *ret_usable is false, and OK, for a dataset that has no chunks, or filters other than shuffle and gzip. */
MUST_CHECK enum status h5chunk_init(struct h5chunk *c, const struct h5 *ds, bool *ret_usable, struct error *err);

/* The part of the array that begins at start[] and is count[] long, [rank] each, in C order and as stored. */
MUST_CHECK enum status h5chunk_slab(struct h5chunk *c, const struct h5 *ds, const size_t *start, const size_t *count,
                                    unsigned char *ret, struct error *err);

/* The chunk whose first element is at[], decoded; for any thread, with a decoder of its own. */
MUST_CHECK enum status h5chunk_fetch(const struct h5chunk *c, const struct h5 *ds, const hsize_t *at,
                                     struct chunk_decoder *d, struct error *err);

/* ERR_FORMAT: its chunks do not fit into `memory`, and what to do. */
enum status h5chunk_too_large(const struct h5chunk *c, const struct h5 *ds, size_t memory, struct error *err);

/* ERR_FORMAT unless every chunk gives exactly the bytes that it must; then the library may read the dataset. */
MUST_CHECK enum status h5chunk_verify(const struct h5 *ds, struct error *err);

#endif
