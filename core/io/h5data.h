/* h5data.h - whole HDF5 datasets in and out: numbers, texts; every size is checked before it is allocated or read. */
#ifndef CORE_IO_H5DATA_H
#define CORE_IO_H5DATA_H

#include "core/io/h5.h"

#include <stdint.h>

enum { H5DATA_MAX_RANK = 8 };

/* ERR_FORMAT unless the dataset has `rank` dimensions; writes their lengths. */
MUST_CHECK enum status h5data_shape(const struct h5 *ds, size_t rank, size_t *ret, struct error *err);

/* ERR_FORMAT when the values cannot be had: other files, a missing filter (named), nothing written, or more bytes
 * claimed than `max_ratio` times what is stored. */
MUST_CHECK enum status h5data_check(const struct h5 *ds, uint64_t max_ratio, struct error *err);

/* ERR_FORMAT unless elements are whole numbers of at most 64 bits, or float64. */
MUST_CHECK enum status h5data_is_integer(const struct h5 *ds, struct error *err);
MUST_CHECK enum status h5data_is_double(const struct h5 *ds, struct error *err);

/* All values, converted to `mem_type`; the caller has checked shape, type and h5data_check(). */
MUST_CHECK enum status h5data_read(const struct h5 *ds, hid_t mem_type, void *ret, struct error *err);

/* A list of whole numbers, and of texts (fixed or variable, UTF-8), in `arena`; at most `max` elements. */
MUST_CHECK enum status h5data_integers(const struct h5 *ds, size_t max, struct arena *arena, int64_t **ret,
                                       size_t *ret_n, struct error *err);
MUST_CHECK enum status h5data_texts(const struct h5 *ds, size_t max, struct arena *arena, char ***ret, size_t *ret_n,
                                    struct error *err);

/* What a new dataset is. */
struct h5data {
    const char *name, *help; /* for h5_explain() */
    hid_t file_type, mem_type;
    size_t rank; /* 0: a single value */
    size_t dims[H5DATA_MAX_RANK];
    size_t chunk; /* along the first dimension, of a gzip chunk that has the others whole; 0 = contiguous */
};

/* Writes it whole; `ret` may be NULL. */
MUST_CHECK enum status h5data_put(const struct h5 *at, const struct h5data *what, const void *values, struct h5 *ret,
                                  struct error *err);

/* Fixed-length UTF-8, padded with NUL; n = SIZE_MAX writes texts[0] as a single value. */
MUST_CHECK enum status h5data_put_texts(const struct h5 *at, const char *name, const char *help, char *const *texts,
                                        size_t n, struct h5 *ret, struct error *err);

#endif
