/* gemm.h - products of queries and keys in tiles on the GPU, by cuBLAS, which is loaded when first needed: a program
 * without it still starts. The tests bring a host version of the same face. One thread at a time. */
#ifndef KERNELS_GEMM_H
#define KERNELS_GEMM_H

#include "core/base/error.h"

#include <stddef.h>

enum { GEMM_SLOTS = 2 };

enum gemm_type {
    GEMM_F32, /* float in, multiplied and added in float: no TF32 */
    GEMM_F16  /* float16 in, added in float                       */
};

/* scores[h][i][j] = q[h][i] . k[h][j], all in device memory. A stride is the number of elements from one head to the
 * next; k_stride 0: all heads read the same keys. */
struct gemm_tile {
    const void *q, *k; /* n_rows x depth, n_keys x depth of each head, row-major; depth a multiple of 4 (F16: of 8) */
    float *scores;     /* n_rows x pitch of each head; pitch a multiple of 4 */
    enum gemm_type type;
    size_t n_heads, n_rows, n_keys, depth, pitch;
    size_t q_stride, k_stride, score_stride;
};

/* ERR_DEVICE, with what to do, where cuBLAS cannot be loaded. */
MUST_CHECK enum status gemm_ready(struct error *err);

/* Starts the product on `stream` (a cudaStream_t) with the state of that slot; needs gemm_ready(). */
MUST_CHECK enum status gemm_start(const struct gemm_tile *tile, int slot, void *stream, struct error *err);

#endif
