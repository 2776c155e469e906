#include "kernels/device_memory.h"

static const size_t DEFAULT_BYTES = (size_t)1 << 30;
static const size_t LEAST_BYTES = (size_t)1 << 20;

static size_t limit;

size_t device_memory(void)
{
    return limit ? limit : DEFAULT_BYTES;
}

void device_memory_set(size_t bytes)
{
    limit = bytes == 0 || bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}
