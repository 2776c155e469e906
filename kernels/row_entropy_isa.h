/* row_entropy_isa.h - the pass over one row of weights, once for each instruction set; row_entropy_cpu() chooses. */
#ifndef KERNELS_ROW_ENTROPY_ISA_H
#define KERNELS_ROW_ENTROPY_ISA_H

#include "kernels/row_finish.h"

/* `weights`: n elements of `type`; `query` counts from the first of them. A `ref` near log2 of the typical weight keeps
 * the terms small, and so exact. */
typedef void row_entropy_pass(const void *weights, size_t n, enum dtype type, int ref, int64_t query,
                              struct row_sums *ret);

row_entropy_pass row_entropy_avx512, row_entropy_avx2, row_entropy_portable;

#endif
