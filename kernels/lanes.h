/* lanes.h - sixteen virtual float lanes, whatever the machine has: the algorithm of a kernel is written once on them.
 *
 * A file that is compiled for AVX-512 or AVX2 defines LANES_AVX512 or LANES_AVX2 before it includes this. Every
 * operation rounds once and alike in all three, so a kernel gives the same bits on all of them. LANES_NAME(x) is
 * x_avx512, x_avx2 or x_portable; LANES_FEW_REGISTERS where these hold few lanes; LANES_MICRO_ROWS x (16 *
 * LANES_MICRO_VECS) is the block of scores that fits the registers. */
#ifndef KERNELS_LANES_H
#define KERNELS_LANES_H

#if defined(LANES_AVX512)
#include "kernels/lanes_avx512.h"
#elif defined(LANES_AVX2)
#include "kernels/lanes_avx2.h"
#else
#include "kernels/lanes_portable.h"
#endif

/* Registers want everything unrolled and in one function; arrays only cost the compiler time by it. */
#if !defined(LANES_AVX512) && !defined(LANES_AVX2)
#define LANES_UNROLL
#define LANES_INLINE static inline
#elif defined(__clang__)
#define LANES_UNROLL _Pragma("unroll")
#define LANES_INLINE static inline __attribute__((always_inline))
#else
#define LANES_UNROLL _Pragma("GCC unroll 16")
#define LANES_INLINE static inline __attribute__((always_inline))
#endif

/* The sum of eight double lanes in a fixed tree. */
static inline double v8d_sum(struct v8d a)
{
    double d[8];

    v8d_store(d, a);
    return ((d[0] + d[4]) + (d[2] + d[6])) + ((d[1] + d[5]) + (d[3] + d[7]));
}

#endif
