/* Entropy of stored weights on the GPU.
 *
 * Work split: a warp per row up to SHORT_ROW keys, eight rows a block; beyond, a block of 256 threads per row. A thread
 * reads 16 bytes at a time where the row is aligned, LOADS of them in flight, adds at most 32 floats to a float, then
 * goes on in double; the threads' doubles meet in a fixed tree. One logarithm an element (MUFU.LG2 of the mantissa,
 * absolute error 2^-22, the exponent apart), some 15 instructions: bound by reading memory once for 32 bit types.
 *
 * The device gives sums; row_finish() makes statistics of them on the host, and takes the rows that floats cannot hold.
 */
#include "core/base/mem.h"
#include "kernels/reduce.cuh"
#include "kernels/row_entropy.h"
#include "kernels/row_finish.h"

#include <limits.h>
#include <stdlib.h>

namespace
{

enum { BLOCK_THREADS = 256, SHORT_ROW = 2048, LOADS = 4, N_SLOTS = 2 };

const size_t CHUNK_BYTES = (size_t)128 << 20;

__device__ __forceinline__ float float_of_f16(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    float value;

    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
    return value;
#else
    return float_from_f16((uint16_t)bits);
#endif
}

/* Element i of 16 loaded bytes. */
template <enum dtype TYPE> __device__ __forceinline__ float element(const uint4 &v, int i)
{
    uint32_t word[4] = {v.x, v.y, v.z, v.w};
    uint32_t half;

    if (TYPE == DTYPE_F32)
        return __uint_as_float(word[i]);
    if (TYPE == DTYPE_F64)
        return (float)__longlong_as_double((long long)((uint64_t)word[2 * i + 1] << 32 | word[2 * i]));
    half = i % 2 ? word[i / 2] >> 16 : word[i / 2] & 0xffff;
    return TYPE == DTYPE_F16 ? float_of_f16(half) : __uint_as_float(half << 16);
}

template <enum dtype TYPE> __device__ __forceinline__ float load_one(const void *p, size_t i)
{
    if (TYPE == DTYPE_F32)
        return ((const float *)p)[i];
    if (TYPE == DTYPE_F64)
        return (float)((const double *)p)[i];
    return TYPE == DTYPE_F16 ? float_of_f16(((const uint16_t *)p)[i])
                             : __uint_as_float((uint32_t)((const uint16_t *)p)[i] << 16);
}

/* Over a row; members as in row_finish.h. */
struct device_sums {
    double sum, log_sum, square_sum, distance;
    uint32_t max_bits;
};

bool is_plain(const struct row_entropy_args *args)
{
    return args->kind == ROWS_WEIGHTS && dtype_bytes(args->dtype) > 1 && !args->value_scales && !args->implicit_sink &&
           args->eps_form == EPS_NONE;
}

struct thread_sums {
    float sum, log_sum, square_sum, distance;
    uint32_t max_bits;
};

/* `keys` lie between the element and the query. p = 2^e m with m in [0.707, 1.414); zero has a finite logarithm too, so
 * that 0 log 0 = 0 needs no branch. */
__device__ __forceinline__ void add_weight(struct thread_sums *s, float p, int ref, float keys)
{
    uint32_t bits = __float_as_uint(p);
    int t = (int)(bits - 0x3f3504f3U);
    float m = __uint_as_float(bits - ((uint32_t)t & 0xff800000U));
    float log2_p = (float)((t >> 23) - ref) + __log2f(m);

    s->sum += p;
    s->log_sum = fmaf(p, log2_p, s->log_sum);
    s->square_sum = fmaf(p, p, s->square_sum);
    s->distance = fmaf(p, fabsf(keys), s->distance);
    s->max_bits = bits > s->max_bits ? bits : s->max_bits;
}

__device__ __forceinline__ void flush(struct device_sums *to, struct thread_sums *s)
{
    to->sum += (double)s->sum;
    to->log_sum += (double)s->log_sum;
    to->square_sum += (double)s->square_sum;
    to->distance += (double)s->distance;
    s->sum = s->log_sum = s->square_sum = s->distance = 0;
}

/* The elements of one row that this thread of THREADS takes: up to the first 16-byte boundary and after the last one
 * singly, between them by vectors. `row`: n elements. */
template <enum dtype TYPE, int THREADS>
__device__ __forceinline__ struct device_sums sums_of_thread(const unsigned char *row, size_t n, int ref, int64_t query,
                                                             int thread)
{
    constexpr size_t BYTES = TYPE == DTYPE_F64 ? 8 : TYPE == DTYPE_F32 ? 4 : 2;
    constexpr int PER_VECTOR = 16 / BYTES;
    size_t head = (16 - (uintptr_t)row % 16) % 16 / BYTES;
    struct device_sums total = {0, 0, 0, 0, 0};
    struct thread_sums s[2] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}};
    size_t n_vectors, tail;
    const uint4 *vectors;

    head = head < n ? head : n;
    n_vectors = (n - head) / PER_VECTOR;
    tail = head + n_vectors * PER_VECTOR;
    vectors = (const uint4 *)(row + head * BYTES);
    if ((size_t)thread < head)
        add_weight(&s[0], load_one<TYPE>(row, (size_t)thread), ref, (float)(query - thread));
    if (tail + (size_t)thread < n)
        add_weight(&s[1], load_one<TYPE>(row, tail + (size_t)thread), ref, (float)(query - (int64_t)tail - thread));
    for (size_t v = (size_t)thread; v < n_vectors; v += (size_t)LOADS * THREADS) {
        uint4 loaded[LOADS];

#pragma unroll
        for (int k = 0; k < LOADS; k++)
            loaded[k] = v + (size_t)k * THREADS < n_vectors ? vectors[v + (size_t)k * THREADS] : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            float keys = (float)(query - (int64_t)(head + (v + (size_t)k * THREADS) * PER_VECTOR));

#pragma unroll
            for (int i = 0; i < PER_VECTOR; i++)
                add_weight(&s[k % 2], element<TYPE>(loaded[k], i), ref, keys - (float)i);
        }
        flush(&total, &s[0]);
        flush(&total, &s[1]);
    }
    flush(&total, &s[0]);
    flush(&total, &s[1]);
    total.max_bits = s[0].max_bits > s[1].max_bits ? s[0].max_bits : s[1].max_bits;
    return total;
}

