/* Compiled for AVX2, FMA and F16C; called only where the CPU has them. */
#define LANES_AVX2
#include "kernels/row_entropy_body.h"
