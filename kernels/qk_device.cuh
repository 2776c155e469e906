/* qk_device.cuh - queries and keys on the device: surveyed, and packed for the score products.
 *
 * As floats: keys less the mean key, queries times their factor. As halves, for 16-bit and 8-bit types: the query as it
 * is, twice; the key less the mean as the sum of two halves, the nearest and what is left of it (22 bits together), one
 * after the other. Both times a power of two that brings the longest vector near 2^14. Tensor cores then see exact
 * products, and a logit offset of 1e4 is gone before anything is rounded. */
#ifndef KERNELS_QK_DEVICE_CUH
#define KERNELS_QK_DEVICE_CUH

#include "kernels/dtype.h"
#include "kernels/gemm.h"
#include "kernels/reduce.cuh"

#include <math.h>

namespace
{

enum { PACK_THREADS = 256, SLICE_KEYS = 1024 };

/* Vectors of n_heads heads: head h begins at vector h * head_vectors. */
struct vectors {
    const void *data;
    enum dtype type;
    size_t n_heads, head_vectors, dim;
};

__device__ __forceinline__ float float_of_e4m3(uint32_t bits)
{
    uint32_t half = (bits & 0x80) << 8 | (bits & 0x7f) << 7; /* the same digits at an exponent 8 lower */

    return (bits & 0x7f) == 0x7f ? NAN : 256 * __half2float(__ushort_as_half((unsigned short)half));
}

__device__ __forceinline__ double vector_element(const struct vectors *v, size_t vector, size_t d)
{
    size_t i = vector * v->dim + d;

    switch (v->type) {
    case DTYPE_F64:
        return ((const double *)v->data)[i];
    case DTYPE_F32:
        return (double)((const float *)v->data)[i];
    case DTYPE_F16:
        return (double)__half2float(__ushort_as_half(((const unsigned short *)v->data)[i]));
    case DTYPE_BF16:
        return (double)__uint_as_float((uint32_t)((const unsigned short *)v->data)[i] << 16);
    case DTYPE_U8:
        return (double)((const unsigned char *)v->data)[i];
    case DTYPE_I8:
        return (double)((const signed char *)v->data)[i];
    case DTYPE_F8_E4M3:
        return (double)float_of_e4m3(((const unsigned char *)v->data)[i]);
    case DTYPE_F8_E5M2:
    default:
        return (double)__half2float(__ushort_as_half((unsigned short)(((const unsigned char *)v->data)[i] << 8)));
    }
}

/* norms: n_heads x norm_stride, from `at` on: Euclidean norms of n vectors of each head; NaN where an element is not
 * finite. shifts, where not NULL: q . mean of the head's key head, `group` of them to one. A warp per vector. */
__global__ void __launch_bounds__(PACK_THREADS)
    survey_vectors(struct vectors v, size_t n, double *norms, size_t norm_stride, size_t at, const double *mean,
                   size_t group, double *shifts)
{
    size_t vector = (size_t)blockIdx.x * (PACK_THREADS / WARP_SIZE) + threadIdx.x / WARP_SIZE, head = blockIdx.y;
    size_t lane = threadIdx.x % WARP_SIZE;
    double squares = 0, zero = 0, dot = 0;

    if (vector >= n)
        return;
    for (size_t d = lane; d < v.dim; d += WARP_SIZE) {
        double x = vector_element(&v, head * v.head_vectors + vector, d);

        squares += x * x;
        zero += x * 0; /* NaN from then on where x is not finite */
        if (shifts)
            dot += x * mean[head / group * v.dim + d];
    }
    squares = warp_sum(squares) + warp_sum(zero);
    dot = warp_sum(dot);
    if (lane == 0) {
        norms[head * norm_stride + at + vector] = sqrt(squares);
        if (shifts)
            shifts[head * norm_stride + at + vector] = dot;
    }
}

/* sums: n_heads x n_slices x dim: of the good keys of each slice of SLICE_KEYS. norms: as above. */
__global__ void __launch_bounds__(PACK_THREADS) sum_keys(struct vectors v, size_t n, const double *norms,
                                                         size_t norm_stride, size_t at, double *sums, size_t n_slices)
{
    size_t head = blockIdx.y, first = (size_t)blockIdx.x * SLICE_KEYS;
    size_t last = first + SLICE_KEYS < n ? first + SLICE_KEYS : n;

    for (size_t d = threadIdx.x; d < v.dim; d += PACK_THREADS) {
        double sum = 0;

#pragma unroll 1 /* unrolled, the types would not fit the registers */
        for (size_t j = first; j < last; j++)
            if (!isnan(norms[head * norm_stride + at + j]))
                sum += vector_element(&v, head * v.head_vectors + j, d);
        sums[(head * n_slices + at / SLICE_KEYS + blockIdx.x) * v.dim + d] = sum;
    }
}

/* mean: n_heads x dim. n_good: [n_heads]. */
__global__ void __launch_bounds__(PACK_THREADS)
    mean_keys(const double *sums, size_t n_slices, size_t dim, const double *n_good, double *mean)
{
    size_t head = blockIdx.x;

    for (size_t d = threadIdx.x; d < dim; d += PACK_THREADS) {
        double sum = 0;

        for (size_t s = 0; s < n_slices; s++)
            sum += sums[(head * n_slices + s) * dim + d];
        mean[head * dim + d] = n_good[head] > 0 ? sum / n_good[head] : 0;
    }
}

/* What becomes of n vectors of each head. */
struct packing {
    void *to; /* n_heads x to_vectors x depth */
    size_t n, to_vectors, depth;
    enum gemm_type type;
    const double *mean;  /* n_heads x dim, taken off; NULL: keys that are queries      */
    const double *norms; /* n_heads x norm_stride, from `at` on: NaN becomes zeros      */
    size_t norm_stride, at;
    double factor;
};

/* A thread per element of a packed vector. */
__global__ void __launch_bounds__(PACK_THREADS) pack_vectors(struct vectors v, struct packing p)
{
    size_t half = p.type == GEMM_F16 ? p.depth / 2 : p.depth;
    size_t i = (size_t)blockIdx.x * PACK_THREADS + threadIdx.x, head = blockIdx.y, vector = i / half, d = i % half;
    size_t to = (head * p.to_vectors + vector) * p.depth + d;
    double x = 0;

    if (vector >= p.n)
        return;
    if (d < v.dim && !isnan(p.norms[head * p.norm_stride + p.at + vector])) {
        x = vector_element(&v, head * v.head_vectors + vector, d);
        x = (x - (p.mean ? p.mean[head * v.dim + d] : 0)) * p.factor;
    }
    if (p.type == GEMM_F16) {
        __half first = __float2half_rn((float)x);
        __half second = p.mean ? __float2half_rn((float)(x - (double)__half2float(first))) : first;

        ((unsigned short *)p.to)[to] = __half_as_ushort(first);
        ((unsigned short *)p.to)[to + half] = __half_as_ushort(second);
    } else {
        ((float *)p.to)[to] = (float)x;
    }
}

} /* namespace */

#endif
