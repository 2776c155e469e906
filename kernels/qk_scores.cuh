/* qk_scores.cuh - a tile of scores, still in the L2 cache, goes into the state of its rows.
 *
 * A block of 128 threads takes one row of the tile: it holds the scores in registers, eight 128-bit loads in flight,
 * finds their maximum, and adds up exponentials of what lies below it; then (m, l, t) and the rest merge with the row's
 * state, in a fixed order. */
#ifndef KERNELS_QK_SCORES_CUH
#define KERNELS_QK_SCORES_CUH

#include "kernels/row_passes.cuh"

namespace
{

enum { SCORE_THREADS = 128, SCORE_WARPS = SCORE_THREADS / WARP_SIZE, SCORE_VECTORS = 8 };
enum { TILE_KEYS = 4 * SCORE_VECTORS * SCORE_THREADS };

/* One row so far, with e = 2^(y-m): m = max y, l = sum e, t = sum e (y-m), sum e^2, sum e |i-j|, e of the first key and
 * of the first four. m = -inf before the first key. */
struct score_state {
    double m, l, t, squares, distance, sink, sink4;
};

struct score_tile {
    const float *scores; /* n_heads x head_stride; rows of `pitch`, key `first_key` first */
    size_t pitch, head_stride;
    const struct row_span *spans;
    size_t first_row, n_rows; /* of the spans, and of each head's states */
    uint32_t first_key, n_keys;
    float factor, cap; /* y = factor s, or cap tanh(factor s) where cap > 0 */
    int64_t query_col, sink_col;
    struct score_state *states; /* n_heads x state_stride; row first_row of a head is its state `first_state` */
    double *buckets;            /* the same x PROFILE_BUCKETS, of e; NULL: not wanted */
    size_t first_state, state_stride;
};

__device__ __forceinline__ float y_of(const struct score_tile *t, float score)
{
    float y = score * t->factor;

    return t->cap > 0 ? t->cap * tanhf(y) : y;
}

__device__ __forceinline__ float exp_of(float x)
{
    return x > -125 ? exp2f(x) : 0;
}

struct score_sums {
    float l, t, squares, distance;
};

/* Adds the thread's scores and returns their largest to everyone; -inf stands for keys that the row does not see. */
__device__ __forceinline__ float load_scores(const struct score_tile *t, const float *row, int lo, int hi,
                                             float *shared, float y[SCORE_VECTORS][4])
{
    int thread = (int)threadIdx.x;
    float max = -INFINITY;

#pragma unroll
    for (int v = 0; v < SCORE_VECTORS; v++) {
        int at = (v * SCORE_THREADS + thread) * 4;
        float4 s = make_float4(0, 0, 0, 0);

        if (at < hi && at + 4 > lo)
            s = *(const float4 *)(row + at);
        y[v][0] = s.x;
        y[v][1] = s.y;
        y[v][2] = s.z;
        y[v][3] = s.w;
    }
#pragma unroll
    for (int v = 0; v < SCORE_VECTORS; v++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int at = (v * SCORE_THREADS + thread) * 4 + i;

            y[v][i] = at >= lo && at < hi ? y_of(t, y[v][i]) : -INFINITY;
            max = fmaxf(max, y[v][i]);
        }
    for (int step = WARP_SIZE / 2; step > 0; step /= 2)
        max = fmaxf(max, __shfl_xor_sync(FULL_WARP, max, step));
    if (thread % WARP_SIZE == 0)
        shared[thread / WARP_SIZE] = max;
    __syncthreads();
    for (int w = 0; w < SCORE_WARPS; w++)
        max = fmaxf(max, shared[w]);
    return max;
}

/* A state of maximum m, to be added to one of maximum `to`. */
__device__ __forceinline__ void rescale(struct score_state *s, double to)
{
    double e = s->l > 0 ? exp2(s->m - to) : 0;

    s->t = s->l > 0 ? e * (s->t + s->l * (s->m - to)) : 0;
    s->l *= e;
    s->squares *= e * e;
    s->distance *= e;
    s->sink *= e;
    s->sink4 *= e;
    s->m = to;
}

/* The tile's sums and sinks into the row's state; returns by how much the tile's masses, and what was there, shrink. */
__device__ __forceinline__ void merge_state(struct score_state *state, struct score_state tile, double ret_factors[2])
{
    double m = tile.m > state->m ? tile.m : state->m;

    ret_factors[0] = state->l > 0 ? exp2(state->m - m) : 0;
    ret_factors[1] = exp2(tile.m - m);
    rescale(state, m);
    rescale(&tile, m);
    state->l += tile.l;
    state->t += tile.t;
    state->squares += tile.squares;
    state->distance += tile.distance;
    state->sink += tile.sink;
    state->sink4 += tile.sink4;
}

/* Of the first keys, as far as the row sees them in this tile. */
__device__ __forceinline__ void add_sinks(struct score_state *s, const struct score_tile *t, const float *row, int lo,
                                          int hi, float max)
{
    for (int k = 0; k < 4; k++) {
        int64_t at = t->sink_col + k - (int64_t)t->first_key;
        double e = at >= lo && at < hi ? (double)exp_of(y_of(t, row[at]) - max) : 0;

        s->sink += k == 0 ? e : 0;
        s->sink4 += e;
    }
}

/* Grid: rows of the tile x heads. */
__global__ void __launch_bounds__(SCORE_THREADS) absorb_scores(struct score_tile t)
{
    __shared__ double buckets[SCORE_WARPS][PROFILE_BUCKETS];
    __shared__ double scratch[SCORE_WARPS * GROUP_SUMS];
    __shared__ double factors[2];
    __shared__ float shared_max[SCORE_WARPS];
    const float *row = t.scores + blockIdx.y * t.head_stride + blockIdx.x * t.pitch;
    struct row_span span = t.spans[t.first_row + blockIdx.x];
    size_t state = blockIdx.y * t.state_stride + t.first_state + blockIdx.x;
    int thread = (int)threadIdx.x, lane = thread % WARP_SIZE;
    int lo = span.lo > t.first_key ? (int)(span.lo - t.first_key) : 0;
    int hi = span.hi < t.first_key + t.n_keys ? (int)(span.hi - t.first_key) : (int)t.n_keys;
    int64_t query = t.query_col + (int64_t)(t.first_row + blockIdx.x) - (int64_t)t.first_key;
    struct group g = {thread, SCORE_THREADS, scratch};
    struct warp_profile profile = {t.buckets ? buckets[thread / WARP_SIZE] : NULL, 0, -1};
    struct score_sums sums = {0, 0, 0, 0};
    float y[SCORE_VECTORS][4], max;
    double totals[4];

    if (span.lo >= span.hi || span.hi <= t.first_key || lo >= hi)
        return;
    buckets[thread / WARP_SIZE][lane] = 0;
    max = load_scores(&t, row, lo, hi, shared_max, y);
#pragma unroll
    for (int v = 0; v < SCORE_VECTORS; v++) {
        int first = (v * SCORE_THREADS + thread - lane) * 4, at = first + lane * 4;
        float keys = (float)(query - at), w[4];

        if (first >= hi || first + 4 * WARP_SIZE <= lo)
            continue;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float x = y[v][i] - max;

            w[i] = exp_of(x);
            sums.l += w[i];
            sums.t = x > -125 ? fmaf(w[i], x, sums.t) : sums.t;
            sums.squares = fmaf(w[i], w[i], sums.squares);
            sums.distance = fmaf(w[i], fabsf(keys - (float)i), sums.distance);
        }
        if (t.buckets)
            profile.add(w, query - at, query - first, query - (first + 4 * WARP_SIZE - 1), lane);
    }
    if (t.buckets)
        profile.flush(lane);
    totals[0] = (double)sums.l;
    totals[1] = (double)sums.t;
    totals[2] = (double)sums.squares;
    totals[3] = (double)sums.distance;
    group_sums(&g, totals);
    if (thread == 0) {
        struct score_state tile = {(double)max, totals[0], totals[1], totals[2], totals[3], 0, 0};

        add_sinks(&tile, &t, row, lo, hi, max);
        merge_state(&t.states[state], tile, factors);
    }
    __syncthreads();
    if (t.buckets && thread < PROFILE_BUCKETS) {
        double *to = &t.buckets[state * PROFILE_BUCKETS + thread], mass = 0;

        for (int w = 0; w < SCORE_WARPS; w++)
            mass += buckets[w][thread];
        *to = *to * factors[0] + mass * factors[1];
    }
}

