#include "tests/support/kernel_cases.h"

#include "core/base/rng.h"
#include "tests/support/close.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounds to nearest even by going through the spacing of halves at this magnitude. */
static uint16_t to_f16(double x)
{
    double a = fabs(x);
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    long units;

    if (isnan(x))
        return (uint16_t)(sign | 0x7e00);
    if (a >= 65520)
        return (uint16_t)(sign | 0x7c00);
    exponent = a < 0x1p-14 ? -14 : ilogb(a);
    units = lrint(ldexp(a, 10 - exponent)); /* 1024 to 2048, or fewer for subnormals */
    return (uint16_t)(sign | (units + ((exponent + 14) << 10)));
}

static uint16_t to_bf16(double x)
{
    float f = (float)x;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 0x40);
    bits += 0x7fff + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

/* The nearest of the positive numbers 0 to `last` of an 8-bit type, whose codes ascend; NaN beyond twice the last. */
static uint8_t to_f8(double x, enum dtype type, uint8_t last, uint8_t nan)
{
    uint8_t sign = signbit(x) ? 0x80 : 0, lo = 0, hi = last, codes[2];
    double a = fabs(x);

    if (isnan(x))
        return (uint8_t)(sign | nan);
    while (lo + 1 < hi) {
        uint8_t middle = (uint8_t)((lo + hi) / 2);

        if (dtype_load(&middle, type, 0) <= a)
            lo = middle;
        else
            hi = middle;
    }
    codes[0] = lo;
    codes[1] = hi;
    return sign | codes[a - dtype_load(codes, type, 0) > dtype_load(codes, type, 1) - a];
}

static uint8_t to_byte(double x, enum dtype type)
{
    switch (type) {
    case DTYPE_U8:
        return (uint8_t)lrint(fmin(fmax(x * 255, 0), 255)); /* NaN is 0 too */
    case DTYPE_I8:
        return (uint8_t)(int8_t)lrint(fmin(fmax(x * 127, -128), 127));
    case DTYPE_F8_E4M3:
        return to_f8(x, type, 0x7e, 0x7f);
    default:
        return to_f8(x, type, 0x7c, 0x7f);
    }
}

void *cases_encode(const double *values, size_t n, enum dtype type)
{
    char *out = malloc(n * dtype_bytes(type) + 1);

    for (size_t i = 0; i < n; i++) {
        float f = (float)values[i];
        uint16_t half = type == DTYPE_F16 ? to_f16(values[i]) : to_bf16(values[i]);

        if (type == DTYPE_F64)
            memcpy(out + i * 8, &values[i], 8);
        else if (type == DTYPE_F32)
            memcpy(out + i * 4, &f, 4);
        else if (type == DTYPE_F16 || type == DTYPE_BF16)
            memcpy(out + i * 2, &half, 2);
        else
            out[i] = (char)to_byte(values[i], type);
    }
    return out;
}

double cases_uniform(uint64_t seed, uint64_t index)
{
    struct rng_block b = rng_at(seed, 1, index);

    return ((double)b.word[0] * 0x1p32 + b.word[1]) * 0x1p-64;
}

double cases_normal(uint64_t seed, uint64_t index)
{
    double u = 1 - cases_uniform(seed, 2 * index);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * cases_uniform(seed, 2 * index + 1));
}

void cases_softmax(double *p, size_t n, double sd, uint64_t seed)
{
    double sum = 0, max = 0;

    for (size_t i = 0; i < n; i++) {
        p[i] = sd * cases_normal(seed, i);
        max = fmax(max, p[i]);
    }
    for (size_t i = 0; i < n; i++)
        sum += p[i] = exp(p[i] - max);
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

void cases_causal(struct row_span *spans, size_t n_rows, size_t n_cols, size_t window)
{
    for (size_t i = 0; i < n_rows; i++) {
        size_t hi = n_cols - n_rows + i + 1;

        spans[i].hi = (uint32_t)hi;
        spans[i].lo = (uint32_t)(window && hi > window ? hi - window : 0);
    }
}

size_t cases_compare(const struct row_stat *got, const struct row_stat *want, size_t n, double bits, double rel,
                     char text[512])
{
    for (size_t i = 0; i < n; i++) {
        const struct row_stat *g = &got[i], *w = &want[i];

        if (g->status == w->status && g->n_keys == w->n_keys &&
            close_to(g->entropy_bits, w->entropy_bits, (struct tol){bits, 0}) &&
            close_to(g->sum, w->sum, (struct tol){0, rel}) &&
            close_to(g->max_weight, w->max_weight, (struct tol){0, rel}) &&
            close_to(g->square_sum, w->square_sum, (struct tol){0, 2 * rel}) &&
            close_to(g->sink_weight, w->sink_weight, (struct tol){1e-7 * w->sum, rel}) &&
            close_to(g->distance, w->distance, (struct tol){1e-7 * w->sum, 3 * rel}))
            continue;
        snprintf(
            text, 512,
            "row %zu: status %u/%u, keys %u/%u, H %.9g/%.9g, sum %.9g/%.9g, max %.9g/%.9g, squares %.9g/%.9g, sink "
            "%.9g/%.9g, distance %.9g/%.9g",
            i, g->status, w->status, g->n_keys, w->n_keys, g->entropy_bits, w->entropy_bits, g->sum, w->sum,
            g->max_weight, w->max_weight, g->square_sum, w->square_sum, g->sink_weight, w->sink_weight, g->distance,
            w->distance);
        return i;
    }
    text[0] = 0;
    return n;
}

size_t cases_compare_all(const struct row_stat *got, const struct row_stat *want, size_t n, double bits, double rel,
                         char text[512])
{
    size_t bad = cases_compare(got, want, n, bits, rel, text);

    for (size_t i = 0; i < bad; i++) {
        const struct row_stat *g = &got[i], *w = &want[i];

        if (g->k90 == w->k90 && g->sees_sink == w->sees_sink &&
            close_to(g->sink4_weight, w->sink4_weight, (struct tol){1e-7 * w->sum, rel}) &&
            close_to(g->leak, w->leak, (struct tol){0, rel}))
            continue;
        snprintf(text, 512, "row %zu: k90 %u/%u, sees sink %u/%u, four sinks %.9g/%.9g, leak %.9g/%.9g", i, g->k90,
                 w->k90, g->sees_sink, w->sees_sink, g->sink4_weight, w->sink4_weight, g->leak, w->leak);
        return i;
    }
    return bad;
}

size_t cases_compare_profiles(const uint64_t *got, const uint64_t *want, size_t n_heads, double rows)
{
    for (size_t i = 0; i < n_heads * PROFILE_BUCKETS; i++)
        if (!close_to((double)got[i] * PROFILE_UNIT, (double)want[i] * PROFILE_UNIT, (struct tol){1e-6 * rows, 1e-5}))
            return i;
    return n_heads * PROFILE_BUCKETS;
}

bool cases_identical(const struct row_stat *a, const struct row_stat *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}
