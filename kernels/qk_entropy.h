/* qk_entropy.h - the same row statistics from queries and keys, without ever storing the scores.
 *
 * score(i,j) = scale * q_i . k_j, then softcap c * tanh(s/c) where c > 0; y = score * log2 e; with m = max y,
 * l = sum 2^(y-m), t = sum 2^(y-m)(y-m):  H = log2 l - t/l bits, max p = 1/l. The triple (m, l, t) merges exactly
 * over key tiles, and so do sum p^2 and the distance. Without softcap the mean key is taken off first: it shifts a
 * row's scores by a constant, and keeps float32 exact to 1e-5 bit at score offsets of 1e4. Query head h reads key head
 * h / (n_heads / n_kv_heads). A NaN or infinity in a query or in a key that the row sees makes it ROW_NAN. Same bits as
 * in row_entropy.h. */
#ifndef KERNELS_QK_ENTROPY_H
#define KERNELS_QK_ENTROPY_H

#include "core/base/error.h"
#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct qk_entropy_args {
    const void *q;                /* n_heads x n_rows x dim, row-major     */
    const void *k;                /* n_kv_heads x n_cols x dim, row-major  */
    const struct row_span *spans; /* [n_rows]                              */
    enum dtype dtype;             /* of q and k                            */
    size_t n_heads, n_kv_heads, n_rows, n_cols, dim;
    double scale, softcap;
    int64_t query_col, sink_col; /* as in row_entropy.h */
    uint64_t *profile;           /* n_heads x PROFILE_BUCKETS, added to; NULL: not wanted */
    double *lse;                 /* n_heads x n_rows: natural log of sum e^score over the visible keys, -inf when there
                                    are none, NaN without ROW_OK; NULL: not wanted */
    bool skip_k90;               /* leave row_stat.k90 at 0, as CUDA does always */
};

/* ret: n_heads x n_rows; `sum` is 1, leak is NaN. k90 is that of scores rounded to float, which may count a key more or
 * less where two sums are nearly equal; 0 under CUDA and where a vector is so long that float could overflow.
 * ERR_FORMAT when n_heads is no multiple of n_kv_heads. */
MUST_CHECK enum status qk_entropy_cpu(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err);
MUST_CHECK enum status qk_entropy_cuda(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