/* states: n_heads x stride, before the first key; buckets: the same x PROFILE_BUCKETS, or NULL. */
__global__ void __launch_bounds__(PACK_THREADS) begin_states(struct score_state *states, double *buckets, size_t n)
{
    size_t i = (size_t)blockIdx.x * PACK_THREADS + threadIdx.x;
    struct score_state none = {-INFINITY, 0, 0, 0, 0, 0, 0};

    if (i >= n)
        return;
    states[i] = none;
    for (int b = 0; buckets && b < PROFILE_BUCKETS; b++)
        buckets[i * PROFILE_BUCKETS + b] = 0;
}

/* The profiles of the rows [0, n) of each head that are pending, and have kept a finite state. profile: n_heads x
 * PROFILE_BUCKETS. A warp per row. */
__global__ void __launch_bounds__(PACK_THREADS)
    add_profiles(const struct score_state *states, const double *buckets, const unsigned char *is_pending, size_t n,
                 size_t stride, unsigned long long *profile)
{
    size_t row = (size_t)blockIdx.x * (PACK_THREADS / WARP_SIZE) + threadIdx.x / WARP_SIZE, head = blockIdx.y;
    size_t state = head * stride + row, lane = threadIdx.x % WARP_SIZE;
    double mass;

    if (row >= n || !is_pending[state] || !(states[state].l > 0))
        return;
    mass = buckets[state * PROFILE_BUCKETS + lane] / states[state].l;
    if (mass > 0)
        atomicAdd(&profile[head * PROFILE_BUCKETS + lane], (unsigned long long)llrint(mass / PROFILE_UNIT));
}

} /* namespace */

#endif
