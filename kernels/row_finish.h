/* row_finish.h - from the sums over a row of weights to its statistics; the part that the backends share. */
#ifndef KERNELS_ROW_FINISH_H
#define KERNELS_ROW_FINISH_H

#include "kernels/row_entropy.h"
#include "kernels/row_slow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the row's weights p as floats. All of it is void when max_bits says that the row holds a negative weight, a
 * -0, an infinity or a NaN. Subnormal floats may enter log_sum with a wrong logarithm: they must not matter, which
 * max_bits tells. */
struct row_sums {
    double sum;                     /* sum p                                              */
    double log_sum;                 /* sum p (log2 p - ref)                               */
    double square_sum;              /* sum p^2                                            */
    double distance;                /* sum p |query - j|                                  */
    double bucket[PROFILE_BUCKETS]; /* sum p by distance                                  */
    uint32_t max_bits;              /* the largest of the weights' bit patterns, unsigned */
};

/* What stands where, counted from the row's first visible key. */
struct row_place {
    int64_t query, sink;
};

struct row_place row_place(const struct row_entropy_args *args, size_t row);

/* ERR_LIMIT when a row sees keys beyond n_cols, or the first query stands too far away to be counted. */
MUST_CHECK enum status row_spans_check(const struct row_span *spans, size_t n_rows, size_t n_cols, int64_t query_col,
                                       struct error *err);

/* ERR_LIMIT when the tensor cannot be addressed or a span goes beyond it. */
MUST_CHECK enum status row_check(const struct row_entropy_args *args, struct error *err);

/* -floor(log2 n): near log2 of the typical weight, where the row sums to 1. */
int row_ref(size_t n);

/* Whole numbers and 8-bit floats are taken times this power of two, so that weights are small. */
double row_unit(enum dtype type);

/* `ref` moved to the row's own scale where S is far from what it was chosen for; `ref` itself where it suits. */
int row_better_ref(const struct row_sums *sums, size_t n, int ref);

/* False where the sums are void, or floats cannot hold the row: row_slow() then says what it is. */
bool row_sums_hold(const struct row_sums *sums, enum dtype type, size_t n, int ref);

/* The statistics of a row of query `query`, which sees keys, but k90; adds to `profile`, its head's, unless
 * NULL. `unit`: the weight that 1 in the sums stands for. */
struct row_stat row_finish(const struct row_entropy_args *args, size_t query, double unit, int ref,
                           const struct row_sums *sums, uint64_t *profile);

#ifdef __cplusplus
}
#endif
#endif
