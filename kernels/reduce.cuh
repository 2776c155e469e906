/* reduce.cuh - sums and maxima over the threads of a warp or block in a fixed tree: same input, same bits. */
#ifndef KERNELS_REDUCE_CUH
#define KERNELS_REDUCE_CUH

#include "kernels/cuda_check.cuh"

#include <stdint.h>

enum { WARP_SIZE = 32 };

#define FULL_WARP 0xffffffffU

/* Every lane gets the sum. */
static __device__ __forceinline__ double warp_sum(double x)
{
    for (int step = WARP_SIZE / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(FULL_WARP, x, step);
    return x;
}

static __device__ __forceinline__ uint32_t warp_max(uint32_t x)
{
    for (int step = WARP_SIZE / 2; step > 0; step /= 2) {
        uint32_t other = __shfl_xor_sync(FULL_WARP, x, step);

        x = other > x ? other : x;
    }
    return x;
}

#endif
