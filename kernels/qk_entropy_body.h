/* qk_entropy_body.h - the inner loops of the Q/K kernel on virtual lanes; each qk_entropy_<isa>.c includes it once.
 *
 * A score is a chain of fused multiply-adds over at most SCORE_CHUNK dimensions, then a sum of chunks: shorter chains
 * round less, and their order does not depend on the size of the register block, so all instruction sets agree. */
#ifndef KERNELS_QK_ENTROPY_BODY_H
#define KERNELS_QK_ENTROPY_BODY_H

#include "kernels/exp2_lanes.h"
#include "kernels/qk_entropy_isa.h"
#include "kernels/row_slow.h"

#include <math.h>

enum { SCORE_CHUNK = 32, MICRO_ROWS = LANES_MICRO_ROWS, MICRO_VECS = LANES_MICRO_VECS, PANEL_KEYS = 16 * MICRO_VECS };

/* Weights of which a lane adds up floats: 8 of them. */
enum { WEIGH_KEYS = 8 * 16 };

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

struct score_sums {
    struct v16f l, t, squares, distance;
};

/* n scores that lie in one bucket. `keys`: from the first of them to the query, counted down. */
LANES_INLINE void absorb_run(const float *y, size_t n, float keys, struct v16f m, struct score_sums *s, double *bucket)
{
    const struct v16f least = v16f_set(-125);
    const struct v16i magnitude = v16i_set(0x7fffffff);
    struct v16f down = v16f_sub(v16f_set(keys), v16f_load(lane_index)), sum = v16f_set(0);

    for (size_t j = 0; j < n; j += 16) {
        struct v16f x = v16f_max(v16f_sub(v16f_load(y + j), m), least), e = exp2_lanes(x);

        if (j + 16 > n)
            e = v16f_only((lanes_mask)((1U << (n - j)) - 1), e);
        e = v16f_where_gt(x, least, e);
        sum = v16f_add(sum, e);
        s->t = v16f_fma(e, x, s->t);
        s->squares = v16f_fma(e, e, s->squares);
        s->distance = v16f_fma(e, v16i_as_float(v16i_and(v16f_bits(down), magnitude)), s->distance);
        down = v16f_sub(down, v16f_set(16));
    }
    s->l = v16f_add(s->l, sum);
    *bucket += v8d_sum(v8d_add_halves(v8d_zero(), sum));
}

/* How many keys from the one at distance `keys` on, going towards the query and past it, are in its bucket. */
static size_t same_bucket(int64_t keys)
{
    int bucket = profile_bucket((uint64_t)(keys < 0 ? -keys : keys));
    int64_t first = bucket ? (int64_t)1 << (bucket - 1) : 0; /* the bucket's least distance */

    if (bucket == 0)
        return 1;
    if (keys > 0)
        return (size_t)(keys - first + 1);
    return bucket == PROFILE_BUCKETS - 1 ? SIZE_MAX : (size_t)(2 * first + keys);
}

/* Terms under 2^-125 of the largest count as zero. */
static void absorb(float *y, size_t n, int64_t query, struct qk_state *state)
{
    struct v16f max = v16f_set(-INFINITY), zero = v16f_set(0), m;
    struct score_sums s = {zero, zero, zero, zero};
    double tile_max;

    v16f_store(y + n, max);
    for (size_t j = 0; j < n; j += 16)
        max = v16f_max(max, v16f_load(y + j));
    tile_max = (double)v16f_reduce_max(max);
    if (tile_max > state->m)
        qk_state_raise(state, tile_max);
    m = v16f_set((float)state->m);
    for (size_t j = 0; j < n;) {
        int64_t keys = query - (int64_t)j;
        size_t run = same_bucket(keys), left = n - j;

        run = run < left ? run : left;
        absorb_run(y + j, run, (float)keys, m, &s, &state->bucket[profile_bucket((uint64_t)(keys < 0 ? -keys : keys))]);
        j += run;
    }
    state->l += v8d_sum(v8d_add_halves(v8d_zero(), s.l));
    state->t += v8d_sum(v8d_add_halves(v8d_zero(), s.t));
    state->squares += v8d_sum(v8d_add_halves(v8d_zero(), s.squares));
    state->distance += v8d_sum(v8d_add_halves(v8d_zero(), s.distance));
}

/* As absorb() has them. */
static double weigh(float *y, size_t n, double m)
{
    const struct v16f least = v16f_set(-125), top = v16f_set((float)m);
    struct v8d sum = v8d_zero();

    v16f_store(y + n, v16f_set(-INFINITY));
    for (size_t j = 0; j < n;) {
        size_t end = j + WEIGH_KEYS < n ? j + WEIGH_KEYS : n;
        struct v16f part = v16f_set(0);

        for (; j < end; j += 16) {
            struct v16f x = v16f_max(v16f_sub(v16f_load(y + j), top), least);
            struct v16f e = v16f_where_gt(x, least, exp2_lanes(x));

            v16f_store(y + j, e);
            part = v16f_add(part, e);
        }
        sum = v8d_add_halves(sum, part);
    }
    return v8d_sum(sum);
}

const struct qk_isa LANES_NAME(qk_entropy) = {
    .micro_rows = MICRO_ROWS,
    .panel_keys = PANEL_KEYS,
    .scores = scores,
    .softcap = softcap,
    .absorb = absorb,
    .weigh = weigh,
};

#endif
