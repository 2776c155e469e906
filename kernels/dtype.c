#include "kernels/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} table[N_DTYPES] = {
    [DTYPE_F32] = {"float32", 4},
    [DTYPE_F16] = {"float16", 2},
    [DTYPE_BF16] = {"bfloat16", 2},
    [DTYPE_F64] = {"float64", 8},
    [DTYPE_U8] = {"uint8", 1},
    [DTYPE_I8] = {"int8", 1},
    [DTYPE_F8_E4M3] = {"float8_e4m3fn", 1},
    [DTYPE_F8_E5M2] = {"float8_e5m2", 1},
};

size_t dtype_bytes(enum dtype type)
{
    return table[type].bytes;
}

const char *dtype_name(enum dtype type)
{
    return table[type].name;
}

float float_from_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exact. A subnormal half is its mantissa in units of 2^-24. */
float float_from_f16(uint16_t x)
{
    uint32_t exponent = x >> 10 & 31;
    uint32_t mantissa = x & 1023;
    uint32_t bits = exponent == 31 ? 0x7f800000U | mantissa << 13 : (exponent + 112) << 23 | mantissa << 13;
    float value;

    if (exponent == 0) {
        value = (float)mantissa * 0x1p-24F;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= (uint32_t)(x >> 15) << 31;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As a half the same bits stand for 2^-8 of the value, subnormal ones too: the exponent's bias is 7 here, 15 there. */
float float_from_e4m3(uint8_t x)
{
    uint16_t half = (uint16_t)((x & 0x80) << 8 | (x & 0x7f) << 7);

    return float_from_f16((x & 0x7f) == 0x7f ? (uint16_t)(half | 0x7c00) : half) * 256;
}

double dtype_load(const void *elements, enum dtype type, size_t i)
{
    const char *p = (const char *)elements + i * dtype_bytes(type);
    uint16_t half;
    float single;
    double value;

    switch (type) {
    case DTYPE_F64:
        memcpy(&value, p, sizeof value);
        return value;
    case DTYPE_F32:
        memcpy(&single, p, sizeof single);
        return (double)single;
    case DTYPE_F16:
        memcpy(&half, p, sizeof half);
        return (double)float_from_f16(half);
    case DTYPE_U8:
        return (double)(unsigned char)*p;
    case DTYPE_I8:
        return (double)(signed char)*p;
    case DTYPE_F8_E4M3:
        return (double)float_from_e4m3((uint8_t)*p);
    case DTYPE_F8_E5M2:
        return (double)float_from_f16((uint16_t)((uint8_t)*p << 8));
    case DTYPE_BF16:
    default:
        memcpy(&half, p, sizeof half);
        return (double)float_from_bf16(half);
    }
}
