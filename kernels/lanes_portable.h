/* lanes_portable.h - the virtual lanes of lanes.h in plain C: the same operations in the same order as the vector
 * files, so that results have the same bits. fmaf() is one rounding on every machine. */
#ifndef KERNELS_LANES_PORTABLE_H
#define KERNELS_LANES_PORTABLE_H

#include "kernels/dtype.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES_NAME(name) name##_portable
#define LANES_MICRO_ROWS 4
#define LANES_MICRO_VECS 1
#define LANES_FEW_REGISTERS

struct v16f {
    float v[16];
};
struct v16i {
    uint32_t v[16];
};
struct v8d {
    double v[8];
};

static inline struct v16f v16f_set(float x)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = x;
    return r;
}

static inline struct v16f v16f_load(const float *p)
{
    struct v16f r;

    memcpy(r.v, p, sizeof r.v);
    return r;
}

static inline void v16f_store(float *p, struct v16f a)
{
    memcpy(p, a.v, sizeof a.v);
}

static inline struct v16f v16f_load_f32(const void *p)
{
    struct v16f r;

    memcpy(r.v, p, sizeof r.v);
    return r;
}

static inline struct v16f v16f_load_f16(const void *p)
{
    uint16_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = float_from_f16(x[i]);
    return r;
}

static inline struct v16f v16f_load_bf16(const void *p)
{
    uint16_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = float_from_bf16(x[i]);
    return r;
}

static inline struct v16f v16f_load_f64(const void *p)
{
    double x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = (float)x[i];
    return r;
}

static inline struct v16f v16f_load_u8(const void *p)
{
    uint8_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = (float)x[i];
    return r;
}

static inline struct v16f v16f_load_i8(const void *p)
{
    int8_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = (float)x[i];
    return r;
}

static inline struct v16f v16f_load_e5m2(const void *p)
{
    uint8_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = float_from_f16((uint16_t)(x[i] << 8));
    return r;
}

/* The value times 2^-8; 0x7f and 0xff as if they were the next number. */
static inline struct v16f v16f_load_e4m3(const void *p)
{
    uint8_t x[16];
    struct v16f r;

    memcpy(x, p, sizeof x);
    for (int i = 0; i < 16; i++)
        r.v[i] = float_from_f16((uint16_t)((x[i] & 0x80) << 8 | (x[i] & 0x7f) << 7));
    return r;
}

static inline struct v16f v16f_add(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] + b.v[i];
    return r;
}

static inline struct v16f v16f_sub(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] - b.v[i];
    return r;
}

static inline struct v16f v16f_mul(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] * b.v[i];
    return r;
}

static inline struct v16f v16f_div(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] / b.v[i];
    return r;
}

#ifdef FP_FAST_FMAF
static inline struct v16f v16f_fma(struct v16f a, struct v16f b, struct v16f c)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    return r;
}
#else
/* In double the product is exact, and rounding the sum twice shows only where it came to lie in the middle between two
 * floats, or where the float is subnormal: these rare ones are done again, by the slow fmaf() of such machines. */
static inline struct v16f v16f_fma(struct v16f a, struct v16f b, struct v16f c)
{
    double sum[16];
    uint64_t sum_bits[16];
    uint32_t bits[16], is_odd[16], any = 0;
    struct v16f r;

    for (int i = 0; i < 16; i++)
        sum[i] = (double)a.v[i] * (double)b.v[i] + (double)c.v[i];
    for (int i = 0; i < 16; i++)
        r.v[i] = (float)sum[i];
    memcpy(sum_bits, sum, sizeof sum_bits);
    memcpy(bits, r.v, sizeof bits);
    for (int i = 0; i < 16; i++) {
        is_odd[i] = (uint32_t)(((uint32_t)sum_bits[i] & 0x1fffffff) == 0x10000000) |
                    (uint32_t)((bits[i] & 0x7fffffff) - 1 < 0x7fffff);
        any |= is_odd[i];
    }
    for (int i = 0; any && i < 16; i++)
        if (is_odd[i])
            r.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    return r;
}
#endif

static inline struct v16f v16f_max(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
    return r;
}

static inline struct v16f v16f_min(struct v16f a, struct v16f b)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
    return r;
}

/* x > limit ? a : 0 */
static inline struct v16f v16f_where_gt(struct v16f x, struct v16f limit, struct v16f a)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = x.v[i] > limit.v[i] ? a.v[i] : 0.0F;
    return r;
}

static inline struct v16i v16f_bits(struct v16f a)
{
    struct v16i r;

    memcpy(r.v, a.v, sizeof r.v);
    return r;
}

static inline struct v16f v16i_as_float(struct v16i a)
{
    struct v16f r;

    memcpy(r.v, a.v, sizeof r.v);
    return r;
}

static inline struct v16i v16i_set(int32_t x)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = (uint32_t)x;
    return r;
}

static inline struct v16f v16i_to_float(struct v16i a)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = (float)(int32_t)a.v[i];
    return r;
}

static inline struct v16i v16i_add(struct v16i a, struct v16i b)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] + b.v[i];
    return r;
}

