/* row_kernel.cuh - the kernel of row_entropy.cu: a block takes one row after the other. */
#ifndef KERNELS_ROW_KERNEL_CUH
#define KERNELS_ROW_KERNEL_CUH

#include "kernels/row_passes.cuh"

namespace
{

enum { MAX_THREADS = 512, MAX_WARPS = MAX_THREADS / WARP_SIZE };

/* One row as the device saw it, in stored units; from scores, relative to the largest weight. */
struct row_result {
    double sum, log_sum, square_sum, distance, sink, sink4, leak;
    uint32_t max_bits, k90;
    uint32_t is_slow, unused;
};

struct row_batch {
    const unsigned char *rows;    /* n_rows x n_cols: a part of the tensor, whose first row is row `first` of all */
    const struct row_span *spans; /* [n_spans]: row r has span r mod n_spans                                    */
    const double *scales;         /* one for each row of the tensor, or NULL                                    */
    const float *table;           /* of one-byte types: [256]                                                   */
    size_t n_spans, first, n_rows, n_cols;
    int64_t query_col, sink_col;
    double masked; /* the largest score that counts as masked */
    bool check_mask, has_k90;
    unsigned long long *profile; /* n_heads x PROFILE_BUCKETS, or NULL */
    struct row_result *results;  /* [n_rows] */
    struct long_part *parts;     /* of rows that several blocks share: [n_rows][n_parts], else NULL */
    struct long_row *states;     /* [n_rows] */
    size_t n_parts, part_cols;
};

/* What the threads of a row know of it. */
template <dtype TYPE, row_kind KIND> struct row_view {
    struct group g;
    const unsigned char *row; /* its first visible element */
    const float *table;
    size_t n; /* elements here, and in the whole row */
    size_t n_row;
    weigher<TYPE, KIND> of;
    double factor;
    int shift; /* of the stored weights: they sum to some 2^shift */
    bool is_slow;
    typename element<TYPE>::type filler;
};

/* What is known before the first element. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void take_scale(row_view<TYPE, KIND> *v, const struct row_batch *b, size_t index)
{
    typedef typename element<TYPE>::type real;
    double scale = b->scales ? b->scales[index] : 1;

    v->is_slow = !(scale > 0x1p-100 && scale < 0x1p100);
    v->shift = v->is_slow ? 0 : -ilogb(scale);
    v->of.masked = (real)b->masked;
    v->of.top = 0;
    v->factor = scale * 0x1.71547652b82fep0; /* log2 e */
    v->of.factor = (float)v->factor;
    v->filler = KIND == ROWS_SCORES ? -(real)INFINITY : 0;
}

/* The largest score is known: to every thread. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void take_top(row_view<TYPE, KIND> *v, double top, double is_bad)
{
    v->of.top = (typename element<TYPE>::type)top;
    v->is_slow |= is_bad > 0 || !(v->of.top > v->of.masked);
}

/* Of scores: the largest, and above 0 where one is NaN or +inf. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void find_top(const row_view<TYPE, KIND> *v, double *ret_top, double *ret_bad)
{
    max_pass<TYPE> pass = {-(typename element<TYPE>::type)INFINITY, 0};

    visit<TYPE>(&v->g, v->row, v->n, v->table, v->filler, &pass);
    *ret_top = group_max(&v->g, (double)pass.max);
    *ret_bad = group_max(&v->g, pass.is_bad);
}

enum { ROW_SUMS = 5 };

/* Sums of what the block visits, and the largest bit pattern. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void add_up(const row_view<TYPE, KIND> *v, bool has_k90, int64_t query, double *buckets,
                                       double sums[ROW_SUMS], double *ret_max_bits)
{
    int lane = v->g.thread % WARP_SIZE;
    sum_pass<TYPE, KIND> pass = {};
    double all[ROW_SUMS];

    pass.of = v->of;
    pass.profile.buckets = buckets;
    pass.profile.current = -1;
    pass.query = query;
    pass.ref = __clzll((long long)v->n_row) - 63 + v->shift;
    pass.lane = lane;
    pass.is_exact = has_k90;
    visit<TYPE>(&v->g, v->row, v->n, v->table, v->filler, &pass);
    if (buckets)
        pass.profile.flush(lane);
    for (int i = 0; i < 4; i++)
        all[i] = pass.total[i];
    all[4] = pass.exact;
    group_sums(&v->g, all);
    for (int i = 0; i < ROW_SUMS; i++)
        sums[i] = all[i];
    *ret_max_bits = group_max(&v->g, (double)pass.max_bits);
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ struct row_result settle(row_view<TYPE, KIND> *v, bool has_k90, const double sums[ROW_SUMS],
                                                    double max_bits)
{
    struct row_result r = {};

    r.sum = has_k90 ? sums[4] : sums[0];
    r.log_sum = sums[1];
    r.square_sum = sums[2];
    r.distance = sums[3];
    r.max_bits = (uint32_t)max_bits;
    if (KIND == ROWS_WEIGHTS) {
        float max = __uint_as_float(r.max_bits);
        int off = r.sum > 0 && r.sum < 0x1p100 ? ilogb(r.sum) - v->shift : 99;

        v->is_slow |= r.max_bits >= 0x7f800000U || !(max >= 0x1p-60F && max <= 0x1p60F) || off > 4 || off < -4;
    }
    return r;
}

__device__ __forceinline__ double k90_need(double sum)
{
    return 0.9 * sum - 0x1p-40 * sum;
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ struct bracket k90_bracket(const row_view<TYPE, KIND> *v, double sum)
{
    typedef typename element<TYPE>::type real;
    double least = 0.09 * sum / (double)v->n_row; /* all below this hold under 9 % */

    if (KIND == ROWS_SCORES)
        return bracket_of<TYPE>((real)((double)v->of.top + log2(least) / (double)v->of.factor), v->of.top, v->n_row);
    return bracket_of<TYPE>((real)least, (real)0x1p61, v->n_row);
}

