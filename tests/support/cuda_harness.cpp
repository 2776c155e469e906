#include "tests/support/cuda_harness.h"

#include "kernels/dtype.h"
#include "tests/support/cuda_harness_control.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <cstdio>
#include <random>
#include <ucontext.h>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{

enum { STACK_BYTES = 256 << 10, MAX_THREADS = 1024, MAX_SHARED = 227 << 10 };

/* Under AddressSanitizer the library's jumps clear the shadow of everything between two stacks, each time: there the
 * compiler's own serve. No caller may know which registers such a function leaves alone. */
#ifdef __SANITIZE_ADDRESS__
typedef void *place[5];
#define SAVE_PLACE(p) __builtin_setjmp(p)
#define GO_TO(p)      __builtin_longjmp(p, 1)
#define JUMPS         __attribute__((noipa, no_sanitize("address")))
#else
typedef jmp_buf place;
#define SAVE_PLACE(p) _setjmp(p)
#define GO_TO(p)      _longjmp(p, 1)
#define JUMPS         __attribute__((noinline))
#endif

enum fiber_state { RUNNABLE, AT_BLOCK, AT_WARP, DONE };

struct fiber {
    ucontext_t context; /* where it begins */
    place where;        /* where it waits  */
    bool has_begun;
    fiber_state state;
    unsigned index, mask; /* thread of the block; lanes that it waits for */
    uint64_t value;       /* what it puts into the exchange              */
    uint64_t seen[32];    /* what all lanes put in, when it is released   */
};

std::vector<fiber> fibers;
std::vector<std::vector<char>> stacks;
std::vector<char> shared_memory;
ucontext_t beginning;
place scheduler;
fiber *current;
const std::function<void()> *body;
std::mt19937_64 random_order;
cudaError_t last_error;
int n_calls, failing_call, n_live;

JUMPS void fiber_main()
{
    (*body)();
    current->state = DONE;
    GO_TO(scheduler);
}

/* Jumps, since swapcontext() asks the kernel for the signal mask every time. */
JUMPS void leave(void)
{
    if (SAVE_PLACE(current->where) == 0)
        GO_TO(scheduler);
}

void wait(fiber_state state)
{
    current->state = state;
    leave();
}

JUMPS void enter(fiber &f)
{
    if (SAVE_PLACE(scheduler) != 0)
        return;
    if (f.has_begun)
        GO_TO(f.where);
    f.has_begun = true;
    setcontext(&f.context);
}

/* Lets a warp go on as soon as every lane of the mask has come with that mask; they leave with each other's values. */
void release_warp(unsigned warp, unsigned mask)
{
    fiber *lane = &fibers[warp * 32];
    size_t n = std::min<size_t>(32, fibers.size() - warp * 32);

    for (size_t i = 0; i < n; i++)
        if (mask >> i & 1 && (lane[i].state != AT_WARP || lane[i].mask != mask) && lane[i].state != DONE)
            return;
    for (size_t i = 0; i < n; i++)
        if (mask >> i & 1 && lane[i].state == AT_WARP) {
            for (size_t j = 0; j < n; j++)
                lane[i].seen[j] = lane[j].value;
            lane[i].state = RUNNABLE;
        }
}

/* Lets the block go on once every thread that still lives has come. */
bool release_block()
{
    bool any = false;

    for (fiber &f : fibers) {
        if (f.state == RUNNABLE || f.state == AT_WARP)
            return false;
        any |= f.state == AT_BLOCK;
    }
    for (fiber &f : fibers)
        if (f.state == AT_BLOCK)
            f.state = RUNNABLE;
    return any;
}

/* Apart from the loops, whose locals getcontext() would put in doubt. */
__attribute__((noinline)) void mark_beginning(void)
{
    getcontext(&beginning);
}

__attribute__((noinline)) void begin_fiber(fiber &f, std::vector<char> &stack)
{
    f.state = RUNNABLE;
    f.has_begun = false;
    f.context = beginning;
    f.context.uc_stack.ss_sp = stack.data();
    f.context.uc_stack.ss_size = stack.size();
    f.context.uc_link = nullptr;
    makecontext(&f.context, fiber_main, 0);
}

void run_block()
{
    std::vector<unsigned> order(fibers.size());

    for (unsigned i = 0; i < fibers.size(); i++) {
        order[i] = fibers[i].index = i;
        begin_fiber(fibers[i], stacks[i]);
    }
    std::shuffle(order.begin(), order.end(), random_order);
    std::fill(shared_memory.begin(), shared_memory.end(), (char)0xff);
    for (;;) {
        auto next = std::find_if(order.begin(), order.end(), [](unsigned i) { return fibers[i].state == RUNNABLE; });

        if (next == order.end()) {
            if (release_block())
                continue;
            break;
        }
        current = &fibers[*next];
        threadIdx = dim3(*next % blockDim.x, *next / blockDim.x % blockDim.y, *next / blockDim.x / blockDim.y);
        enter(*current);
    }
    for (fiber &f : fibers)
        if (f.state != DONE) {
            fprintf(stderr, "harness: block %u, thread %u waits at a barrier that others never reach\n", blockIdx.x,
                    f.index);
            abort();
        }
}

