/* qk_entropy_body.h - the inner loops of the Q/K kernel on virtual lanes; each qk_entropy_<isa>.c includes it once.
 *
 * A score is a chain of fused multiply-adds over at most SCORE_CHUNK dimensions, then a sum of chunks: shorter chains
 * round less, and their order does not depend on the size of the register block, so all instruction sets agree. */
#ifndef KERNELS_QK_ENTROPY_BODY_H
#define KERNELS_QK_ENTROPY_BODY_H

#include "kernels/exp2_lanes.h"
#include "kernels/qk_entropy_isa.h"

#include <math.h>

enum { SCORE_CHUNK = 32, MICRO_ROWS = LANES_MICRO_ROWS, MICRO_VECS = LANES_MICRO_VECS, PANEL_KEYS = 16 * MICRO_VECS };

static const float lane_index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

LANES_INLINE void score_chunk(const float *q, const float *k, size_t n_dims, struct v16f acc[MICRO_ROWS][MICRO_VECS])
{
    LANES_UNROLL
    for (int i = 0; i < MICRO_ROWS; i++)
        LANES_UNROLL
    for (int v = 0; v < MICRO_VECS; v++)
        acc[i][v] = v16f_set(0);
    for (size_t d = 0; d < n_dims; d++) {
        struct v16f key[MICRO_VECS];

        LANES_UNROLL
        for (int v = 0; v < MICRO_VECS; v++)
            key[v] = v16f_load(k + d * PANEL_KEYS + 16 * (size_t)v);
        LANES_UNROLL
        for (int i = 0; i < MICRO_ROWS; i++) {
            struct v16f query = v16f_set(q[d * MICRO_ROWS + i]);

            LANES_UNROLL
            for (int v = 0; v < MICRO_VECS; v++)
                acc[i][v] = v16f_fma(query, key[v], acc[i][v]);
        }
    }
}

static void scores(const float *q, const float *k, size_t dim, float *y, size_t stride)
{
    for (size_t d = 0; d < dim; d += SCORE_CHUNK) {
        struct v16f acc[MICRO_ROWS][MICRO_VECS];

        score_chunk(q + d * MICRO_ROWS, k + d * PANEL_KEYS, dim - d < SCORE_CHUNK ? dim - d : SCORE_CHUNK, acc);
        LANES_UNROLL
        for (int i = 0; i < MICRO_ROWS; i++)
            LANES_UNROLL
        for (int v = 0; v < MICRO_VECS; v++) {
            float *to = y + (size_t)i * stride + 16 * (size_t)v;

            v16f_store(to, d == 0 ? acc[i][v] : v16f_add(v16f_load(to), acc[i][v]));
        }
    }
}

/* Cephes' tanhf: an odd polynomial up to 0.625, 1 - 2 / (e^2x + 1) beyond, which is 1 to the last bit from 10 on. */
LANES_INLINE struct v16f tanh_lanes(struct v16f x)
{
    struct v16i bits = v16f_bits(x);
    struct v16i sign = v16i_and(bits, v16i_set((int32_t)0x80000000));
    struct v16f abs = v16f_min(v16i_as_float(v16i_and(bits, v16i_set(0x7fffffff))), v16f_set(20));
    struct v16f square = v16f_mul(abs, abs);
    struct v16f small = v16f_fma(square, v16f_set(-5.70498872745e-3F), v16f_set(2.06390887954e-2F));
    struct v16f large = v16f_add(exp2_lanes(v16f_mul(abs, v16f_set(0x1.715476p+1F))), v16f_set(1));

    small = v16f_fma(square, small, v16f_set(-5.37397155531e-2F));
    small = v16f_fma(square, small, v16f_set(1.33314422036e-1F));
    small = v16f_fma(square, small, v16f_set(-3.33332819422e-1F));
    small = v16f_fma(v16f_mul(square, abs), small, abs);
    large = v16f_sub(v16f_set(1), v16f_div(v16f_set(2), large));
    small = v16f_where_gt(v16f_set(0x1.400002p-1F), abs, small);
    large = v16f_where_gt(abs, v16f_set(0x1.4p-1F), large);
    return v16i_as_float(v16i_add(v16f_bits(v16f_add(small, large)), sign));
}

static void softcap(float *y, size_t n, float limit)
{
    for (size_t j = 0; j < n; j += 16)
        v16f_store(y + j, v16f_mul(tanh_lanes(v16f_load(y + j)), v16f_set(limit)));
}

static void rescale(struct qk_state *state, double m)
{
    double shift = state->m - m;
    double factor = exp2(shift);

    if (state->l > 0) {
        state->t = factor * (state->t + state->l * shift);
        state->l *= factor;
        state->squares *= factor * factor;
        state->distance *= factor;
    }
    state->m = m;
}

/* Terms under 2^-125 of the largest count as zero. */
static void absorb(float *y, size_t n, int64_t query, struct qk_state *state)
{
    const struct v16f least = v16f_set(-125);
    const struct v16i magnitude = v16i_set(0x7fffffff);
    struct v16f max = v16f_set(-INFINITY);
    struct v16f l = v16f_set(0), t = v16f_set(0), squares = v16f_set(0), distance = v16f_set(0), m;
    struct v16f keys = v16f_sub(v16f_set((float)query), v16f_load(lane_index)); /* from key to query */
    double tile_max;

    v16f_store(y + n, max);
    for (size_t j = 0; j < n; j += 16)
        max = v16f_max(max, v16f_load(y + j));
    tile_max = (double)v16f_reduce_max(max);
    if (tile_max > state->m)
        rescale(state, tile_max);
    m = v16f_set((float)state->m);
    for (size_t j = 0; j < n; j += 16) {
        struct v16f x = v16f_max(v16f_sub(v16f_load(y + j), m), least);
        struct v16f e = v16f_where_gt(x, least, exp2_lanes(x));

        l = v16f_add(l, e);
        t = v16f_fma(e, x, t);
        squares = v16f_fma(e, e, squares);
        distance = v16f_fma(e, v16i_as_float(v16i_and(v16f_bits(keys), magnitude)), distance);
        keys = v16f_sub(keys, v16f_set(16));
    }
    state->l += v8d_sum(v8d_add_halves(v8d_zero(), l));
    state->t += v8d_sum(v8d_add_halves(v8d_zero(), t));
    state->squares += v8d_sum(v8d_add_halves(v8d_zero(), squares));
    state->distance += v8d_sum(v8d_add_halves(v8d_zero(), distance));
}

const struct qk_isa LANES_NAME(qk_entropy) = {
    .micro_rows = MICRO_ROWS,
    .panel_keys = PANEL_KEYS,
    .scores = scores,
    .softcap = softcap,
    .absorb = absorb,
};

#endif
