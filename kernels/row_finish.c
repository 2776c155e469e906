#include "kernels/row_finish.h"

#include "core/base/checked.h"
#include "kernels/row_slow.h"

#include <math.h>
#include <string.h>

struct row_place row_place(const struct row_entropy_args *args, size_t row)
{
    int64_t first = args->spans[row].lo;

    return (struct row_place){args->query_col + (int64_t)row - first, args->sink_col - first};
}

/* H within what any distribution over n keys has; a row with all its weight on one key has exactly none. */
static double entropy_clamp(double bits, double sum, double max, size_t n)
{
    double most = log2((double)n);

    if (!(sum > max) || !(bits > 0))
        return 0;
    return bits > most ? most : bits;
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

bool row_is_plain(const struct row_entropy_args *args)
{
    return args->kind == ROWS_WEIGHTS && dtype_bytes(args->dtype) > 1 && !args->value_scales && !args->implicit_sink &&
           args->eps_form == EPS_NONE;
}

struct row_stat row_finish(const struct row_entropy_args *args, size_t index, int ref, const struct row_sums *sums,
                           uint64_t *profile)
{
    struct row_stat row = row_slow(args, index, profile);
    float max;

    memcpy(&max, &sums->max_bits, sizeof max);
    if (sums->max_bits >= 0x7f800000U || max < 0x1p-60F || max > 0x1p60F ||
        row_better_ref(sums, row.n_keys, ref) != ref)
        return row;
    row.sum = sums->sum;
    row.entropy_bits =
        entropy_clamp(log2(sums->sum) - ref - sums->log_sum / sums->sum, sums->sum, (double)max, row.n_keys);
    row.max_weight = (double)max;
    row.square_sum = sums->square_sum;
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