cudaError_t called(cudaError_t code = cudaSuccess)
{
    return ++n_calls == failing_call ? cudaErrorMemoryAllocation : code;
}

} // namespace

void harness_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel)
{
    size_t n_threads = (size_t)block.x * block.y * block.z, n_blocks = (size_t)grid.x * grid.y * grid.z;
    std::vector<size_t> order(n_blocks);

    if (n_threads == 0 || n_threads > MAX_THREADS || n_blocks == 0 || grid.x > 0x7fffffff || grid.y > 0xffff ||
        grid.z > 0xffff || shared > MAX_SHARED) {
        last_error = cudaErrorInvalidConfiguration;
        return;
    }
    for (size_t i = 0; i < n_blocks; i++)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random_order);
    gridDim = grid;
    blockDim = block;
    fibers.resize(n_threads);
    shared_memory.resize(shared);
    while (stacks.size() < n_threads)
        stacks.emplace_back(STACK_BYTES);
    body = &kernel;
    mark_beginning();
    for (size_t i : order) {
        blockIdx = dim3((unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y), (unsigned)(i / grid.x / grid.y));
        run_block();
    }
}

void *harness_shared(void)
{
    return shared_memory.data();
}

static const uint64_t *exchange(unsigned mask, uint64_t value)
{
    unsigned lane = current->index % 32;

    if (!(mask >> lane & 1)) {
        fprintf(stderr, "harness: thread %u is not in the mask %#x of its own shuffle\n", current->index, mask);
        abort();
    }
    current->mask = mask;
    current->value = value;
    current->state = AT_WARP;
    release_warp(current->index / 32, mask);
    leave();
    return current->seen;
}

uint64_t harness_exchange(unsigned mask, uint64_t value, unsigned from)
{
    return exchange(mask, value)[from];
}

unsigned harness_ballot(unsigned mask, int predicate)
{
    const uint64_t *seen = exchange(mask, predicate != 0);
    unsigned ballot = 0;

    for (unsigned i = 0; i < 32; i++)
        ballot |= mask >> i & 1 && seen[i] ? 1U << i : 0;
    return ballot;
}

void __syncthreads(void)
{
    wait(AT_BLOCK);
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    cudaError_t code = called();

    if (code == cudaSuccess) {
        *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
        memset(*p, 0xff, bytes); /* NaN: what was never copied shows */
        n_live++;
    }
    return code;
}

cudaError_t cudaFree(void *p)
{
    n_live -= p != nullptr;
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t)
{
    return cudaMalloc(p, bytes);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t)
{
    return cudaFree(p);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = nullptr;
    return called();
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return called();
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    cudaError_t code = called();

    if (code == cudaSuccess)
        memcpy(to, from, bytes);
    return code;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    cudaError_t code = called();

    if (code == cudaSuccess)
        memset(to, value, bytes);
    return code;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes);
    return called();
}

cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return called();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int)
{
    *prop = {"CPU harness", (size_t)1 << 30, 0, 0};
    return called();
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return called();
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return called();
}

/* A small device: its blocks take several rows each. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    *value = 1;
    return called();
}

struct harness_event {
    std::chrono::steady_clock::time_point at;
};

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    cudaError_t code = called();

    if (code == cudaSuccess) {
        *event = new harness_event();
        n_live++;
    }
    return code;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    n_live--;
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    event->at = std::chrono::steady_clock::now();
    return called();
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return called();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = std::chrono::duration<float, std::milli>(to->at - from->at).count();
    return called();
}

float __half2float(__half x)
{
    return float_from_f16(x.bits);
}

/* To the nearest, ties to even, by the spacing of halves at this magnitude. */
__half __float2half_rn(float x)
{
    unsigned short sign = std::signbit(x) ? 0x8000 : 0;
    float a = std::fabs(x);
    int exponent;

    if (std::isnan(x))
        return {(unsigned short)(sign | 0x7e00)};
    if (a >= 65520)
        return {(unsigned short)(sign | 0x7c00)};
    exponent = a < 0x1p-14F ? -14 : std::ilogb(a);
    return {(unsigned short)(sign | (std::lrint(std::ldexp(a, 10 - exponent)) + ((exponent + 14) << 10)))};
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    cudaError_t code = called();

    *stream = nullptr;
    n_live += code == cudaSuccess;
    return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t)
{
    n_live--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return called();
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t code = last_error;

    last_error = cudaSuccess;
    return called(code);
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "out of memory" : "invalid";
}

void harness_seed(uint64_t seed)
{
    random_order.seed(seed);
}

void harness_fail_call(int n)
{
    n_calls = 0;
    failing_call = n;
}

int harness_calls(void)
{
    return n_calls;
}

int harness_live_allocations(void)
{
    return n_live;
}
