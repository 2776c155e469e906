/* exp2_lanes.h - 2^x on virtual lanes. */
#ifndef KERNELS_EXP2_LANES_H
#define KERNELS_EXP2_LANES_H

#include "kernels/lanes.h"

/* 2^x for x in (-126, 126), relative error 2e-9 before rounding: x = whole + part with |part| <= 1/2, a polynomial
 * that is exactly 1 at 0 (Lawson's iteration in float64), and the whole part added to the exponent. */
LANES_INLINE struct v16f exp2_lanes(struct v16f x)
{
    struct v16f magic = v16f_set(0x1.8p23F); /* adding it rounds to whole numbers, which then stand in the low bits */
    struct v16f shifted = v16f_add(x, magic);
    struct v16f part = v16f_sub(x, v16f_sub(shifted, magic));
    struct v16f poly = v16f_fma(part, v16f_set(0x1.41fbbcp-13F), v16f_set(0x1.5f3e54p-10F));

    poly = v16f_fma(part, poly, v16f_set(0x1.3b2d4cp-7F));
    poly = v16f_fma(part, poly, v16f_set(0x1.c6aee8p-5F));
    poly = v16f_fma(part, poly, v16f_set(0x1.ebfbdcp-3F));
    poly = v16f_fma(part, poly, v16f_set(0x1.62e43p-1F));
    poly = v16f_fma(part, poly, v16f_set(1));
    return v16i_as_float(v16i_add(v16f_bits(poly), v16i_shl23(v16f_bits(shifted))));
}

#endif