__device__ __forceinline__ struct device_sums over_warp(struct device_sums s)
{
    s.sum = warp_sum(s.sum);
    s.log_sum = warp_sum(s.log_sum);
    s.square_sum = warp_sum(s.square_sum);
    s.distance = warp_sum(s.distance);
    s.max_bits = warp_max(s.max_bits);
    return s;
}

/* weights: n_rows x n_cols, a part of the tensor whose first row is row `first` of all; spans, refs: [n_spans];
 * sums: [n_rows]. Blocks of BLOCK_THREADS. */
template <enum dtype TYPE>
__global__ void short_rows(const unsigned char *weights, const struct row_span *spans, const int *refs, size_t n_spans,
                           size_t first, size_t n_rows, size_t row_bytes, size_t bytes, int64_t query_col,
                           struct device_sums *sums)
{
    size_t row = (size_t)blockIdx.x * (BLOCK_THREADS / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    int lane = (int)(threadIdx.x % WARP_SIZE);
    struct row_span span;
    struct device_sums s;

    if (row >= n_rows)
        return;
    span = spans[(first + row) % n_spans];
    if (span.lo >= span.hi)
        return;
    s = over_warp(sums_of_thread<TYPE, WARP_SIZE>(weights + row * row_bytes + span.lo * bytes, span.hi - span.lo,
                                                  refs[(first + row) % n_spans],
                                                  query_col + (int64_t)((first + row) % n_spans) - span.lo, lane));
    if (lane == 0)
        sums[row] = s;
}

/* The same with one block per row. */
template <enum dtype TYPE>
__global__ void long_rows(const unsigned char *weights, const struct row_span *spans, const int *refs, size_t n_spans,
                          size_t first, size_t n_rows, size_t row_bytes, size_t bytes, int64_t query_col,
                          struct device_sums *sums)
{
    __shared__ struct device_sums of_warp[BLOCK_THREADS / WARP_SIZE];
    struct row_span span = spans[(first + blockIdx.x) % n_spans];
    struct device_sums s;
    int thread = (int)threadIdx.x;

