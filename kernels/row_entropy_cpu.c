/* Entropy of stored weights on the CPU: a float pass per row (row_entropy_body.h) and, for the rows it is not made for,
 * a slow one in double. Rows go to threads whole, so their number changes no bit. */
#include "core/base/checked.h"
#include "kernels/cpu_isa.h"
#include "kernels/row_entropy.h"
#include "kernels/row_entropy_isa.h"

#include <math.h>
#include <string.h>

static row_entropy_pass *choose_pass(void)
{
#ifdef __x86_64__
    if (isa_current() == ISA_AVX512)
        return row_entropy_avx512;
    if (isa_current() == ISA_AVX2)
        return row_entropy_avx2;
#endif
    return row_entropy_portable;
}

static struct row_stat without_value(enum row_status status, uint32_t n_keys)
{
    return (struct row_stat){.sum = NAN, .entropy_bits = NAN, .max_weight = NAN, .n_keys = n_keys, .status = status};
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
static struct row_stat slow_row(const void *weights, size_t n, enum dtype type)
{
    double sum = 0, log_sum = 0, max = 0;
    enum row_status status = classify(weights, n, type, &max);
    struct row_stat row = without_value(status, (uint32_t)n);
    int exponent;

    if (status != ROW_OK)
        return row;
    exponent = ilogb(max);
    max = ldexp(max, -exponent);
    for (size_t i = 0; i < n; i++) {
        double p = ldexp(dtype_load(weights, type, i), -exponent);

        sum += p;
        if (p > 0)
            log_sum += p * log2(p);
    }
    row.sum = ldexp(sum, exponent);
    row.entropy_bits = entropy_clamp(log2(sum) - log_sum / sum, sum, max, n);
    row.max_weight = max / sum;
    return row;
}

static int floor_log2(size_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

static struct row_stat stat_of_row(const void *weights, size_t n, enum dtype type, row_entropy_pass *pass)
{
    struct row_stat row = without_value(ROW_OK, (uint32_t)n);
    struct row_sums sums;
    int ref = -floor_log2(n);
    float max;

    pass(weights, n, type, ref, &sums);
    memcpy(&max, &sums.max_bits, sizeof max);
    if (sums.max_bits >= 0x7f800000U || max < 0x1p-60F || max > 0x1p60F)
        return slow_row(weights, n, type);
    if (sums.sum > 16 || sums.sum < 0.0625) { /* not what a softmax gives: take the row's own scale */
        ref += ilogb(sums.sum);
        pass(weights, n, type, ref, &sums);
    }
    row.sum = sums.sum;
    row.entropy_bits = entropy_clamp(log2(sums.sum) - ref - sums.log_sum / sums.sum, sums.sum, (double)max, n);
    row.max_weight = (double)max / sums.sum;
    return row;
}

static enum status check_args(const struct row_entropy_args *args, struct error *err)
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

enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    row_entropy_pass *pass = choose_pass();
    const char *base = args->weights;
    size_t row_bytes, n_rows;
    int n_threads = cpu_threads();

    TRY(check_args(args, err));
    row_bytes = args->n_cols * dtype_bytes(args->dtype);
    n_rows = args->n_heads * args->n_rows;
#pragma omp parallel for schedule(dynamic, 8) num_threads(n_threads) if (n_rows > 8)
    for (size_t i = 0; i < n_rows; i++) {
        struct row_span span = args->spans[i % args->n_rows];
        const char *first = base + i * row_bytes + span.lo * dtype_bytes(args->dtype);

        if (span.lo < span.hi)
            ret[i] = stat_of_row(first, span.hi - span.lo, args->dtype, pass);
        else
            ret[i] = without_value(ROW_EMPTY, 0);
    }
    return OK;
}
