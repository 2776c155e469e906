/* row_entropy_body.h - the pass over one row, written on virtual lanes; each row_entropy_<isa>.c includes it once.
 *
 * Element j goes to lane j mod 32 (two registers of 16). A lane sums at most 16 floats, then the lanes go to eight
 * doubles: the rounding of the float sums stays under 17 * 2^-24 of the sum of |terms|, and with `ref` = -log2 n those
 * terms add up to less than KL(p|uniform) + 1.1 bits; where KL is large, few elements carry it.
 *
 * Distances: before a step of 32 elements is added to the sums, the sums are added to `before`, so that an element is
 * counted there once for every whole step that follows it: 32 keys each, for one addition. The rest of its distance
 * from the block's end depends on the lane alone, and what remains is the same for the whole block, unless the query
 * stands inside it.
 *
 * log2 p: p = 2^e m with m in [31/32, 31/16), the nearest c = 1 + i/8 gives r = m/c - 1 in [-1/16, 1/16], and
 * log2 p = e + log2 c + r P(r) with P the cubic of least |error| 1.8e-8 (Lawson's iteration in float64; numbers rounded
 * to float). Powers of two come out exact. Zero gives a finite logarithm, so 0 log 0 = 0 needs no branch. */
#ifndef KERNELS_ROW_ENTROPY_BODY_H
#define KERNELS_ROW_ENTROPY_BODY_H

#include "kernels/lanes.h"
#include "kernels/row_entropy_isa.h"

#include <string.h>

enum { ROW_BLOCK = 512 };

/* 1/c rounded to float, and -log2 of that; both twice, for lookups mod 16. */
static const float inverse_c[16] = {
    0x1p+0F,        0x1.c71c72p-1F, 0x1.99999ap-1F, 0x1.745d18p-1F, 0x1.555556p-1F, 0x1.3b13b2p-1F,
    0x1.24924ap-1F, 0x1.111112p-1F, 0x1p+0F,        0x1.c71c72p-1F, 0x1.99999ap-1F, 0x1.745d18p-1F,
    0x1.555556p-1F, 0x1.3b13b2p-1F, 0x1.24924ap-1F, 0x1.111112p-1F,
};
static const float log2_c[16] = {
    0x0p+0F,        0x1.5c01a2p-3F, 0x1.49a784p-2F, 0x1.d6753cp-2F, 0x1.2b8014p-1F, 0x1.66a008p-1F,
    0x1.9d5d9ep-1F, 0x1.d053f4p-1F, 0x0p+0F,        0x1.5c01a2p-3F, 0x1.49a784p-2F, 0x1.d6753cp-2F,
    0x1.2b8014p-1F, 0x1.66a008p-1F, 0x1.9d5d9ep-1F, 0x1.d053f4p-1F,
};

/* log2 p - ref */
LANES_INLINE struct v16f log2_from(struct v16i bits, struct v16i ref)
{
    struct v16i t = v16i_sub(bits, v16i_set(0x3f780000)); /* 31/32 */
    struct v16i e = v16i_shr23_signed(t);
    struct v16i index = v16i_shr20(t);
    struct v16f m = v16i_as_float(v16i_sub(bits, v16i_and(t, v16i_set((int32_t)0xff800000))));
    struct v16f r = v16f_fma(m, v16f_lookup8(inverse_c, index), v16f_set(-1));
    struct v16f whole = v16f_add(v16i_to_float(v16i_sub(e, ref)), v16f_lookup8(log2_c, index));
    struct v16f poly = v16f_fma(r, v16f_set(-0x1.72ecd2p-2F), v16f_set(0x1.ede13ap-2F));

    poly = v16f_fma(r, poly, v16f_set(-0x1.715426p-1F));
    poly = v16f_fma(r, poly, v16f_set(0x1.71546p+0F));
    return v16f_fma(r, poly, whole);
}

static const float lane_index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

struct row_lanes {
    struct v16f sum, log_sum, square_sum, before;
    struct v16i max_bits;
};

LANES_INLINE void add_weights(struct row_lanes *acc, struct v16f p, struct v16i ref)
{
    struct v16i bits = v16f_bits(p);

    acc->sum = v16f_add(acc->sum, p);
    acc->log_sum = v16f_fma(p, log2_from(bits, ref), acc->log_sum);
    acc->square_sum = v16f_fma(p, p, acc->square_sum);
    acc->max_bits = v16i_max_unsigned(acc->max_bits, bits);
}

LANES_INLINE struct v16f load_weights(const char *p, enum dtype type)
{
    switch (type) {
    case DTYPE_F16:
        return v16f_load_f16(p);
    case DTYPE_BF16:
        return v16f_load_bf16(p);
    case DTYPE_F64:
        return v16f_load_f64(p);
    case DTYPE_F32:
    default:
        return v16f_load_f32(p);
    }
}

/* Up to 15 elements, filled up with zeros. */
LANES_INLINE struct v16f load_rest(const char *p, size_t n, size_t bytes, enum dtype type)
{
    double rest[16] = {0}; /* room for sixteen of the widest type */

    memcpy(rest, p, n * bytes);
    return load_weights((const char *)rest, type);
}