/* The sum over what is hidden: `before` elements from `row` on, `after` from `behind` on. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ double hidden_sum(const row_view<TYPE, KIND> *v, const unsigned char *row, size_t before,
                                             const unsigned char *behind, size_t after)
{
    leak_pass<TYPE, KIND> pass = {v->of.top, v->of.masked, v->factor, 0};
    double sums[1];

    visit<TYPE>(&v->g, row, before, v->table, v->filler, &pass);
    visit<TYPE>(&v->g, behind, after, v->table, v->filler, &pass);
    sums[0] = pass.sum;
    group_sums(&v->g, sums);
    return sums[0];
}

/* By one thread: what stands on the first keys; v->row is the row's first visible element. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void take_sinks(const row_view<TYPE, KIND> *v, int64_t sink, struct row_result *r)
{
    for (int64_t j = sink; j < sink + 4; j++)
        if (j >= 0 && j < (int64_t)v->n_row)
            r->sink4 += v->of.weight(load_one<TYPE>(v->row, (size_t)j, v->table));
    if (sink >= 0 && sink < (int64_t)v->n_row)
        r->sink = v->of.weight(load_one<TYPE>(v->row, (size_t)sink, v->table));
}

/* Called by the first warp: adds the row's profile to its head's. */
__device__ __forceinline__ void add_profile(unsigned long long *head, const double *buckets, int n_warps, int lane,
                                            double sum)
{
    double mass = 0;

    for (int w = 0; w < n_warps; w++)
        mass += buckets[w * PROFILE_BUCKETS + lane];
    if (mass > 0)
        atomicAdd(&head[lane], (unsigned long long)llrint(mass / sum / PROFILE_UNIT));
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void take_row(const struct row_batch *b, size_t row, row_view<TYPE, KIND> *v,
                                         double *buckets)
{
    constexpr size_t BYTES = element<TYPE>::BYTES;
    size_t index = b->first + row, at = index % b->n_spans;
    const unsigned char *first = b->rows + row * b->n_cols * BYTES;
    struct row_span span = b->spans[at];
    double *own = buckets + v->g.thread / WARP_SIZE * PROFILE_BUCKETS, sums[ROW_SUMS], max_bits;
    struct row_result r;

    if (span.lo >= span.hi)
        return;
    v->row = first + span.lo * BYTES;
    v->n = v->n_row = span.hi - span.lo;
    own[v->g.thread % WARP_SIZE] = 0;
    __syncwarp();
    take_scale<TYPE, KIND>(v, b, index);
    if (KIND == ROWS_SCORES) {
        double top, is_bad;

        find_top<TYPE, KIND>(v, &top, &is_bad);
        take_top<TYPE, KIND>(v, top, is_bad);
    }
    add_up<TYPE, KIND>(v, b->has_k90, b->query_col + (int64_t)at - span.lo, b->profile ? own : NULL, sums, &max_bits);
    r = settle<TYPE, KIND>(v, b->has_k90, sums, max_bits);
    if (!v->is_slow && b->has_k90)
        r.k90 = count_k90<TYPE, KIND>(&v->g, v->row, v->n, v->table, v->of, k90_need(r.sum),
                                      k90_bracket<TYPE, KIND>(v, r.sum), v->filler);
    if (!v->is_slow && b->check_mask)
        r.leak = hidden_sum<TYPE, KIND>(v, first, span.lo, first + span.hi * BYTES, b->n_cols - span.hi) /
                 (KIND == ROWS_SCORES ? r.sum : 1);
    __syncthreads();
    if (!v->is_slow && b->profile && v->g.thread < WARP_SIZE)
        add_profile(b->profile + index / b->n_spans * PROFILE_BUCKETS, buckets, v->g.n_threads / WARP_SIZE, v->g.thread,
                    r.sum);
    if (v->g.thread != 0)
        return;
    take_sinks<TYPE, KIND>(v, b->sink_col - span.lo, &r);
    r.is_slow = v->is_slow;
    b->results[row] = r;
}

/* What a block shares. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ row_view<TYPE, KIND> begin_view(const struct row_batch *b, double *scratch, float *table)
{
    row_view<TYPE, KIND> v = {};

    v.g.thread = (int)threadIdx.x;
    v.g.n_threads = (int)blockDim.x;
    v.g.scratch = scratch;
    v.table = table;
    if (TYPE == DTYPE_U8)
        for (int i = (int)threadIdx.x; i < 256; i += (int)blockDim.x)
            table[i] = b->table[i];
    return v;
}

/* Rows blockIdx.x, blockIdx.x + gridDim.x ... */
template <dtype TYPE, row_kind KIND> __global__ void __launch_bounds__(MAX_THREADS) measure_rows(struct row_batch b)
{
    __shared__ double buckets[MAX_WARPS][PROFILE_BUCKETS];
    __shared__ double scratch[MAX_WARPS * GROUP_SUMS];
    __shared__ float table[TYPE == DTYPE_U8 ? 256 : 1];
    row_view<TYPE, KIND> v = begin_view<TYPE, KIND>(&b, scratch, table);

    for (size_t row = blockIdx.x; row < b.n_rows; row += gridDim.x) {
        __syncthreads();
        take_row<TYPE, KIND>(&b, row, &v, buckets[0]);
    }
}

} /* namespace */

#endif
