/* row_long.cuh - rows so long that several blocks share each: a part of the row for every block, and between the steps
 * what all parts found, added up in their order by whoever needs it.
 *
 * Steps, a launch each: the largest score; the sums; one block a row that settles it; the search for k90, a launch for
 * each narrowing; one block a row that ends the search and writes. Where a row is cut follows its length alone: which
 * device, how much memory and how many other rows do not show. */
#ifndef KERNELS_ROW_LONG_CUH
#define KERNELS_ROW_LONG_CUH

#include "kernels/row_kernel.cuh"

namespace
{

/* From LONG_COLS columns on a row is cut, into parts of PART_COLS, or LONG_PARTS parts of more. */
enum { LONG_COLS = 65536, PART_COLS = 16384, LONG_PARTS = 64 };

/* What one block found in its part. */
struct long_part {
    double top, is_bad;
    double sums[ROW_SUMS], max_bits, hidden;
    double buckets[PROFILE_BUCKETS];
    double counts[2][6]; /* of the last narrowing and of the one before */
};

struct long_row {
    struct row_result result;
    struct bracket bracket[2]; /* of the last narrowing and of the one before */
};

/* Where a block is. */
template <dtype TYPE, row_kind KIND> struct long_view {
    row_view<TYPE, KIND> v; /* of the part */
    size_t row, index, part;
    struct row_span span;
    const unsigned char *first; /* column 0                */
    size_t offset;              /* of the part, in the row */
    struct long_part *parts;    /* of the row              */
};

/* False for a row that sees nothing. The part is that of number `part`; the last may be short, or empty. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ bool go_to(long_view<TYPE, KIND> *l, const struct row_batch *b, size_t row, size_t part)
{
    constexpr size_t BYTES = element<TYPE>::BYTES;

    l->row = row;
    l->part = part;
    l->index = b->first + row;
    l->span = b->spans[l->index % b->n_spans];
    l->first = b->rows + row * b->n_cols * BYTES;
    l->parts = b->parts + row * b->n_parts;
    if (l->span.lo >= l->span.hi)
        return false;
    l->v.n_row = l->span.hi - l->span.lo;
    l->offset = part * b->part_cols < l->v.n_row ? part * b->part_cols : l->v.n_row;
    l->v.n = l->v.n_row - l->offset < b->part_cols ? l->v.n_row - l->offset : b->part_cols;
    l->v.row = l->first + (l->span.lo + l->offset) * BYTES;
    take_scale<TYPE, KIND>(&l->v, b, l->index);
    return true;
}

/* After the first step: what all parts found of the largest score. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void know_top(long_view<TYPE, KIND> *l, const struct row_batch *b)
{
    if constexpr (KIND == ROWS_SCORES) {
        double top = -INFINITY, is_bad = 0;

        for (size_t p = (size_t)l->v.g.thread; p < b->n_parts; p += (size_t)l->v.g.n_threads) {
            top = l->parts[p].top > top ? l->parts[p].top : top;
            is_bad = l->parts[p].is_bad > is_bad ? l->parts[p].is_bad : is_bad;
        }
        top = group_max(&l->v.g, top);
        take_top<TYPE, KIND>(&l->v, top, group_max(&l->v.g, is_bad));
    }
}

/* Blocks take pairs of row and part, one after the other; a row that sees nothing is passed over. */
#define FOR_EACH_PART(l, b)                                                                                            \
    for (size_t pair = blockIdx.x; pair < (b).n_rows * (b).n_parts; pair += gridDim.x)                                 \
        if (__syncthreads(), go_to<TYPE, KIND>(&(l), &(b), pair / (b).n_parts, pair % (b).n_parts))
#define FOR_EACH_LONG_ROW(l, b)                                                                                        \
    for (size_t row = blockIdx.x; row < (b).n_rows; row += gridDim.x)                                                  \
        if (__syncthreads(), go_to<TYPE, KIND>(&(l), &(b), row, 0))

#define LONG_SHARED                                                                                                    \
    __shared__ double scratch[MAX_WARPS * GROUP_SUMS];                                                                 \
    __shared__ float table[TYPE == DTYPE_U8 ? 256 : 1];                                                                \
    long_view<TYPE, KIND> l = {};                                                                                      \
    l.v = begin_view<TYPE, KIND>(&b, scratch, table)

template <dtype TYPE, row_kind KIND> __global__ void __launch_bounds__(MAX_THREADS, 1) long_tops(struct row_batch b)
{
    LONG_SHARED;

    FOR_EACH_PART(l, b)
    {
        double top, is_bad;

        find_top<TYPE, KIND>(&l.v, &top, &is_bad);
        if (l.v.g.thread == 0) {
            l.parts[l.part].top = top;
            l.parts[l.part].is_bad = is_bad;
        }
    }
}

/* The part's share of `n` hidden elements. */
__device__ __forceinline__ size_t share_of(const struct row_batch *b, size_t part, size_t n, size_t *ret_first)
{
    *ret_first = part * b->part_cols < n ? part * b->part_cols : n;
    return n - *ret_first < b->part_cols ? n - *ret_first : b->part_cols;
}

template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ double part_hidden(const long_view<TYPE, KIND> *l, const struct row_batch *b)
{
    constexpr size_t BYTES = element<TYPE>::BYTES;
    size_t before, after, n_before = share_of(b, l->part, l->span.lo, &before),
                          n_after = share_of(b, l->part, b->n_cols - l->span.hi, &after);

    return hidden_sum<TYPE, KIND>(&l->v, l->first + before * BYTES, n_before, l->first + (l->span.hi + after) * BYTES,
                                  n_after);
}

template <dtype TYPE, row_kind KIND> __global__ void __launch_bounds__(MAX_THREADS, 1) long_sums(struct row_batch b)
{
    __shared__ double buckets[MAX_WARPS][PROFILE_BUCKETS];
    LONG_SHARED;

    FOR_EACH_PART(l, b)
    {
        int lane = l.v.g.thread % WARP_SIZE, warp = l.v.g.thread / WARP_SIZE;
        int64_t query = b.query_col + (int64_t)(l.index % b.n_spans) - l.span.lo - (int64_t)l.offset;
        struct long_part *to = &l.parts[l.part];
        double sums[ROW_SUMS], max_bits, hidden = 0;

        buckets[warp][lane] = 0;
        __syncwarp();
        know_top<TYPE, KIND>(&l, &b);
        add_up<TYPE, KIND>(&l.v, b.has_k90, query, b.profile ? buckets[warp] : NULL, sums, &max_bits);
        if (b.check_mask)
            hidden = part_hidden<TYPE, KIND>(&l, &b);
        __syncthreads();
        if (warp == 0) {
            double mass = 0;

            for (int w = 0; w < l.v.g.n_threads / WARP_SIZE; w++)
                mass += buckets[w][lane];
            to->buckets[lane] = mass;
        }
        if (l.v.g.thread == 0) {
            for (int i = 0; i < ROW_SUMS; i++)
                to->sums[i] = sums[i];
            to->max_bits = max_bits;
            to->hidden = hidden;
        }
    }
}

/* The parts' sums, to every thread. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void add_parts(const long_view<TYPE, KIND> *l, const struct row_batch *b,
                                          double (&sums)[ROW_SUMS + 1], double *ret_max_bits)
{
    double max_bits = 0;

    for (int i = 0; i <= ROW_SUMS; i++)
        sums[i] = 0;
    for (size_t p = (size_t)l->v.g.thread; p < b->n_parts; p += (size_t)l->v.g.n_threads) {
        for (int i = 0; i < ROW_SUMS; i++)
            sums[i] += l->parts[p].sums[i];
        sums[ROW_SUMS] += l->parts[p].hidden;
        max_bits = l->parts[p].max_bits > max_bits ? l->parts[p].max_bits : max_bits;
    }
    group_sums(&l->v.g, sums);
    *ret_max_bits = group_max(&l->v.g, max_bits);
}

/* By the first warp: the profile of the row to that of its head. */
__device__ __forceinline__ void add_parts_profile(unsigned long long *head, const struct long_part *parts,
                                                  size_t n_parts, int lane, double sum)
{
    double mass = 0;

    for (size_t p = 0; p < n_parts; p++)
        mass += parts[p].buckets[lane];
    if (mass > 0)
        atomicAdd(&head[lane], (unsigned long long)llrint(mass / sum / PROFILE_UNIT));
}

template <dtype TYPE, row_kind KIND> __global__ void __launch_bounds__(MAX_THREADS, 1) long_settle(struct row_batch b)
{
    LONG_SHARED;

    FOR_EACH_LONG_ROW(l, b)
    {
        double sums[ROW_SUMS + 1], max_bits;
        struct row_result r;

        know_top<TYPE, KIND>(&l, &b);
        add_parts<TYPE, KIND>(&l, &b, sums, &max_bits);
        r = settle<TYPE, KIND>(&l.v, b.has_k90, sums, max_bits);
        if (!l.v.is_slow && b.profile && l.v.g.thread < WARP_SIZE)
            add_parts_profile(b.profile + l.index / b.n_spans * PROFILE_BUCKETS, l.parts, b.n_parts, l.v.g.thread,
                              r.sum);
        if (l.v.g.thread == 0) {
            struct long_row *state = &b.states[l.row];

            r.leak = b.check_mask ? sums[ROW_SUMS] / (KIND == ROWS_SCORES ? r.sum : 1) : 0;
            take_sinks<TYPE, KIND>(&l.v, b.sink_col - l.span.lo, &r);
            r.is_slow = l.v.is_slow;
            state->result = r;
            if (!l.v.is_slow && b.has_k90)
                state->bracket[0] = k90_bracket<TYPE, KIND>(&l.v, r.sum);
        }
    }
}

/* The bracket of narrowing `round`, to every thread: that of the one before, narrowed by what its parts counted. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ struct bracket bracket_at(const long_view<TYPE, KIND> *l, const struct row_batch *b,
                                                     int round)
{
    const struct long_row *state = &b->states[l->row];
    struct bracket last = state->bracket[round ? (round - 1) % 2 : 0];
    double sums[6] = {0, 0, 0, 0, 0, 0};
    uint64_t rank[3];

    if (round == 0 || !is_open(&last))
        return last;
    for (size_t p = (size_t)l->v.g.thread; p < b->n_parts; p += (size_t)l->v.g.n_threads)
        for (int i = 0; i < 6; i++)
            sums[i] += l->parts[p].counts[(round - 1) % 2][i];
    group_sums(&l->v.g, sums);
    quarters(&last, rank);
    narrow(&last, rank, sums, k90_need(state->result.sum));
    return last;
}

template <dtype TYPE, row_kind KIND>
__global__ void __launch_bounds__(MAX_THREADS, 1) long_narrow(struct row_batch b, int round)
{
    LONG_SHARED;

    FOR_EACH_PART(l, b)
    {
        struct bracket at;
        uint64_t rank[3];
        double sums[6];

        if (b.states[l.row].result.is_slow)
            continue;
        know_top<TYPE, KIND>(&l, &b);
        at = bracket_at<TYPE, KIND>(&l, &b, round);
        if (is_open(&at)) {
            quarters(&at, rank);
            split_sums<TYPE, KIND>(&l.v.g, l.v.row, l.v.n, l.v.table, l.v.of, &at, rank, l.v.filler, sums);
        }
        if (l.v.g.thread == 0) {
            if (l.part == 0 && round > 0)
                b.states[l.row].bracket[round % 2] = at;
            for (int i = 0; i < 6 && is_open(&at); i++)
                l.parts[l.part].counts[round % 2][i] = sums[i];
        }
    }
}

/* `rounds` narrowings were made; what they left open is searched by the row's block alone. */
template <dtype TYPE, row_kind KIND>
__global__ void __launch_bounds__(MAX_THREADS, 1) long_end(struct row_batch b, int rounds)
{
    LONG_SHARED;

    FOR_EACH_LONG_ROW(l, b)
    {
        struct row_result r = b.states[l.row].result;

        if (!r.is_slow && b.has_k90) {
            know_top<TYPE, KIND>(&l, &b);
            r.k90 = count_k90<TYPE, KIND>(&l.v.g, l.v.row, l.v.n_row, l.v.table, l.v.of, k90_need(r.sum),
                                          bracket_at<TYPE, KIND>(&l, &b, rounds), l.v.filler);
        }
        if (l.v.g.thread == 0)
            b.results[l.row] = r;
    }
}

} /* namespace */

#endif
