#include "kernels/row_finish.h"

#include "core/base/checked.h"

#include <math.h>
#include <string.h>

struct row_stat row_without_value(enum row_status status, uint32_t n_keys)
{
    return (struct row_stat){.sum = NAN,
                             .entropy_bits = NAN,
                             .max_weight = NAN,
                             .square_sum = NAN,
                             .sink_weight = NAN,
                             .distance = NAN,
                             .n_keys = n_keys,
                             .status = status};
}

struct row_place row_place(const struct row_entropy_args *args, size_t row)
{
    int64_t first = args->spans[row].lo;

    return (struct row_place){args->query_col + (int64_t)row - first, args->sink_col - first};
}

static double sink_weight(const void *weights, size_t n, enum dtype type, struct row_place place)
{
    return place.sink >= 0 && place.sink < (int64_t)n ? dtype_load(weights, type, (size_t)place.sink) : 0;
}

/* H within what any distribution over n keys has; a row with all its weight on one key has exactly none. */
static double entropy_clamp(double bits, double sum, double max, size_t n)
{
    double most = log2((double)n);

    if (!(sum > max) || !(bits > 0))
        return 0;
    return bits > most ? most : bits;
}

/* NaN before infinity before negative: what is worse names the row. */
static enum row_status classify(const void *weights, size_t n, enum dtype type, double *ret_max)
{
    enum row_status status = ROW_OK;
    double max = 0;

    for (size_t i = 0; i < n; i++) {
        double p = dtype_load(weights, type, i);

        if (isnan(p))
            return ROW_NAN;
        if (isinf(p))
            status = ROW_INF;
        else if (p < 0 && status != ROW_INF)
            status = ROW_NEGATIVE;
        max = p > max ? p : max;
    }
    *ret_max = max;
    return status != ROW_OK || max > 0 ? status : ROW_ZERO;
}

/* Any weights at all, in double, scaled so that the largest lies in [1, 2). */
static struct row_stat slow_row(const void *weights, size_t n, enum dtype type, struct row_place place)
{
    double sum = 0, log_sum = 0, square_sum = 0, distance = 0, max = 0;
    enum row_status status = classify(weights, n, type, &max);
    struct row_stat row = row_without_value(status, (uint32_t)n);
    int exponent;

    if (status != ROW_OK)
        return row;
    exponent = ilogb(max);
    max = ldexp(max, -exponent);
    for (size_t i = 0; i < n; i++) {
        double p = ldexp(dtype_load(weights, type, i), -exponent);

        sum += p;
        square_sum += p * p;
        distance += p * fabs((double)((int64_t)i - place.query));
        if (p > 0)
            log_sum += p * log2(p);
    }
    row.sum = ldexp(sum, exponent);
    row.entropy_bits = entropy_clamp(log2(sum) - log_sum / sum, sum, max, n);
    row.max_weight = ldexp(max, exponent);
    row.square_sum = ldexp(square_sum, 2 * exponent);
    row.sink_weight = sink_weight(weights, n, type, place);
    row.distance = ldexp(distance, exponent);
    return row;
}

int row_ref(size_t n)
{
    return __builtin_clzll((unsigned long long)n) - 63;
}

int row_better_ref(const struct row_sums *sums, size_t n, int ref)
{
    int own;

    if (sums->max_bits >= 0x7f800000U || !(sums->sum > 0) || isinf(sums->sum))
        return ref;
    own = row_ref(n) + ilogb(sums->sum);
    return own > ref + 4 || own < ref - 4 ? own : ref;
}

struct row_stat row_finish(const void *weights, size_t n, enum dtype type, int ref, struct row_place place,
                           const struct row_sums *sums)
{
    struct row_stat row = row_without_value(ROW_OK, (uint32_t)n);
    float max;

    memcpy(&max, &sums->max_bits, sizeof max);
    if (sums->max_bits >= 0x7f800000U || max < 0x1p-60F || max > 0x1p60F || row_better_ref(sums, n, ref) != ref)
        return slow_row(weights, n, type, place);
    row.sum = sums->sum;
    row.entropy_bits = entropy_clamp(log2(sums->sum) - ref - sums->log_sum / sums->sum, sums->sum, (double)max, n);
    row.max_weight = (double)max;
    row.square_sum = sums->square_sum;
    row.sink_weight = sink_weight(weights, n, type, place);
    row.distance = sums->distance;
    return row;
}

enum status row_check(const struct row_entropy_args *args, struct error *err)
{
    size_t bytes;

    if (!size_mul(args->n_heads, args->n_rows, &bytes) || !size_mul(bytes, args->n_cols, &bytes) ||
        !size_mul(bytes, dtype_bytes(args->dtype), &bytes) || bytes > PTRDIFF_MAX)
        return error_set(err, ERR_LIMIT, "weights of %zu heads x %zu rows x %zu keys are too large to address",
                         args->n_heads, args->n_rows, args->n_cols);
    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].lo < args->spans[i].hi && args->spans[i].hi > args->n_cols)
            return error_set(err, ERR_LIMIT, "row %zu sees keys up to %u of %zu", i, args->spans[i].hi, args->n_cols);
    return OK;
}
