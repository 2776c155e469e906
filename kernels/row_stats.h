/* row_stats.h - what is known of one attention row, and the statistics of a head over its rows. */
#ifndef KERNELS_ROW_STATS_H
#define KERNELS_ROW_STATS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Visible keys of one query row: columns [lo, hi) of the tile; empty when the row is padding or fully masked. */
struct row_span {
    uint32_t lo, hi;
};

enum row_status {
    ROW_OK,
    ROW_EMPTY,    /* no visible key: not a row of the sample; never counted in a mean        */
    ROW_ZERO,     /* every weight 0, or every score -inf: fully masked by the producer       */
    ROW_NAN,      /* a NaN among the visible keys                                            */
    ROW_INF,      /* an infinite weight, or a score of +inf                                  */
    ROW_NEGATIVE, /* a weight below 0: not the output of a softmax, entropy is not defined   */
    N_ROW_STATUSES
};

/* Statistics of a row: the entropy of its normalised weights p/S, the sum and the maximum as stored; NaN unless status
 * is ROW_OK. */
struct row_stat {
    double sum;          /* S = sum of the stored weights (1 by construction from scores)            */
    double entropy_bits; /* log2 S + E/S with E = -sum p log2 p; >= 0, 0 for one visible key          */
    double max_weight;   /* max p                                                                     */
    uint32_t n_keys;     /* visible keys                                                              */
    uint32_t status;     /* enum row_status                                                           */
};

/* One head of one sample, over its rows; sums in row order, in double. */
struct head_stats {
    uint64_t n_rows[N_ROW_STATUSES]; /* rows by status                                                */
    uint64_t n_multi;                /* ROW_OK rows with two or more visible keys                     */
    uint64_t n_sum_off;              /* ROW_OK rows with |S - 1| over the type's rounding allowance   */
    uint64_t n_sum_bad;              /* ROW_OK rows with |S - 1| over 0.02                            */
    double entropy_sum;              /* over ROW_OK rows, bits                                        */
    double entropy_norm_sum;         /* over the n_multi rows, of H / log2 n_keys                     */
    double max_weight_sum;           /* over ROW_OK rows                                              */
    double sum_min, sum_max;         /* of S over ROW_OK rows; +inf, -inf when there is none          */
};

void head_stats_init(struct head_stats *h);

/* Adds rows in their order. `sum_tolerance`: |S - 1| up to which a sum counts as right. */
void head_stats_add(struct head_stats *h, const struct row_stat *rows, size_t n, double sum_tolerance);

#ifdef __cplusplus
}
#endif
#endif
