/* row_visit.cuh - a block goes over one row: 128-bit loads, several in flight, whatever the alignment.
 *
 * Up to the first 16-byte boundary and after the last one, warp 0 takes the elements singly; between them each thread
 * takes vectors, the lanes of a warp next to each other. Every lane of a warp takes every step, with a filler where it
 * has no element, so that a step may use the whole warp. */
#ifndef KERNELS_ROW_VISIT_CUH
#define KERNELS_ROW_VISIT_CUH

#include "kernels/dtype.h"
#include "kernels/reduce.cuh"

namespace
{

/* One-byte types are all DTYPE_U8 here, and a table of what their 256 patterns mean. */
template <dtype TYPE> struct element {
    typedef float type;
    enum { BYTES = TYPE == DTYPE_F32 ? 4 : TYPE == DTYPE_U8 ? 1 : 2 };
};
template <> struct element<DTYPE_F64> {
    typedef double type;
    enum { BYTES = 8 };
};

__device__ __forceinline__ float float_of_half(uint32_t bits)
{
    return __half2float(__ushort_as_half((unsigned short)bits));
}

/* Element i of 16 loaded bytes. */
template <dtype TYPE>
__device__ __forceinline__ typename element<TYPE>::type unpack(const uint4 &v, int i, const float *table)
{
    const uint32_t word[4] = {v.x, v.y, v.z, v.w};

    if constexpr (TYPE == DTYPE_F64)
        return __longlong_as_double((long long)((uint64_t)word[2 * i + 1] << 32 | word[2 * i]));
    else if constexpr (TYPE == DTYPE_F32)
        return __uint_as_float(word[i]);
    else if constexpr (TYPE == DTYPE_F16)
        return float_of_half(word[i / 2] >> i % 2 * 16 & 0xffff);
    else if constexpr (TYPE == DTYPE_BF16)
        return __uint_as_float(i % 2 ? word[i / 2] & 0xffff0000U : word[i / 2] << 16);
    else
        return table[word[i / 4] >> i % 4 * 8 & 0xff];
}

template <dtype TYPE>
__device__ __forceinline__ typename element<TYPE>::type load_one(const void *p, size_t i, const float *table)
{
    if constexpr (TYPE == DTYPE_F64)
        return ((const double *)p)[i];
    else if constexpr (TYPE == DTYPE_F32)
        return ((const float *)p)[i];
    else if constexpr (TYPE == DTYPE_F16)
        return float_of_half(((const uint16_t *)p)[i]);
    else if constexpr (TYPE == DTYPE_BF16)
        return __uint_as_float((uint32_t)((const uint16_t *)p)[i] << 16);
    else
        return table[((const unsigned char *)p)[i]];
}

/* The threads of the block; they share a row. */
struct group {
    int thread, n_threads;
    double *scratch; /* shared: GROUP_SUMS for each warp */
};

enum { GROUP_SUMS = 6 };

/* The sum of each of the N values over the group, to every thread; in a fixed tree. */
template <int N> __device__ __forceinline__ void group_sums(const struct group *g, double (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = warp_sum(x[i]);
    if (g->n_threads == WARP_SIZE)
        return;
    __syncthreads();
    if (g->thread % WARP_SIZE == 0)
        for (int i = 0; i < N; i++)
            g->scratch[g->thread / WARP_SIZE * GROUP_SUMS + i] = x[i];
    __syncthreads();
    for (int i = 0; i < N; i++) {
        x[i] = 0;
        for (int w = 0; w < g->n_threads / WARP_SIZE; w++)
            x[i] += g->scratch[w * GROUP_SUMS + i];
    }
}

/* The largest over the group, to every thread. */
__device__ __forceinline__ double group_max(const struct group *g, double x)
{
    for (int step = WARP_SIZE / 2; step > 0; step /= 2) {
        double other = __shfl_xor_sync(FULL_WARP, x, step);

        x = other > x ? other : x;
    }
    if (g->n_threads == WARP_SIZE)
        return x;
    __syncthreads();
    if (g->thread % WARP_SIZE == 0)
        g->scratch[g->thread / WARP_SIZE * GROUP_SUMS] = x;
    __syncthreads();
    x = g->scratch[0];
    for (int w = 1; w < g->n_threads / WARP_SIZE; w++)
        x = g->scratch[w * GROUP_SUMS] > x ? g->scratch[w * GROUP_SUMS] : x;
    return x;
}

/* Calls op.add(x, at, lo, hi) for all of the n elements of `row`: x, the lane's elements from number `at` on, are among
 * those of the warp, [lo, hi); absent ones are `filler`. op.flush() follows every few of them. */
template <dtype TYPE, typename OP>
__device__ __forceinline__ void visit(const struct group *g, const unsigned char *row, size_t n, const float *table,
                                      typename element<TYPE>::type filler, OP *op)
{
    typedef typename element<TYPE>::type real;
    constexpr size_t BYTES = element<TYPE>::BYTES;
    constexpr int PER_VECTOR = 16 / BYTES, LOADS = PER_VECTOR < 4 ? 4 : 16 / PER_VECTOR;
    size_t head = (16 - (uintptr_t)row % 16) % 16 / BYTES, n_vectors, tail, lane = (size_t)g->thread % WARP_SIZE;
    const uint4 *vectors;

    head = head < n ? head : n;
    n_vectors = (n - head) / PER_VECTOR;
    tail = head + n_vectors * PER_VECTOR;
    vectors = (const uint4 *)(row + head * BYTES);
    if (g->thread < WARP_SIZE) {
        real one[1] = {lane < head ? load_one<TYPE>(row, lane, table) : filler};

        if (head > 0)
            op->add(one, lane, 0, head);
        if (tail < n) {
            one[0] = tail + lane < n ? load_one<TYPE>(row, tail + lane, table) : filler;
            op->add(one, tail + lane, tail, n);
        }
        op->flush();
    }
    for (size_t v = (size_t)g->thread - lane; v < n_vectors; v += (size_t)LOADS * g->n_threads) {
        uint4 loaded[LOADS];

#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            size_t at = v + (size_t)k * g->n_threads + lane;

            loaded[k] = at < n_vectors ? vectors[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            size_t first = v + (size_t)k * g->n_threads;
            size_t end = first + WARP_SIZE < n_vectors ? first + WARP_SIZE : n_vectors;
            real x[PER_VECTOR];

            if (first >= n_vectors)
                break;
#pragma unroll
            for (int i = 0; i < PER_VECTOR; i++)
                x[i] = first + lane < n_vectors ? unpack<TYPE>(loaded[k], i, table) : filler;
            op->add(x, head + (first + lane) * PER_VECTOR, head + first * PER_VECTOR, head + end * PER_VECTOR);
        }
        op->flush();
    }
}

} /* namespace */

#endif
