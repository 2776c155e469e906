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
};

/* What the threads of a row know of it. */
template <dtype TYPE, row_kind KIND> struct row_view {
    struct group g;
    const unsigned char *row; /* its first visible element */
    const float *table;
    size_t n;
    weigher<TYPE, KIND> of;
    double factor;
    int shift; /* of the stored weights: they sum to some 2^shift */
    bool is_slow;
    typename element<TYPE>::type filler;
};

/* Finds the scale and, of scores, the largest. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void look(row_view<TYPE, KIND> *v, const struct row_batch *b, size_t index)
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
    if (KIND == ROWS_SCORES) {
        max_pass<TYPE> pass = {-(real)INFINITY, 0};

        visit<TYPE>(&v->g, v->row, v->n, v->table, v->filler, &pass);
        v->of.top = (real)group_max(&v->g, (double)pass.max);
        v->is_slow |= group_max(&v->g, pass.is_bad) > 0 || !(v->of.top > v->of.masked);
    }
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ struct row_result sum_up(row_view<TYPE, KIND> *v, const struct row_batch *b, int64_t query,
                                                    double *buckets)
{
    int lane = v->g.thread % WARP_SIZE;
    sum_pass<TYPE, KIND> pass = {};
    struct row_result r = {};
    double sums[5];

    pass.of = v->of;
    pass.profile.buckets = buckets;
    pass.profile.current = -1;
    pass.query = query;
    pass.ref = __clzll((long long)v->n) - 63 + v->shift;
    pass.lane = lane;
    pass.is_exact = b->has_k90;
    visit<TYPE>(&v->g, v->row, v->n, v->table, v->filler, &pass);
    if (buckets)
        pass.profile.flush(lane);
    for (int i = 0; i < 4; i++)
        sums[i] = pass.total[i];
    sums[4] = pass.exact;
    group_sums(&v->g, sums);
    r.sum = b->has_k90 ? sums[4] : sums[0];
    r.log_sum = sums[1];
    r.square_sum = sums[2];
    r.distance = sums[3];
    r.max_bits = (uint32_t)group_max(&v->g, (double)pass.max_bits);
    if (KIND == ROWS_WEIGHTS) {
        float max = __uint_as_float(r.max_bits);
        int off = r.sum > 0 && r.sum < 0x1p100 ? ilogb(r.sum) - v->shift : 99;

        v->is_slow |= r.max_bits >= 0x7f800000U || !(max >= 0x1p-60F && max <= 0x1p60F) || off > 4 || off < -4;
    }
    return r;
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ uint32_t k90_of(const row_view<TYPE, KIND> *v, double sum)
{
    typedef typename element<TYPE>::type real;
    double need = 0.9 * sum - 0x1p-40 * sum, least = 0.09 * sum / (double)v->n; /* all below this hold under 9 % */

    if (KIND == ROWS_SCORES)
        return count_k90<TYPE, KIND>(&v->g, v->row, v->n, v->table, v->of, need,
                                     (real)((double)v->of.top + log2(least) / (double)v->of.factor), v->of.top,
                                     v->filler);
    return count_k90<TYPE, KIND>(&v->g, v->row, v->n, v->table, v->of, need, (real)least, (real)0x1p61, v->filler);
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ double leak_of(const row_view<TYPE, KIND> *v, const unsigned char *row, struct row_span span,
                                          size_t n_cols, double sum)
{
    leak_pass<TYPE, KIND> pass = {v->of.top, v->of.masked, v->factor, 0};
    double sums[1];

    visit<TYPE>(&v->g, row, span.lo, v->table, v->filler, &pass);
    visit<TYPE>(&v->g, row + span.hi * (size_t)element<TYPE>::BYTES, n_cols - span.hi, v->table, v->filler, &pass);
    sums[0] = pass.sum;
    group_sums(&v->g, sums);
    return KIND == ROWS_SCORES ? sums[0] / sum : sums[0];
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
    size_t index = b->first + row, at = index % b->n_spans;
    const unsigned char *first = b->rows + row * b->n_cols * element<TYPE>::BYTES;
    struct row_span span = b->spans[at];
    double *own = buckets + v->g.thread / WARP_SIZE * PROFILE_BUCKETS;
    int64_t sink = b->sink_col - span.lo;
    struct row_result r;

    if (span.lo >= span.hi)
        return;
    v->row = first + span.lo * (size_t)element<TYPE>::BYTES;
    v->n = span.hi - span.lo;
    own[v->g.thread % WARP_SIZE] = 0;
    __syncwarp();
    look<TYPE, KIND>(v, b, index);
    r = sum_up<TYPE, KIND>(v, b, b->query_col + (int64_t)at - span.lo, b->profile ? own : NULL);
    if (!v->is_slow && b->has_k90)
        r.k90 = k90_of<TYPE, KIND>(v, r.sum);
    if (!v->is_slow && b->check_mask)
        r.leak = leak_of<TYPE, KIND>(v, first, span, b->n_cols, r.sum);
    __syncthreads();
    if (!v->is_slow && b->profile && v->g.thread < WARP_SIZE)
        add_profile(b->profile + index / b->n_spans * PROFILE_BUCKETS, buckets, v->g.n_threads / WARP_SIZE, v->g.thread,
                    r.sum);
    if (v->g.thread != 0)
        return;
    for (int64_t j = sink; j < sink + 4; j++)
        if (j >= 0 && j < (int64_t)v->n)
            r.sink4 += v->of.weight(load_one<TYPE>(v->row, (size_t)j, v->table));
    if (sink >= 0 && sink < (int64_t)v->n)
        r.sink = v->of.weight(load_one<TYPE>(v->row, (size_t)sink, v->table));
    r.is_slow = v->is_slow;
    b->results[row] = r;
}

/* Rows blockIdx.x, blockIdx.x + gridDim.x ... */
template <dtype TYPE, row_kind KIND> __global__ void __launch_bounds__(MAX_THREADS) measure_rows(struct row_batch b)
{
    __shared__ double buckets[MAX_WARPS][PROFILE_BUCKETS];
    __shared__ double scratch[MAX_WARPS * GROUP_SUMS];
    __shared__ float table[TYPE == DTYPE_U8 ? 256 : 1];
    row_view<TYPE, KIND> v = {};

    v.g.thread = (int)threadIdx.x;
    v.g.n_threads = (int)blockDim.x;
    v.g.scratch = scratch;
    v.table = table;
    if (TYPE == DTYPE_U8)
        for (int i = (int)threadIdx.x; i < 256; i += (int)blockDim.x)
            table[i] = b.table[i];
    for (size_t row = blockIdx.x; row < b.n_rows; row += gridDim.x) {
        __syncthreads();
        take_row<TYPE, KIND>(&b, row, &v, buckets[0]);
    }
}

} /* namespace */

#endif