/* keys - 0, keys - 1, ... */
LANES_INLINE struct v16f keys_down(size_t keys)
{
    return v16f_sub(v16f_set((float)keys), v16f_load(lane_index));
}

/* sum p (n - 1 - j) over the whole steps of a block of n elements: `rest` elements come after them. */
LANES_INLINE struct v16f distance_of_steps(const struct row_lanes acc[2], size_t rest)
{
    struct v16f whole = v16f_mul(v16f_add(acc[0].before, acc[1].before), v16f_set(32));

    whole = v16f_fma(acc[0].sum, keys_down(rest + 31), whole);
    return v16f_fma(acc[1].sum, keys_down(rest + 15), whole);
}

/* Up to ROW_BLOCK elements: whole pairs of registers, one whole register, then what is left. Returns, in lanes,
 * sum p (n - 1 - j). */
LANES_INLINE struct v16f add_block(struct row_lanes acc[2], const char *p, size_t n, size_t bytes, enum dtype type,
                                   struct v16i ref)
{
    struct v16f distance, w;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        acc[0].before = v16f_add(acc[0].before, acc[0].sum);
        acc[1].before = v16f_add(acc[1].before, acc[1].sum);
        add_weights(&acc[0], load_weights(p + i * bytes, type), ref);
        add_weights(&acc[1], load_weights(p + (i + 16) * bytes, type), ref);
    }
    distance = distance_of_steps(acc, n - i);
    if (i + 16 <= n) {
        w = load_weights(p + i * bytes, type);
        add_weights(&acc[0], w, ref);
        distance = v16f_fma(w, keys_down(n - i - 1), distance);
        i += 16;
    }
    if (i < n) {
        w = load_rest(p + i * bytes, n - i, bytes, type);
        add_weights(&acc[1], w, ref);
        distance = v16f_fma(w, keys_down(n - i - 1), distance);
    }
    return distance;
}

/* sum p |query - j| over a block that does not end before the query. */
LANES_INLINE struct v16f near_distance(const char *p, size_t n, size_t bytes, enum dtype type, int64_t query)
{
    const struct v16i magnitude = v16i_set(0x7fffffff);
    struct v16f distance = v16f_set(0);

    for (size_t i = 0; i < n; i += 16) {
        struct v16f w = i + 16 <= n ? load_weights(p + i * bytes, type) : load_rest(p + i * bytes, n - i, bytes, type);
        struct v16f keys = v16f_sub(v16f_set((float)(query - (int64_t)i)), v16f_load(lane_index));

        distance = v16f_fma(w, v16i_as_float(v16i_and(v16f_bits(keys), magnitude)), distance);
    }
    return distance;
}

LANES_INLINE void pass(const void *weights, size_t n, enum dtype type, size_t bytes, int ref, int64_t query,
                       struct row_sums *ret)
{
    const char *p = (const char *)weights;
    struct v8d sum = v8d_zero(), log_sum = v8d_zero(), square_sum = v8d_zero(), distance = v8d_zero();
    struct v16i max_bits = v16i_set(0);

    for (size_t done = 0; done < n; done += ROW_BLOCK) {
        struct v16f zero = v16f_set(0), block_sum, from_end;
        struct row_lanes acc[2] = {{zero, zero, zero, zero, max_bits}, {zero, zero, zero, zero, max_bits}};
        size_t n_block = n - done < ROW_BLOCK ? n - done : ROW_BLOCK;
        int64_t beyond = query - (int64_t)(done + n_block - 1); /* from the block's last element to the query */

        from_end = add_block(acc, p + done * bytes, n_block, bytes, type, v16i_set(ref));
        block_sum = v16f_add(acc[0].sum, acc[1].sum);
        if (beyond >= 0)
            from_end = v16f_fma(block_sum, v16f_set((float)beyond), from_end);
        else
            from_end = near_distance(p + done * bytes, n_block, bytes, type, query - (int64_t)done);
        sum = v8d_add_halves(sum, block_sum);
        log_sum = v8d_add_halves(log_sum, v16f_add(acc[0].log_sum, acc[1].log_sum));
        square_sum = v8d_add_halves(square_sum, v16f_add(acc[0].square_sum, acc[1].square_sum));
        distance = v8d_add_halves(distance, from_end);
        max_bits = v16i_max_unsigned(acc[0].max_bits, acc[1].max_bits);
    }
    ret->sum = v8d_sum(sum);
    ret->log_sum = v8d_sum(log_sum);
    ret->square_sum = v8d_sum(square_sum);
    ret->distance = v8d_sum(distance);
    ret->max_bits = v16i_reduce_max_unsigned(max_bits);
}

void LANES_NAME(row_entropy)(const void *weights, size_t n, enum dtype type, int ref, int64_t query,
                             struct row_sums *ret)
{
    switch (type) {
    case DTYPE_F16:
        pass(weights, n, DTYPE_F16, 2, ref, query, ret);
        return;
    case DTYPE_BF16:
        pass(weights, n, DTYPE_BF16, 2, ref, query, ret);
        return;
    case DTYPE_F64:
        pass(weights, n, DTYPE_F64, 8, ref, query, ret);
        return;
    case DTYPE_F32:
    default:
        pass(weights, n, DTYPE_F32, 4, ref, query, ret);
        return;
    }
}

#endif
