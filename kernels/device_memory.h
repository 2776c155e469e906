/* device_memory.h - how much memory one call of a CUDA kernel may take on the device. */
#ifndef KERNELS_DEVICE_MEMORY_H
#define KERNELS_DEVICE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t device_memory(void);           /* bytes; 1 GiB until it is set       */
void device_memory_set(size_t bytes); /* 0: the default; at least 1 MiB    */

#ifdef __cplusplus
}
#endif
#endif
