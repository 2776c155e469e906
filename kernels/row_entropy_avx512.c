/* Compiled for AVX-512 F, BW, DQ and VL; called only where the CPU has them. */
#define LANES_AVX512
#include "kernels/row_entropy_body.h"
