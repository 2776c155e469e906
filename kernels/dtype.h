/* dtype.h - element types of tensors as they lie in files and in device memory. */
#ifndef KERNELS_DTYPE_H
#define KERNELS_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_U8,
    DTYPE_I8,
    DTYPE_F8_E4M3, /* the "fn" form: no infinities, NaN is 0x7f and 0xff, the largest 448 */
    DTYPE_F8_E5M2, /* the upper byte of a float16                                         */
    N_DTYPES
};

size_t dtype_bytes(enum dtype type);
const char *dtype_name(enum dtype type); /* "float32", "bfloat16", "uint8", "float8_e4m3fn" ... */

/* Exact conversions; NaN stays NaN, its payload is kept. */
float float_from_f16(uint16_t bits);
float float_from_bf16(uint16_t bits);
float float_from_e4m3(uint8_t bits);

/* Element i of an array of `type`, in any alignment; exact. */
double dtype_load(const void *elements, enum dtype type, size_t i);

#ifdef __cplusplus
}
#endif
#endif
