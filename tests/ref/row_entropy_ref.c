#include "tests/ref/ref.h"

#include <math.h>
#include <stdlib.h>

/* The visible values of a row as weights, or as scores with -inf for masked. */
struct values {
    const struct row_entropy_args *args;
    size_t row, first, n;
};

static long double value_at(const struct values *v, size_t i)
{
    static const double masked[N_DTYPES] = {
        [DTYPE_F32] = -1e30,    [DTYPE_F16] = -65504,   [DTYPE_BF16] = -1e30,   [DTYPE_F64] = -1e30,
        [DTYPE_U8] = -INFINITY, [DTYPE_I8] = -INFINITY, [DTYPE_F8_E4M3] = -448, [DTYPE_F8_E5M2] = -57344};
    double x = dtype_load(v->args->weights, v->args->dtype, v->row * v->args->n_cols + v->first + i);

    if (v->args->kind == ROWS_SCORES && x <= masked[v->args->dtype])
        return -(long double)INFINITY;
    return v->args->value_scales ? (long double)x * v->args->value_scales[v->row] : (long double)x;
}

static enum row_status status_of(const struct values *v)
{
    size_t n_nan = 0, n_inf = 0, n_negative = 0, n_some = 0;

    for (size_t i = 0; i < v->n; i++) {
        long double p = value_at(v, i);
        int is_score = v->args->kind == ROWS_SCORES;

        n_nan += isnan(p) != 0;
        n_inf += isinf(p) && (p > 0 || !is_score);
        n_negative += p < 0 && !is_score;
        n_some += is_score ? isfinite(p) != 0 : p > 0;
    }
    if (v->n == 0)
        return ROW_EMPTY;
    if (n_nan)
        return ROW_NAN;
    if (n_inf)
        return ROW_INF;
    if (n_negative)
        return ROW_NEGATIVE;
    return n_some ? ROW_OK : ROW_ZERO;
}

static int descending(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;

    return (x < y) - (x > y);
}

/* Sorts p. */
static uint32_t k90(long double *p, size_t n, long double sum)
{
    long double taken = 0;
    uint32_t k = 0;

    qsort(p, n, sizeof *p, descending);
    while (taken < 0.9L * sum - 0x1p-40L * sum)
        taken += p[k++];
    return k;
}

static long double entropy_of(const struct row_entropy_args *args, const long double *p, size_t n, long double sum)
{
    long double bits = 0, rest = 1 - sum, eps = args->entropy_eps;

    for (size_t i = 0; i < n; i++)
        if (p[i] > 0 && args->eps_form == EPS_ADD_IN_LOG)
            bits -= p[i] * log2l(p[i] + eps);
        else if (p[i] > 0 && args->eps_form == EPS_CLAMP)
            bits -= p[i] * log2l(fmaxl(p[i], eps));
        else if (p[i] > 0 && args->implicit_sink && rest > 0)
            bits -= p[i] * log2l(p[i]);
        else if (p[i] > 0)
            bits -= p[i] / sum * log2l(p[i] / sum);
    if (args->eps_form == EPS_NONE && args->implicit_sink && rest > 0)
        bits -= rest * log2l(rest);
    return args->eps_form == EPS_NONE ? fmaxl(bits, 0) : bits;
}

static double leak(const struct row_entropy_args *args, size_t row, struct row_span span, long double log_sum)
{
    struct values all = {args, row, 0, args->n_cols};
    long double sum = 0;

    for (size_t j = 0; j < args->n_cols; j++)
        if (j < span.lo || j >= span.hi)
            sum += args->kind == ROWS_SCORES ? expl(value_at(&all, j) - log_sum) : fabsl(value_at(&all, j));
    return isnan(sum) ? INFINITY : (double)sum;
}

/* Straight from the definitions. `p`: room for the row. */
static struct row_stat row_ref(const struct values *v, struct row_span span, long double *p)
{
    const struct row_entropy_args *args = v->args;
    int64_t query = args->query_col + (int64_t)(v->row % args->n_rows) - span.lo, sink = args->sink_col - span.lo;
    struct row_stat row = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, (uint32_t)v->n, status_of(v)};
    long double sum = 0, max = 0, top = -(long double)INFINITY, squares = 0, distance = 0;
    double bucket[PROFILE_BUCKETS] = {0};

    if (row.status != ROW_OK)
        return row;
    for (size_t i = 0; i < v->n; i++)
        top = fmaxl(top, value_at(v, i));
    for (size_t i = 0; i < v->n; i++)
        sum += p[i] = args->kind == ROWS_SCORES ? expl(value_at(v, i) - top) : value_at(v, i);
    if (args->check_mask)
        row.leak = leak(args, v->row, span, top + logl(sum));
    for (size_t i = 0; args->kind == ROWS_SCORES && i < v->n; i++)
        p[i] /= sum;
    sum = args->kind == ROWS_SCORES ? 1 : sum;
    row.sink_weight = row.sink4_weight = 0;
    for (size_t i = 0; i < v->n; i++) {
        int64_t keys = llabs((int64_t)i - query);
        int b = 0;

        max = fmaxl(max, p[i]);
        squares += p[i] * p[i];
        distance += p[i] * keys;
        while (b + 1 < PROFILE_BUCKETS && keys >> b)
            b++;
        bucket[b] += (double)p[i];
        row.sink_weight += (int64_t)i == sink ? (double)p[i] : 0;
        row.sink4_weight += (int64_t)i >= sink && (int64_t)i < sink + 4 ? (double)p[i] : 0;
    }
    row.sees_sink = sink >= 0 && sink < (int64_t)v->n;
    row.sum = (double)sum;
    row.entropy_bits = (double)entropy_of(args, p, v->n, sum);
    row.max_weight = (double)max;
    row.square_sum = (double)squares;
    row.distance = (double)distance;
    row.k90 = k90(p, v->n, sum);
    for (int b = 0; args->profile && b < PROFILE_BUCKETS; b++)
        args->profile[v->row / args->n_rows * PROFILE_BUCKETS + (size_t)b] +=
            (uint64_t)llrintl(bucket[b] / sum / PROFILE_UNIT);
    return row;
}

void row_entropy_ref(const struct row_entropy_args *args, struct row_stat *ret)
{
    long double *p = calloc(args->n_cols + 1, sizeof *p);

    for (size_t row = 0; row < args->n_heads * args->n_rows; row++) {
        struct row_span span = args->spans[row % args->n_rows];
        struct values v = {args, row, span.lo, span.lo < span.hi ? span.hi - span.lo : 0};

        ret[row] = row_ref(&v, span, p);
    }
    free(p);
}
