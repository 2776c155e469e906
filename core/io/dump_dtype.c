#include "core/io/dump_dtype.h"

#include <string.h>

bool dump_dtype_named(const char *word, enum dtype *ret)
{
    static const struct {
        const char *word;
        enum dtype dtype;
    } words[] = {
        {"fp32", DTYPE_F32},
        {"f32", DTYPE_F32},
        {"fp16", DTYPE_F16},
        {"f16", DTYPE_F16},
        {"half", DTYPE_F16},
        {"bf16", DTYPE_BF16},
        {"fp64", DTYPE_F64},
        {"f64", DTYPE_F64},
        {"u8", DTYPE_U8},
        {"i8", DTYPE_I8},
        {"float8_e4m3", DTYPE_F8_E4M3},
        {"fp8_e4m3", DTYPE_F8_E4M3},
        {"fp8_e5m2", DTYPE_F8_E5M2},
        {"f8_e4m3", DTYPE_F8_E4M3},
        {"f8_e5m2", DTYPE_F8_E5M2},
        {"e4m3", DTYPE_F8_E4M3},
        {"e5m2", DTYPE_F8_E5M2},
        {"float8_e4m3fn", DTYPE_F8_E4M3},
        {"float8_e5m2", DTYPE_F8_E5M2},
    };
    size_t i;

    for (i = 0; i < N_DTYPES; i++) {
        if (strcmp(word, dtype_name((enum dtype)i)) != 0)
            continue;
        *ret = (enum dtype)i;
        return true;
    }
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        *ret = words[i].dtype;
        return true;
    }
    return false;
}

bool dump_dtype_fits(enum dtype stored, enum dtype said)
{
    return stored == said || dtype_bytes(stored) != dtype_bytes(said);
}

void dump_dtype_swap(void *elements, size_t n, size_t element_bytes)
{
    unsigned char *p = elements;
    size_t i, j;

    for (i = 0; i < n; i++, p += element_bytes)
        for (j = 0; j < element_bytes / 2; j++) {
            unsigned char c = p[j];

            p[j] = p[element_bytes - 1 - j];
            p[element_bytes - 1 - j] = c;
        }
}
