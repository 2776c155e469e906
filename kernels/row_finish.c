#include "kernels/row_finish.h"

#include "core/base/checked.h"

#include <math.h>
#include <string.h>

/* Columns of queries: beyond, distances in bytes could overflow. */
static const int64_t MAX_COLUMN = (int64_t)1 << 48;

struct row_place row_place(const struct row_entropy_args *args, size_t row)
{
    int64_t first = args->spans[row].lo;

    return (struct row_place){args->query_col + (int64_t)row - first, args->sink_col - first};
}

int row_ref(size_t n)
{
    return __builtin_clzll((unsigned long long)n) - 63;
}

/* H within what any distribution over n keys has; a row with all its weight on one key has exactly none. */
static double entropy_clamp(double bits, double sum, double max, size_t n)
{
    if (!(sum > max) || !(bits > 0))
        return 0;
    return bits > -row_ref(n) ? fmin(bits, log2((double)n)) : bits;
}

/* floor(log2 x) of a positive normal number. */
static int exponent_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52) - 1023;
}

double row_unit(enum dtype type)
{
    switch (type) {
    case DTYPE_U8:
        return 0x1p-8;
    case DTYPE_I8:
        return 0x1p-7;
    case DTYPE_F8_E4M3:
        return 0x1p-9;
    case DTYPE_F8_E5M2:
        return 0x1p-16;
    case DTYPE_F32:
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_F64:
    default:
        return 1;
    }
}

static int in_range(int ref)
{
    return ref < -60 ? -60 : ref > -1 ? -1 : ref;
}

int row_better_ref(const struct row_sums *sums, size_t n, int ref)
{
    int own;

    if (sums->max_bits >= 0x7f800000U || !(sums->sum > 0) || isinf(sums->sum))
        return ref;
    own = row_ref(n) + exponent_of(sums->sum);
    return own > ref + 4 || own < ref - 4 ? in_range(own) : ref;
}

bool row_sums_hold(const struct row_sums *sums, enum dtype type, size_t n, int ref)
{
    uint32_t void_from = type == DTYPE_F8_E4M3 ? 0x3f700000U : 0x7f800000U; /* its NaN: 480 * 2^-9 */
    float max;
    int own;

    memcpy(&max, &sums->max_bits, sizeof max);
    if (sums->max_bits >= void_from || max < 0x1p-60F || max > 0x1p60F)
        return false;
    own = row_ref(n) + exponent_of(sums->sum);
    return own <= ref + 4 && own >= ref - 4;
}

struct row_stat row_finish(const struct row_entropy_args *args, size_t query, double unit, int ref,
                           const struct row_sums *sums, uint64_t *profile)
{
    struct row_span span = args->spans[query];
    size_t n = span.hi - span.lo;
    struct row_stat row = {.status = ROW_OK, .n_keys = (uint32_t)n, .leak = NAN};
    struct row_place place = row_place(args, query);
    double inverse = 1 / sums->sum;
    float max;

    memcpy(&max, &sums->max_bits, sizeof max);
    row.sum = sums->sum * unit;
    row.entropy_bits = entropy_clamp(log2(sums->sum) - ref - sums->log_sum / sums->sum, sums->sum, (double)max, n);
    row.max_weight = (double)max * unit;
    row.square_sum = sums->square_sum * unit * unit;
    row.distance = sums->distance * unit;
    row.sees_sink = place.sink >= 0 && place.sink < (int64_t)n;
    if (args->implicit_sink && args->kind == ROWS_WEIGHTS)
        row.entropy_bits = row_with_sink(row.entropy_bits, row.sum);
    for (int b = 0; profile && b < PROFILE_BUCKETS; b++)
        if (sums->bucket[b] > 0)
            profile[b] += profile_units(sums->bucket[b] * inverse);
    return row;
}

enum status row_spans_check(const struct row_span *spans, size_t n_rows, size_t n_cols, int64_t query_col,
                            struct error *err)
{
    if (query_col < -MAX_COLUMN || query_col > MAX_COLUMN)
        return error_set(err, ERR_LIMIT, "the first query stands at column %lld: at most 2^48 can be counted",
                         (long long)query_col);
    for (size_t i = 0; i < n_rows; i++)
        if (spans[i].lo < spans[i].hi && spans[i].hi > n_cols)
            return error_set(err, ERR_LIMIT, "row %zu sees keys up to %u of %zu", i, spans[i].hi, n_cols);
    return OK;
}

enum status row_check(const struct row_entropy_args *args, struct error *err)
{
    size_t bytes;

    if (!size_mul(args->n_heads, args->n_rows, &bytes) || !size_mul(bytes, args->n_cols, &bytes) ||
        !size_mul(bytes, dtype_bytes(args->dtype), &bytes) || bytes > PTRDIFF_MAX)
        return error_set(err, ERR_LIMIT, "weights of %zu heads x %zu rows x %zu keys are too large to address",
                         args->n_heads, args->n_rows, args->n_cols);
    return row_spans_check(args->spans, args->n_rows, args->n_cols, args->query_col, err);
}
