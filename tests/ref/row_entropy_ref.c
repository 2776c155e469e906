#include "tests/ref/ref.h"

#include <math.h>

static enum row_status status_of(const void *weights, enum dtype type, size_t first, size_t n)
{
    size_t n_nan = 0, n_inf = 0, n_negative = 0, n_positive = 0;

    for (size_t i = 0; i < n; i++) {
        double p = dtype_load(weights, type, first + i);

        n_nan += isnan(p) != 0;
        n_inf += isinf(p) != 0;
        n_negative += p < 0;
        n_positive += p > 0;
    }
    if (n == 0)
        return ROW_EMPTY;
    if (n_nan)
        return ROW_NAN;
    if (n_inf)
        return ROW_INF;
    if (n_negative)
        return ROW_NEGATIVE;
    return n_positive ? ROW_OK : ROW_ZERO;
}

/* H = -sum (p/S) log2 (p/S), straight from the definition. */
static struct row_stat row_ref(const void *weights, enum dtype type, size_t first, size_t n, int64_t query,
                               int64_t sink)
{
    struct row_stat row = {NAN, NAN, NAN, NAN, NAN, NAN, (uint32_t)n, status_of(weights, type, first, n)};
    long double sum = 0, entropy = 0, max = 0, squares = 0, distance = 0;

    if (row.status != ROW_OK)
        return row;
    for (size_t i = 0; i < n; i++) {
        long double p = dtype_load(weights, type, first + i);

        sum += p;
        max = p > max ? p : max;
        squares += p * p;
        distance += p * fabsl((long double)i - query);
    }
    for (size_t i = 0; i < n; i++) {
        long double p = dtype_load(weights, type, first + i) / sum;

        if (p > 0)
            entropy -= p * log2l(p);
    }
    row.sum = (double)sum;
    row.entropy_bits = (double)(entropy > 0 ? entropy : 0);
    row.max_weight = (double)max;
    row.square_sum = (double)squares;
    row.distance = (double)distance;
    row.sink_weight = sink >= 0 && sink < (int64_t)n ? dtype_load(weights, type, first + (size_t)sink) : 0;
    return row;
}

void row_entropy_ref(const struct row_entropy_args *args, struct row_stat *ret)
{
    for (size_t h = 0; h < args->n_heads; h++)
        for (size_t i = 0; i < args->n_rows; i++) {
            struct row_span span = args->spans[i];
            size_t n = span.lo < span.hi ? span.hi - span.lo : 0;
            size_t row = h * args->n_rows + i;

            ret[row] = row_ref(args->weights, args->dtype, row * args->n_cols + span.lo, n,
                               args->query_col + (int64_t)i - span.lo, args->sink_col - span.lo);
        }
}
