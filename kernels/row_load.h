/* row_load.h - elements of any type as virtual lanes, times row_unit(type). */
#ifndef KERNELS_ROW_LOAD_H
#define KERNELS_ROW_LOAD_H

#include "kernels/dtype.h"
#include "kernels/lanes.h"

#include <string.h>

enum { VECTOR = 16 };

LANES_INLINE struct v16f load_weights(const char *p, enum dtype type)
{
    switch (type) {
    case DTYPE_F16:
        return v16f_load_f16(p);
    case DTYPE_BF16:
        return v16f_load_bf16(p);
    case DTYPE_F64:
        return v16f_load_f64(p);
    case DTYPE_U8:
        return v16f_mul(v16f_load_u8(p), v16f_set(0x1p-8F));
    case DTYPE_I8:
        return v16f_mul(v16f_load_i8(p), v16f_set(0x1p-7F));
    case DTYPE_F8_E4M3:
        return v16f_mul(v16f_load_e4m3(p), v16f_set(0x1p-1F));
    case DTYPE_F8_E5M2:
        return v16f_mul(v16f_load_e5m2(p), v16f_set(0x1p-16F));
    case DTYPE_F32:
    default:
        return v16f_load_f32(p);
    }
}

LANES_INLINE size_t bytes_of(enum dtype type)
{
    return type == DTYPE_F64 ? 8 : type == DTYPE_F32 ? 4 : type == DTYPE_F16 || type == DTYPE_BF16 ? 2 : 1;
}

/* Lanes [from, to) of the vector of elements from `index` on; the others are 0 and not read. */
LANES_INLINE struct v16f load_part(const char *elements, int64_t index, enum dtype type, int from, int to)
{
    const char *p = elements + index * (int64_t)bytes_of(type);
    double part[VECTOR] = {0}; /* room for sixteen of the widest type */

    if (from >= to)
        return v16f_set(0);
#ifdef LANES_AVX512
    if (type == DTYPE_F32)
        return v16f_part_f32(p, from, to);
    if (type == DTYPE_F16)
        return v16f_part_f16(p, from, to);
    if (type == DTYPE_BF16)
        return v16f_part_bf16(p, from, to);
#endif
    memcpy((char *)part + (size_t)from * bytes_of(type), p + from * (int64_t)bytes_of(type),
           (size_t)(to - from) * bytes_of(type));
    return load_weights((const char *)part, type);
}

/* The elements from i to n - 1, fewer than a vector, and the first of them again in the lanes after them. */
LANES_INLINE struct v16f load_rest(const char *elements, size_t i, size_t n, enum dtype type)
{
    const char *p = elements + i * bytes_of(type);
    double rest[VECTOR] = {0}; /* room for sixteen of the widest type */

    for (size_t lane = 0; lane < VECTOR; lane++)
        memcpy((char *)rest + lane * bytes_of(type), p + (lane < n - i ? lane * bytes_of(type) : 0), bytes_of(type));
    return load_weights((const char *)rest, type);
}

/* Of a float that stands for a NaN in an 8-bit type, as load_weights() gives it; else of infinity. */
LANES_INLINE uint32_t special_bits(enum dtype type)
{
    return type == DTYPE_F8_E4M3 ? 0x3f700000 : 0x7f800000; /* 480 * 2^-9 */
}

/* Calls body(…, TYPE, …) with the type as a constant, so that each has its own code. */
#define BY_TYPE(type, CALL)                                                                                            \
    switch (type) {                                                                                                    \
    case DTYPE_F16:                                                                                                    \
        CALL(DTYPE_F16);                                                                                               \
        break;                                                                                                         \
    case DTYPE_BF16:                                                                                                   \
        CALL(DTYPE_BF16);                                                                                              \
        break;                                                                                                         \
    case DTYPE_F64:                                                                                                    \
        CALL(DTYPE_F64);                                                                                               \
        break;                                                                                                         \
    case DTYPE_U8:                                                                                                     \
        CALL(DTYPE_U8);                                                                                                \
        break;                                                                                                         \
    case DTYPE_I8:                                                                                                     \
        CALL(DTYPE_I8);                                                                                                \
        break;                                                                                                         \
    case DTYPE_F8_E4M3:                                                                                                \
        CALL(DTYPE_F8_E4M3);                                                                                           \
        break;                                                                                                         \
    case DTYPE_F8_E5M2:                                                                                                \
        CALL(DTYPE_F8_E5M2);                                                                                           \
        break;                                                                                                         \
    case DTYPE_F32:                                                                                                    \
    default:                                                                                                           \
        CALL(DTYPE_F32);                                                                                               \
        break;                                                                                                         \
    }

#endif