    if (blockIdx.x >= n_rows || span.lo >= span.hi)
        return;
    s = over_warp(sums_of_thread<TYPE, BLOCK_THREADS>(
        weights + blockIdx.x * row_bytes + span.lo * bytes, span.hi - span.lo, refs[(first + blockIdx.x) % n_spans],
        query_col + (int64_t)((first + blockIdx.x) % n_spans) - span.lo, thread));
    if (thread % WARP_SIZE == 0)
        of_warp[thread / WARP_SIZE] = s;
    __syncthreads();
    if (thread != 0)
        return;
    for (int w = 1; w < BLOCK_THREADS / WARP_SIZE; w++) {
        s.sum += of_warp[w].sum;
        s.log_sum += of_warp[w].log_sum;
        s.square_sum += of_warp[w].square_sum;
        s.distance += of_warp[w].distance;
        s.max_bits = of_warp[w].max_bits > s.max_bits ? of_warp[w].max_bits : s.max_bits;
    }
    sums[blockIdx.x] = s;
}

/* One of the chunks under way: its copy and kernel run while the other's rows are finished. */
struct slot {
    struct devstream stream;
    struct devbuf weights, sums;
    struct device_sums *host_sums; /* owned; [chunk_rows] */
    size_t first, n_rows;          /* 0 rows: idle */
};

struct row_job {
    const struct row_entropy_args *args;
    struct row_stat *rows;     /* owned; copied out when all went well */
    struct devbuf spans, refs; /* [args->n_rows] */
    int *host_refs;            /* owned */
    size_t row_bytes, n_rows, chunk_rows;
    struct slot slots[N_SLOTS];
};

/* Called by AUTO alone, which nvcc does not see. */
[[maybe_unused]] void row_job_done(struct row_job *job)
{
    for (int i = 0; i < N_SLOTS; i++) {
        devstream_done(&job->slots[i].stream);
        devbuf_done(&job->slots[i].weights);
        devbuf_done(&job->slots[i].sums);
        free(job->slots[i].host_sums);
    }
    devbuf_done(&job->spans);
    devbuf_done(&job->refs);
    free(job->host_refs);
    free(job->rows);
}

enum status row_job_init(struct row_job *job, struct error *err)
{
    const struct row_entropy_args *args = job->args;
    size_t n = args->n_rows;

    job->row_bytes = args->n_cols * dtype_bytes(args->dtype);
    job->n_rows = args->n_heads * n;
    job->chunk_rows = job->row_bytes < CHUNK_BYTES ? CHUNK_BYTES / job->row_bytes : 1;
    job->chunk_rows = job->chunk_rows < job->n_rows ? job->chunk_rows : job->n_rows;
    job->chunk_rows = job->chunk_rows < INT_MAX ? job->chunk_rows : INT_MAX; /* the limit of a grid */
    TRY(mem_new(job->n_rows, sizeof *job->rows, &job->rows, err));
    TRY(mem_new(n, sizeof *job->host_refs, &job->host_refs, err));
    for (size_t i = 0; i < n; i++)
        job->host_refs[i] = args->spans[i].lo < args->spans[i].hi ? row_ref(args->spans[i].hi - args->spans[i].lo) : 0;
    TRY(devbuf_init(&job->spans, n * sizeof *args->spans, err));
    TRY(devbuf_init(&job->refs, n * sizeof *job->host_refs, err));
    CUDA_TRY(cudaMemcpy(job->spans.data, args->spans, n * sizeof *args->spans, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(job->refs.data, job->host_refs, n * sizeof *job->host_refs, cudaMemcpyHostToDevice));
    for (int i = 0; i < N_SLOTS && (i == 0 || job->chunk_rows < job->n_rows); i++) {
        struct slot *slot = &job->slots[i];

        TRY(devstream_init(&slot->stream, err));
        TRY(devbuf_init(&slot->weights, job->chunk_rows * job->row_bytes, err));
        TRY(devbuf_init(&slot->sums, job->chunk_rows * sizeof *slot->host_sums, err));
        TRY(mem_new(job->chunk_rows, sizeof *slot->host_sums, &slot->host_sums, err));
    }
    return OK;
}

template <enum dtype TYPE>
enum status launch_rows(const struct row_job *job, const struct slot *slot, struct error *err)
{
    const unsigned char *weights = (const unsigned char *)slot->weights.data;
    const struct row_span *spans = (const struct row_span *)job->spans.data;
    const int *refs = (const int *)job->refs.data;
    struct device_sums *sums = (struct device_sums *)slot->sums.data;
    size_t rows_per_block = job->args->n_cols <= SHORT_ROW ? BLOCK_THREADS / WARP_SIZE : 1;
    unsigned grid = (unsigned)((slot->n_rows + rows_per_block - 1) / rows_per_block);

