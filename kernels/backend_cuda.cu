/* The CUDA device as a whole: is there one, what is it, pinned memory. No kernels. */
#include "kernels/backend_cuda.h"
#include "kernels/cuda_check.cuh"

#include <stdio.h>

bool backend_cuda_describe(char *text, size_t size)
{
    int n_devices = 0, device = 0, driver = 0;
    cudaDeviceProp prop;
    cudaError_t code = cudaGetDeviceCount(&n_devices);

    if (code == cudaSuccess && n_devices == 0)
        code = cudaErrorNoDevice;
    if (code == cudaSuccess)
        code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaGetDeviceProperties(&prop, device);
    if (code == cudaSuccess)
        code = cudaDriverGetVersion(&driver);
    if (code == cudaSuccess)
        code = cudaFree(NULL); /* makes the context: a device that is listed may still not answer */
    if (code != cudaSuccess) {
        cudaGetLastError(); /* an error that was told is not met again by the next call */
        snprintf(text, size, "no CUDA device answers: %s", cudaGetErrorString(code));
        return false;
    }
    snprintf(text, size, "%s, %.1f GiB, compute %d.%d, driver %d.%d", prop.name, (double)prop.totalGlobalMem / 0x1p30,
             prop.major, prop.minor, driver / 1000, driver % 1000 / 10);
    return true;
}

void *backend_cuda_host_alloc(size_t bytes)
{
    void *p = NULL;

    if (cudaMallocHost(&p, bytes ? bytes : 1) == cudaSuccess)
        return p;
    cudaGetLastError(); /* the caller sees NULL */
    return NULL;
}

void backend_cuda_host_free(void *p)
{
    cudaFreeHost(p);
}
