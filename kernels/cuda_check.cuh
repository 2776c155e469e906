/* cuda_check.cuh - errors, launches and device memory of the .cu files. The tests compile the same files for the CPU
 * and bring their own LAUNCH and runtime: tests/support/cuda_harness.h. */
#ifndef KERNELS_CUDA_CHECK_CUH
#define KERNELS_CUDA_CHECK_CUH

#include "core/base/error.h"
#include "core/base/scope.h"

#include <stddef.h>
#include <string.h>

#ifndef LAUNCH
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define LAUNCH(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#endif

static inline enum status cuda_fail(struct error *err, cudaError_t code, const char *call, const char *file, int line)
{
    const char *slash = strrchr(file, '/');
    const char *hint = code == cudaErrorMemoryAllocation ? "free memory on the GPU, or use the device cpu"
                                                         : "check the GPU and its driver, or use the device cpu";

    return error_set(err, ERR_DEVICE, "%.120s at %s:%d: %s; %s", call, slash ? slash + 1 : file, line,
                     cudaGetErrorString(code), hint);
}

/* Leaves the function with ERR_DEVICE, naming call and place, unless the call succeeds. */
#define CUDA_TRY(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t cuda_try_code = (call);                                                                            \
        if (cuda_try_code != cudaSuccess)                                                                              \
            return cuda_fail(err, cuda_try_code, #call, __FILE__, __LINE__);                                           \
    } while (0)

/* Device memory of the device's pool, which keeps what is given back: neither taking nor releasing waits for what other
 * streams do. A zeroed one is empty. */
struct devbuf {
    void *data;
};

static inline enum status devbuf_init(struct devbuf *b, size_t bytes, struct error *err)
{
    CUDA_TRY(cudaMallocAsync(&b->data, bytes ? bytes : 1, NULL));
    return OK;
}

static inline void devbuf_done(struct devbuf *b)
{
    if (b->data)
        cudaFreeAsync(b->data, NULL);
    b->data = NULL;
}

/* Once before the first devbuf of a call. */
static inline enum status devbuf_keep_pool(struct error *err)
{
    unsigned long long all = ~0ULL;
    cudaMemPool_t pool;
    int device;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
    CUDA_TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    return OK;
}

struct devstream {
    cudaStream_t stream;
    int is_open;
};

static inline enum status devstream_init(struct devstream *s, struct error *err)
{
    CUDA_TRY(cudaStreamCreate(&s->stream));
    s->is_open = 1;
    return OK;
}

/* Waits for what is under way, so that buffers may be released after it. */
static inline void devstream_done(struct devstream *s)
{
    if (!s->is_open)
        return;
    cudaStreamSynchronize(s->stream);
    cudaStreamDestroy(s->stream);
    s->is_open = 0;
}

/* Times what is launched on the default stream between begin and end. */
struct devtimer {
    cudaEvent_t events[2];
    int n_events;
};

static inline enum status devtimer_init(struct devtimer *t, struct error *err)
{
    for (; t->n_events < 2; t->n_events++)
        CUDA_TRY(cudaEventCreate(&t->events[t->n_events]));
    return OK;
}

static inline void devtimer_done(struct devtimer *t)
{
    while (t->n_events > 0)
        cudaEventDestroy(t->events[--t->n_events]);
}

static inline enum status devtimer_begin(struct devtimer *t, struct error *err)
{
    CUDA_TRY(cudaEventRecord(t->events[0], NULL));
    return OK;
}

static inline enum status devtimer_end(struct devtimer *t, double *ret_seconds, struct error *err)
{
    float ms = 0;

    CUDA_TRY(cudaEventRecord(t->events[1], NULL));
    CUDA_TRY(cudaEventSynchronize(t->events[1]));
    CUDA_TRY(cudaEventElapsedTime(&ms, t->events[0], t->events[1]));
    *ret_seconds = (double)ms / 1e3;
    return OK;
}

#endif
