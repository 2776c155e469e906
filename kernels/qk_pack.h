/* qk_pack.h - queries and keys as floats in the order in which the inner loops read them, keys centred. */
#ifndef KERNELS_QK_PACK_H
#define KERNELS_QK_PACK_H

#include "core/base/error.h"
#include "kernels/dtype.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of the keys of one key head. Arrays are the caller's. */
struct qk_keys {
    const void *k; /* n x dim, row-major, elements of `dtype` */
    enum dtype dtype;
    size_t n, dim;
    double *mean;    /* [dim] taken off every key                                                      */
    uint32_t *n_bad; /* [n + 1] keys with a NaN or an infinity among the first j                        */
    double max_norm; /* largest Euclidean norm of a centred good key, or more                           */
};

/* Fills mean, n_bad and max_norm from the keys [lo, hi), on `n_threads`; the others are not read and count as good.
 * `is_centred`: the mean is that of the first SURVEY_KEYS good ones, for any vector may be taken off all keys; else it
 * is zero. */
enum { SURVEY_KEYS = 4096 };
MUST_CHECK enum status qk_keys_survey(struct qk_keys *keys, size_t lo, size_t hi, int is_centred, int n_threads,
                                      struct error *err);

/* Packs the keys [lo, hi) on `n_threads`: `to` is panels x dim x panel_keys; bad keys, and keys from `hi` on, are
 * zeros. */
void qk_keys_pack(const struct qk_keys *keys, size_t lo, size_t hi, size_t panel_keys, float *to, int n_threads);

/* Packs one query, times `factor`, as column i of a group: to[d * micro_rows + i]. `q`: row `index` of rows x dim.
 * Returns its norm after the factor; NaN or infinity when it holds one. */
double qk_query_pack(const void *q, enum dtype dtype, size_t index, size_t dim, double factor, size_t micro_rows,
                     size_t i, float *to, double *row);

/* Elements [first, first + n) of an array as doubles; exact. */
void dtype_to_double(const void *elements, enum dtype type, size_t first, size_t n, double *to);

#ifdef __cplusplus
}
#endif
#endif
