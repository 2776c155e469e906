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

/* Statistics of a row: the entropy of its normalised weights p/S, the sum and the maximum as stored, times the row's
 * scale where the values have one; NaN, and k90 0, unless status is ROW_OK. */
struct row_stat {
    double sum;          /* S = sum of the stored weights (1 by construction from scores)             */
    double entropy_bits; /* log2 S + E/S with E = -sum p log2 p; >= 0, 0 for one visible key; or in the
                            form that row_entropy_args asks for                                       */
    double max_weight;   /* max p                                                                     */
    double square_sum;   /* sum p^2: the row attends to S^2 / sum p^2 keys                            */
    double sink_weight;  /* p of the sample's first key; 0 where the row does not see it              */
    double sink4_weight; /* p of the sample's first four keys together, those that the row sees       */
    double distance;     /* sum p |i - j| of the row's query i and its keys j, in keys                */
    double leak;         /* sum |p| of the tile's keys that the row does not see; +inf when a NaN or an
                            infinity stands there; NaN unless asked for                               */
    uint32_t k90;        /* fewest keys that hold 90 % of S, to within 2^-40 of S; 0: not known       */
    uint32_t sees_sink;  /* 1 where the row sees the sample's first key, else 0                       */
    uint32_t n_keys;     /* visible keys                                                              */
    uint32_t status;     /* enum row_status                                                           */
};

/* Distance profile: mass by the distance |i - j| of query and key. Bucket 0: the query's own position; bucket
 * 1 + floor(log2 |i - j|) else, the last one also for everything beyond. Fixed point: each ROW_OK row adds the
 * p/S of a bucket in units of PROFILE_UNIT, rounded to the nearest, so that sums are exact and know no order. */
enum { PROFILE_BUCKETS = 32 };
#define PROFILE_UNIT 0x1p-40

/* One head of one sample, over its rows; sums in row order, in double. */
struct head_stats {
    uint64_t n_rows[N_ROW_STATUSES]; /* rows by status                                                */
    uint32_t n_more_keys;            /* that each row sees besides its own: a sink that is no key. Set
                                        by the caller after head_stats_init(), which leaves 0         */
    uint64_t n_multi;                /* ROW_OK rows with two or more visible keys, those among them   */
    uint64_t n_sum_off;              /* ROW_OK rows with |S - 1| over the type's rounding allowance   */
    uint64_t n_sum_bad;              /* ROW_OK rows with |S - 1| over 0.02                            */
    uint64_t n_uniform;              /* ROW_OK rows of UNIFORM_KEYS visible keys or more, all of the same weight */
    double entropy_sum;              /* over ROW_OK rows, bits                                        */
    double entropy_norm_sum;         /* over the n_multi rows, of H / log2 of their keys              */
    double max_weight_sum;           /* over ROW_OK rows                                              */
    double effective_sum;            /* over ROW_OK rows, of 2^H, keys                                */
    double utilization_sum;          /* over ROW_OK rows, of 2^H / their keys                         */
    double participation_sum;        /* over ROW_OK rows, of S^2 / sum p^2, keys                      */
    double sink_sum, distance_sum;   /* over ROW_OK rows                                              */
    double sink4_sum;                /* over ROW_OK rows                                              */
    double leak_sum;                 /* over ROW_OK rows; NaN when it was not asked for               */
    double k90_sum;                  /* over the n_k90 rows, keys                                     */
    uint64_t n_k90;                  /* ROW_OK rows with k90 known                                    */
    uint64_t n_sink_rows;            /* ROW_OK rows that see the sample's first key: its mean weight over
                                        them is sink_sum / n_sink_rows                                */
    double sum_error_sum;            /* over ROW_OK rows, of |S - 1|                                  */
    double multi_entropy_sum;        /* over the n_multi rows                                         */
    double multi_max_weight_sum;     /* over the n_multi rows                                         */
    double entropy_min;              /* over the n_multi rows; +inf when there is none                */
    double sum_min, sum_max;         /* of S over ROW_OK rows; +inf, -inf when there is none          */

    double *entropies; /* borrowed: room for H of every ROW_OK row, in row order; NULL: not kept      */
    double entropy_std, entropy_quantile[3]; /* by head_stats_finish(); NaN before                    */
};

/* Fewer equal weights may be chance. */
enum { UNIFORM_KEYS = 8 };

/* The quantiles of head_stats.entropy_quantile. */
#define ENTROPY_QUANTILES                                                                                              \
    {                                                                                                                  \
        0.05, 0.5, 0.95                                                                                                \
    }

/* `entropies`: room for as many rows as will be added, or NULL. */
void head_stats_init(struct head_stats *h, double *entropies);

/* Adds rows in their order. `sum_tolerance`: |S - 1| up to which a sum counts as right. */
void head_stats_add(struct head_stats *h, const struct row_stat *rows, size_t n, double sum_tolerance);

/* After the last row: standard deviation (ddof 0) and quantiles (linear between order statistics) of H over the ROW_OK
 * rows; changes the order of `entropies`. */
void head_stats_finish(struct head_stats *h);

/* Both for many heads, in parallel; rows: n_heads x n_rows. */
void heads_add(struct head_stats *heads, size_t n_heads, const struct row_stat *rows, size_t n_rows,
               double sum_tolerance);
void heads_finish(struct head_stats *heads, size_t n_heads);

/* Nearly all weight of nearly all rows on one key: mean H under `max_bits` and mean maximum over `min_weight`, over the
 * rows with two or more visible keys. False where there is no such row. */
int head_has_collapsed(const struct head_stats *h, double max_bits, double min_weight);

#ifdef __cplusplus
}
#endif
#endif
