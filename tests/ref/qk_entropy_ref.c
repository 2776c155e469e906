#include "tests/ref/ref.h"

#include <math.h>
#include <stdlib.h>

static double dot(const struct qk_entropy_args *args, size_t q_row, size_t k_row)
{
    long double sum = 0;

    for (size_t d = 0; d < args->dim; d++)
        sum += (long double)dtype_load(args->q, args->dtype, q_row * args->dim + d) *
               dtype_load(args->k, args->dtype, k_row * args->dim + d);
    return (double)(sum * args->scale);
}

static int bucket_of(long double keys)
{
    int bucket = 0;

    for (; keys >= 1 && bucket < PROFILE_BUCKETS - 1; keys /= 2)
        bucket++;
    return bucket;
}

static int descending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

/* Scores of a row, the largest first. */
static uint32_t k90(const double *score, size_t n, long double sum)
{
    long double taken = 0;
    uint32_t k = 0;

    while (k < n && taken < (0.9L - 0x1p-40L) * sum)
        taken += expl((long double)score[k++] - score[0]);
    return k;
}

/* Softmax of all scores of the row, then the definition of entropy. Adds to `profile`, unless NULL. */
static struct row_stat row_ref(const struct qk_entropy_args *args, size_t q_row, size_t first_key, struct row_span span,
                               uint64_t *profile, double *ret_lse)
{
    struct row_stat row = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 0, ROW_EMPTY};
    int64_t query = args->query_col + (int64_t)(q_row % args->n_rows);
    long double squares = 0, distance = 0, sink = 0, sink4 = 0, share[PROFILE_BUCKETS] = {0};
    size_t n = span.lo < span.hi ? span.hi - span.lo : 0;
    double *score = calloc(n + 1, sizeof *score);
    double max = -INFINITY;
    long double sum = 0, entropy = 0;
    int has_nan = 0;

    for (size_t j = 0; j < n; j++) {
        double s = dot(args, q_row, first_key + span.lo + j);

        score[j] = args->softcap > 0 ? args->softcap * tanh(s / args->softcap) : s;
        has_nan |= isnan(s) || isinf(s);
        max = fmax(max, score[j]);
    }
    for (size_t j = 0; j < n; j++)
        sum += expl((long double)score[j] - max);
    for (size_t j = 0; j < n; j++) {
        long double p = expl((long double)score[j] - max) / sum;

        squares += p * p;
        distance += p * fabsl((long double)(span.lo + j) - query);
        share[bucket_of(fabsl((long double)(span.lo + j) - query))] += p;
        sink += (int64_t)(span.lo + j) == args->sink_col ? p : 0;
        if ((int64_t)(span.lo + j) >= args->sink_col && (int64_t)(span.lo + j) < args->sink_col + 4)
            sink4 += p;
        if (p > 0)
            entropy -= p * log2l(p);
    }
    qsort(score, n, sizeof *score, descending);
    row.k90 = args->skip_k90 || has_nan ? 0 : k90(score, n, sum);
    free(score);
    row.n_keys = (uint32_t)n;
    row.status = n == 0 ? ROW_EMPTY : has_nan ? ROW_NAN : ROW_OK;
    *ret_lse = row.status == ROW_EMPTY ? -INFINITY : row.status == ROW_OK ? max + (double)logl(sum) : NAN;
    if (row.status != ROW_OK)
        return row;
    for (int b = 0; profile && b < PROFILE_BUCKETS; b++)
        profile[b] += (uint64_t)llrintl(share[b] / PROFILE_UNIT);
    row.sink4_weight = (double)sink4;
    row.sees_sink = args->sink_col >= span.lo && args->sink_col < span.hi;
    row.sum = 1;
    row.entropy_bits = (double)(entropy > 0 ? entropy : 0);
    row.max_weight = (double)(1 / sum);
    row.square_sum = (double)squares;
    row.sink_weight = (double)sink;
    row.distance = (double)distance;
    return row;
}

void qk_entropy_ref(const struct qk_entropy_args *args, struct row_stat *ret)
{
    for (size_t h = 0; h < args->n_heads; h++)
        for (size_t i = 0; i < args->n_rows; i++) {
            size_t kv_head = h / (args->n_heads / args->n_kv_heads);
            size_t row = h * args->n_rows + i;

            double lse;

            ret[row] = row_ref(args, row, kv_head * args->n_cols, args->spans[i],
                               args->profile ? args->profile + h * PROFILE_BUCKETS : NULL, &lse);
            if (args->lse)
                args->lse[row] = lse;
        }
}