    if (rows_per_block > 1)
        LAUNCH(short_rows<TYPE>, grid, BLOCK_THREADS, 0, slot->stream.stream, weights, spans, refs, job->args->n_rows,
               slot->first, slot->n_rows, job->row_bytes, dtype_bytes(TYPE), job->args->query_col, sums);
    else
        LAUNCH(long_rows<TYPE>, grid, BLOCK_THREADS, 0, slot->stream.stream, weights, spans, refs, job->args->n_rows,
               slot->first, slot->n_rows, job->row_bytes, dtype_bytes(TYPE), job->args->query_col, sums);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

enum status launch(const struct row_job *job, const struct slot *slot, struct error *err)
{
    switch (job->args->dtype) {
    case DTYPE_F16:
        return launch_rows<DTYPE_F16>(job, slot, err);
    case DTYPE_BF16:
        return launch_rows<DTYPE_BF16>(job, slot, err);
    case DTYPE_F64:
        return launch_rows<DTYPE_F64>(job, slot, err);
    case DTYPE_F32:
    default:
        return launch_rows<DTYPE_F32>(job, slot, err);
    }
}

enum status start_chunk(const struct row_job *job, struct slot *slot, size_t first, struct error *err)
{
    const unsigned char *weights = (const unsigned char *)job->args->weights;

    slot->first = first;
    slot->n_rows = job->n_rows - first < job->chunk_rows ? job->n_rows - first : job->chunk_rows;
    CUDA_TRY(cudaMemcpyAsync(slot->weights.data, weights + first * job->row_bytes, slot->n_rows * job->row_bytes,
                             cudaMemcpyHostToDevice, slot->stream.stream));
    TRY(launch(job, slot, err));
    CUDA_TRY(cudaMemcpyAsync(slot->host_sums, slot->sums.data, slot->n_rows * sizeof *slot->host_sums,
                             cudaMemcpyDeviceToHost, slot->stream.stream));
    return OK;
}

enum status finish_chunk(const struct row_job *job, struct slot *slot, struct error *err)
{
    const struct row_entropy_args *args = job->args;

    if (slot->n_rows == 0)
        return OK;
    CUDA_TRY(cudaStreamSynchronize(slot->stream.stream));
    for (size_t i = 0; i < slot->n_rows; i++) {
        size_t row = slot->first + i;
        struct row_span span = args->spans[row % args->n_rows];
        uint64_t *profile = args->profile ? args->profile + row / args->n_rows * PROFILE_BUCKETS : NULL;

        if (span.lo < span.hi)
            job->rows[row] = row_slow(args, row, profile);
        else
            job->rows[row] = row_without_value(ROW_EMPTY, 0);
    }
    slot->n_rows = 0;
    return OK;
}

} /* namespace */

extern "C" enum status row_entropy_cuda(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    AUTO(row_job) job = {};
    size_t i = 0;

    TRY(row_check(args, err));
    if (args->n_heads == 0 || args->n_rows == 0 || args->n_cols == 0 || !is_plain(args))
        return row_entropy_cpu(args, ret, err);
    job.args = args;
    TRY(row_job_init(&job, err));
    for (size_t first = 0; first < job.n_rows; first += job.chunk_rows, i++) {
        struct slot *slot = &job.slots[i % N_SLOTS];

        TRY(finish_chunk(&job, slot, err));
        TRY(start_chunk(&job, slot, first, err));
    }
    TRY(finish_chunk(&job, &job.slots[i % N_SLOTS], err));
    TRY(finish_chunk(&job, &job.slots[(i + 1) % N_SLOTS], err));
    memcpy(ret, job.rows, job.n_rows * sizeof *ret);
    return OK;
}