static inline struct v16i v16i_sub(struct v16i a, struct v16i b)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] - b.v[i];
    return r;
}

static inline struct v16i v16i_and(struct v16i a, struct v16i b)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] & b.v[i];
    return r;
}

static inline struct v16i v16i_max_unsigned(struct v16i a, struct v16i b)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
    return r;
}

static inline struct v16i v16i_shr23_signed(struct v16i a)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = (uint32_t)((int32_t)a.v[i] >> 23);
    return r;
}

static inline struct v16i v16i_shr19(struct v16i a)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] >> 19;
    return r;
}

/* floor(log2) of a positive normal float, given by its bits. */
static inline struct v16f v16i_exponent(struct v16i a)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = (float)((int32_t)(a.v[i] >> 23) - 127);
    return r;
}

/* The mantissa of a float, in [1, 2), given by its bits. */
static inline struct v16f v16i_mantissa(struct v16i a)
{
    for (int i = 0; i < 16; i++)
        a.v[i] = (a.v[i] & 0x7fffff) | 0x3f800000;
    return v16i_as_float(a);
}

static inline struct v16i v16i_shl23(struct v16i a)
{
    struct v16i r;

    for (int i = 0; i < 16; i++)
        r.v[i] = a.v[i] << 23;
    return r;
}

static inline uint32_t v16i_reduce_max_unsigned(struct v16i a)
{
    uint32_t max = a.v[0];

    for (int i = 1; i < 16; i++)
        max = a.v[i] > max ? a.v[i] : max;
    return max;
}

static inline float v16f_sum(struct v16f a)
{
    float sum = 0;

    for (int i = 0; i < 16; i++)
        sum += a.v[i];
    return sum;
}

static inline float v16f_reduce_max(struct v16f a)
{
    float max = a.v[0];

    for (int i = 1; i < 16; i++)
        max = a.v[i] > max ? a.v[i] : max;
    return max;
}

/* table[index mod 16]. */
static inline struct v16f v16f_lookup16(const float *table, struct v16i index)
{
    struct v16f r;

    for (int i = 0; i < 16; i++)
        r.v[i] = table[index.v[i] & 15];
    return r;
}

static inline struct v8d v8d_zero(void)
{
    return (struct v8d){{0}};
}

/* acc + (lanes 0-7 of x + lanes 8-15 of x), in double. */
static inline struct v8d v8d_add_halves(struct v8d acc, struct v16f x)
{
    for (int i = 0; i < 8; i++)
        acc.v[i] += (double)x.v[i] + (double)x.v[i + 8];
    return acc;
}

static inline void v8d_store(double *p, struct v8d a)
{
    memcpy(p, a.v, sizeof a.v);
}

/* A set of lanes: bit i is lane i. */
typedef uint32_t lanes_mask;

static inline int lanes_count(lanes_mask mask)
{
    int n = 0;

    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

/* Adds the lanes that are at least hi to *above and counts them in *n_above, lane by lane; returns those of the others
 * that are at least lo. */
static inline lanes_mask v16f_split(struct v16f x, struct v16f lo, struct v16f hi, struct v16f *above,
                                    struct v16i *n_above)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < 16; i++) {
        above->v[i] += x.v[i] >= hi.v[i] ? x.v[i] : 0.0F;
        n_above->v[i] += x.v[i] >= hi.v[i];
        mask |= (uint32_t)(x.v[i] >= lo.v[i] && !(x.v[i] >= hi.v[i])) << i;
    }
    return mask;
}

/* a + x in the lanes where x is less than limit, a in the others. */
static inline struct v16f v16f_add_less(struct v16f a, struct v16f x, struct v16f limit)
{
    for (int i = 0; i < 16; i++)
        a.v[i] += x.v[i] < limit.v[i] ? x.v[i] : 0.0F;
    return a;
}

static inline void v16i_store(uint32_t *p, struct v16i a)
{
    memcpy(p, a.v, sizeof a.v);
}

/* n + 1 where a is greater than b. */
static inline struct v16i v16i_count_gt(struct v16i n, struct v16f a, struct v16f b)
{
    for (int i = 0; i < 16; i++)
        n.v[i] += a.v[i] > b.v[i];
    return n;
}

static inline uint32_t v16i_sum(struct v16i a)
{
    uint32_t sum = 0;

    for (int i = 0; i < 16; i++)
        sum += (uint32_t)a.v[i];
    return sum;
}

/* The lanes of the set, 0 in the others. */
static inline struct v16f v16f_only(lanes_mask mask, struct v16f x)
{
    struct v16f r;

    for (uint32_t i = 0; i < 16; i++)
        r.v[i] = mask >> i & 1 ? x.v[i] : 0.0F;
    return r;
}

/* Writes the lanes of the set one after the other, and overwrites up to sixteen floats from `to` on. */
static inline void v16f_pack(float *to, lanes_mask mask, struct v16f x)
{
    for (uint32_t i = 0; i < 16; i++) {
        *to = x.v[i];
        to += mask >> i & 1;
    }
}

#endif
