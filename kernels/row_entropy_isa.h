/* row_entropy_isa.h - the pass over one row of weights, once for each instruction set; row_entropy_cpu() chooses. */
#ifndef KERNELS_ROW_ENTROPY_ISA_H
#define KERNELS_ROW_ENTROPY_ISA_H

#include "kernels/dtype.h"

#include <stddef.h>
#include <stdint.h>

/* Sums over the row's weights p as floats. All of it is void when max_bits >= 0x7f800000: the row then holds a
 * negative weight, a -0, an infinity or a NaN. Subnormal floats enter log_sum with a wrong logarithm: they must not
 * matter, which max_bits tells. */
struct row_sums {
    double sum;        /* sum p                                              */
    double log_sum;    /* sum p (log2 p - ref)                               */
    uint32_t max_bits; /* the largest of the weights' bit patterns, unsigned */
};

/* `weights`: n elements of `type`. A `ref` near log2 of the typical weight keeps the terms small, and so exact. */
typedef void row_entropy_pass(const void *weights, size_t n, enum dtype type, int ref, struct row_sums *ret);

row_entropy_pass row_entropy_avx512, row_entropy_avx2, row_entropy_portable;

#endif
