/* row_entropy.h - statistics of attention rows from stored post-softmax weights, or from stored scores (logits).
 *
 * Weights p: with S = sum p and E = -sum p log2 p over the visible keys, 0 log 0 = 0, the entropy of the normalised row
 * is H = log2 S + E/S bits. No epsilon. Scores x: y = x log2 e, m = max y, l = sum 2^(y-m), t = sum 2^(y-m) (y-m) give
 * H = log2 l - t/l, S = 1, max p = 1/l. A score of -inf, of -1e30 or less, or the most negative finite number of a
 * float type of 16 or 8 bits is masked: its weight is 0.
 * |error| <= 1e-5 bit against float64 of the stored values up to 2^20 keys, scores at offsets of 1e4 included.
 * On the CPU the same input gives the same bits for any number of threads and every instruction set; CUDA gives the
 * same bits on every run. The sum is within 18 * 2^-24 of S; sum p^2 and the distance are within 1e-5 of
 * theirs, and keys before the query get their distance exactly. A row with all its weight on one key has 0 bits.
 * Status: NaN before infinite before negative before zero; -0 is zero; from scores +inf is infinite, and a row with
 * every score masked is zero. Only visible values are looked at, unless check_mask asks for the others. */
#ifndef KERNELS_ROW_ENTROPY_H
#define KERNELS_ROW_ENTROPY_H

#include "core/base/error.h"
#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum row_kind { ROWS_WEIGHTS, ROWS_SCORES };

/* The entropy as published code has it, of the weights as they are, for comparison with its numbers. */
enum eps_form {
    EPS_NONE,
    EPS_ADD_IN_LOG, /* -sum p log2 (p + eps)     */
    EPS_CLAMP       /* -sum p log2 max(p, eps)   */
};

struct row_entropy_args {
    const void *weights;          /* n_heads x n_rows x n_cols, row-major, elements of `dtype`; or the scores  */
    const struct row_span *spans; /* [n_rows]: the same for every head                                        */
    enum dtype dtype;
    size_t n_heads, n_rows, n_cols;
    int64_t query_col; /* column of the key at which row 0's query stands; each row is one further; may lie outside,
                          within 2^48                                                                          */
    int64_t sink_col;  /* column of the sample's first key; may lie outside                                        */

    enum row_kind kind;
    const double *value_scales; /* n_heads x n_rows: stored values times this are the weights or scores; NULL: 1   */
    bool check_mask;            /* fill row_stat.leak: reads the tile's hidden values too                          */
    bool implicit_sink;         /* weights: where S < 1 the rest is one key's more: H = E - (1-S) log2 (1-S)        */
    enum eps_form eps_form;     /* other than EPS_NONE: instead of all the above, with entropy_eps                 */
    double entropy_eps;
    bool skip_k90;     /* leave row_stat.k90 at 0: a third of the time                                */
    uint64_t *profile; /* n_heads x PROFILE_BUCKETS, added to; NULL: not wanted                       */
};

/* ret: n_heads x n_rows. Both return ERR_LIMIT for sizes they cannot index, ERR_MEMORY, ERR_DEVICE; `ret` and the
 * profile are then as before. */
MUST_CHECK enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);
MUST_CHECK enum status row_entropy_cuda(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);

/* row_entropy_cuda() in two steps, so that the caller may read the next rows meanwhile: `args`, what it points to, and
 * `ret` must stay as they are until the end, which waits, writes, and releases *ret_work whether or not all went well.
 */
struct row_work;
MUST_CHECK enum status row_entropy_cuda_begin(const struct row_entropy_args *args, struct row_stat *ret,
                                              struct row_work **ret_work, struct error *err);
MUST_CHECK enum status row_entropy_cuda_end(struct row_work *work, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
