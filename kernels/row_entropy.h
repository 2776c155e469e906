/* row_entropy.h - entropy, sum and maximum of attention rows from stored post-softmax weights.
 *
 * With S = sum p and E = -sum p log2 p over the visible keys, 0 log 0 = 0, the entropy of the normalised row is
 * H = log2 S + E/S bits. No epsilon. |error| <= 1e-5 bit against float64 of the stored values up to 2^20 keys.
 * On the CPU the same input gives the same bits for any number of threads and every instruction set; CUDA gives the
 * same bits on every run. The sum is within 18 * 2^-24 of S; sum p^2 and the distance are within 1e-5 of
 * theirs, and keys before the query get their distance exactly. A row with all its weight on one key has 0 bits.
 * Status: NaN before infinite before negative before zero; -0 is zero. Only visible weights are looked at. */
#ifndef KERNELS_ROW_ENTROPY_H
#define KERNELS_ROW_ENTROPY_H

#include "core/base/error.h"
#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct row_entropy_args {
    const void *weights;          /* n_heads x n_rows x n_cols, row-major, elements of `dtype`                */
    const struct row_span *spans; /* [n_rows]: the same for every head                                        */
    enum dtype dtype;
    size_t n_heads, n_rows, n_cols;
    int64_t query_col; /* column of the key at which row 0's query stands; each row is one further; may lie outside */
    int64_t sink_col;  /* column of the sample's first key; may lie outside                                        */
};

/* ret: n_heads x n_rows. Both return ERR_LIMIT for sizes they cannot index, ERR_MEMORY, ERR_DEVICE. */
MUST_CHECK enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);
MUST_CHECK enum status row_entropy_cuda(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
