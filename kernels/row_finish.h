/* row_finish.h - from the sums over a row of weights to its statistics; the part that all backends share. */
#ifndef KERNELS_ROW_FINISH_H
#define KERNELS_ROW_FINISH_H

#include "kernels/row_entropy.h"
#include "kernels/row_slow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the row's weights p as floats. All of it is void when max_bits >= 0x7f800000: the row then holds a
 * negative weight, a -0, an infinity or a NaN. Subnormal floats may enter log_sum with a wrong logarithm: they must not
 * matter, which max_bits tells. */
struct row_sums {
    double sum;        /* sum p                                              */
    double log_sum;    /* sum p (log2 p - ref)                               */
    double square_sum; /* sum p^2                                            */
    double distance;   /* sum p |query - j|                                  */
    uint32_t max_bits; /* the largest of the weights' bit patterns, unsigned */
};

/* What stands where, counted from the row's first visible key. */
struct row_place {
    int64_t query, sink;
};

struct row_place row_place(const struct row_entropy_args *args, size_t row);

/* ERR_LIMIT when the tensor cannot be addressed or a span goes beyond it. */
MUST_CHECK enum status row_check(const struct row_entropy_args *args, struct error *err);

/* -floor(log2 n): near log2 of the typical weight, where the row sums to 1. */
int row_ref(size_t n);

/* `ref` moved to the row's own scale where S is far from 1; `ref` itself where it suits, or no sum is known. */
int row_better_ref(const struct row_sums *sums, size_t n, int ref);

/* False where the sums cannot say all that is asked for: scores, scaled values, 8-bit types, other forms of entropy. */
bool row_is_plain(const struct row_entropy_args *args);

/* The statistics of row `index` of n_heads x n_rows, which sees keys; adds to `profile`, its head's, unless NULL. Reads
 * the weights again, and takes them in double when the sums cannot say. */
struct row_stat row_finish(const struct row_entropy_args *args, size_t index, int ref, const struct row_sums *sums,
                           uint64_t *profile);

#ifdef __cplusplus
}
#endif
#endif
