/* cuda_harness.h - lets a C++ compiler take a .cu file and run its kernels on the CPU; included before the file
 * (-include).
 *
 * The threads of a block are fibers. A fiber runs until it meets a barrier: __syncthreads() waits for the block,
 * shuffles and __syncwarp() for the lanes in their mask. Which fiber runs next is drawn from a seed, in extremes: one
 * order of preference per block, so that a thread runs ahead of the others as far as the barriers let it; that is what
 * shows a missing barrier. Blocks come in random order. A barrier that can never be passed ends the program with a
 * message. What it cannot show: the memory model, and hardware instructions (MUFU, tensor cores). */
#ifndef TESTS_SUPPORT_CUDA_HARNESS_H
#define TESTS_SUPPORT_CUDA_HARNESS_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__      static
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

struct alignas(16) float4 {
    float x, y, z, w;
};

inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

/* Of the fiber that runs. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

void harness_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel);
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                                               \
    ((void)(stream), harness_launch(grid, block, shared, [=] { kernel(__VA_ARGS__); }))

/* Dynamic shared memory of the block, full of NaN at its start. */
void *harness_shared(void);

/* The value that lane `from` of the warp put in; a barrier for the lanes in `mask`. */
uint64_t harness_exchange(unsigned mask, uint64_t value, unsigned from);
unsigned harness_ballot(unsigned mask, int predicate);
void __syncthreads(void);

inline void __syncwarp(unsigned mask = 0xffffffffU)
{
    harness_exchange(mask, 0, 0);
}

template <typename T> T harness_shuffle(unsigned mask, T value, unsigned from)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof value);
    bits = harness_exchange(mask, bits, from % 32);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T> T __shfl_sync(unsigned mask, T value, int lane)
{
    return harness_shuffle(mask, value, (unsigned)lane);
}

template <typename T> T __shfl_xor_sync(unsigned mask, T value, int bits)
{
    return harness_shuffle(mask, value, threadIdx.x % 32 ^ (unsigned)bits);
}

template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned step)
{
    unsigned lane = threadIdx.x % 32;

    return harness_shuffle(mask, value, lane + step < 32 ? lane + step : lane);
}

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return harness_ballot(mask, predicate);
}

template <typename T> T atomicAdd(T *to, T value)
{
    T old = *to;

    *to += value;
    return old;
}

template <typename T> T atomicMax(T *to, T value)
{
    T old = *to;

    *to = value > old ? value : old;
    return old;
}

template <typename To, typename From> To harness_bits(From x)
{
    To y;

    static_assert(sizeof x == sizeof y, "a cast of bits keeps their number");
    memcpy(&y, &x, sizeof y);
    return y;
}
#define __float_as_uint(x)      harness_bits<unsigned>((float)(x))
#define __uint_as_float(x)      harness_bits<float>((unsigned)(x))
#define __longlong_as_double(x) harness_bits<double>((long long)(x))
#define __double_as_longlong(x) harness_bits<long long>((double)(x))
#define __log2f(x)              log2f(x)

/* 64 for zero, as on the device. */
inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

/* Halves are their bits. */
struct __half {
    unsigned short bits;
};

inline __half __ushort_as_half(unsigned short bits)
{
    return {bits};
}

inline unsigned short __half_as_ushort(__half x)
{
    return x.bits;
}

float __half2float(__half x);
__half __float2half_rn(float x);

/* The runtime: "device" memory is the heap's, streams do everything at once. The n-th call after harness_fail_call(n)
 * fails; 0 = none does. Memory that was not given back is counted. */
enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
    cudaErrorNoDevice
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor;
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
typedef struct harness_stream *cudaStream_t;
typedef struct harness_event *cudaEvent_t;
typedef struct harness_pool *cudaMemPool_t;
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t code);

#endif
