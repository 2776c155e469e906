/* backend_cuda.h - the CUDA device as a whole; defined where nvcc compiled the room's .cu files. */
#ifndef KERNELS_BACKEND_CUDA_H
#define KERNELS_BACKEND_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "NVIDIA H200, 139.8 GiB, compute 9.0, driver 13.0"; false, and the reason, when no device answers. */
bool backend_cuda_describe(char *text, size_t size);

/* Pinned memory; NULL on failure. */
void *backend_cuda_host_alloc(size_t bytes);
void backend_cuda_host_free(void *p);

#ifdef __cplusplus
}
#endif
#endif
