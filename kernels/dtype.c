#include "kernels/dtype.h"

static const struct {
    const char *name;
    size_t bytes;
} table[N_DTYPES] = {
    [DTYPE_F32] = {"float32", 4},
    [DTYPE_F16] = {"float16", 2},
    [DTYPE_BF16] = {"bfloat16", 2},
    [DTYPE_F64] = {"float64", 8},
};

size_t dtype_bytes(enum dtype type)
{
    return table[type].bytes;
}

const char *dtype_name(enum dtype type)
{
    return table[type].name;
}
