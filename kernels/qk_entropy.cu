/* Entropy from queries and keys on the GPU.
 *
 * Work split: a block takes TILE query rows and goes over the keys that any of them sees, TILE at a time. Its 256
 * threads hold 4 x 4 scores each, fed from shared memory in steps of STEP dimensions: 16 multiply-adds for 8 floats
 * read. Sums over at most CHUNK dimensions are added to the score, as on the CPU. Every thread keeps (m, l, t) of its
 * four rows over its share of the keys; sixteen threads then merge theirs in a fixed tree. Bound by fp32 multiply-adds:
 * fp32 in, because TF32 costs 4e-3 bit.
 *
 * The host centres and packs keys, finds bad ones and finishes rows (qk_pack.h, qk_rows.h). */
#include "core/base/mem.h"
#include "kernels/qk_entropy.h"
#include "kernels/qk_rows.h"
#include "kernels/reduce.cuh"

#include <math.h>
#include <stdlib.h>

namespace
{

enum { TILE = 64, STEP = 16, CHUNK = 32, BLOCK_THREADS = 256, MICRO = 4, ROW_THREADS = TILE / MICRO };

const size_t MAX_CHUNK_BYTES = (size_t)64 << 20;

/* m = -inf before the first key. */
__device__ __forceinline__ struct qk_state merge(struct qk_state a, struct qk_state b)
{
    struct qk_state s = {a.m > b.m ? a.m : b.m, 0, 0, 0, a.sink > b.sink ? a.sink : b.sink, 0};

    if (a.l > 0) {
        double e = exp2(a.m - s.m);

        s.l += e * a.l;
        s.t += e * (a.t + a.l * (a.m - s.m));
        s.squares += e * e * a.squares;
        s.distance += e * a.distance;
    }
    if (b.l > 0) {
        double e = exp2(b.m - s.m);

        s.l += e * b.l;
        s.t += e * (b.t + b.l * (b.m - s.m));
        s.squares += e * e * b.squares;
        s.distance += e * b.distance;
    }
    return s;
}

/* Adds MICRO scores, -inf where the row does not see the key; keys: how far each is from the query. Terms under 2^-125
 * of the largest count as zero. */
__device__ __forceinline__ void absorb(struct qk_state *s, const float y[MICRO], const float keys[MICRO])
{
    float max = fmaxf(fmaxf(y[0], y[1]), fmaxf(y[2], y[3]));
    float l = 0, t = 0, squares = 0, distance = 0;

    if (max == -INFINITY)
        return;
    if ((double)max > s->m) {
        struct qk_state higher = {(double)max, 0, 0, 0, -INFINITY, 0};

        *s = merge(*s, higher);
    }
#pragma unroll
    for (int j = 0; j < MICRO; j++) {
        float x = y[j] - (float)s->m;

        if (x > -125) {
            float e = exp2f(x);

            l += e;
            t = fmaf(e, x, t);
            squares = fmaf(e, e, squares);
            distance = fmaf(e, fabsf(keys[j]), distance);
        }
    }
    s->l += (double)l;
    s->t += (double)t;
    s->squares += (double)squares;
    s->distance += (double)distance;
}

/* STEP dimensions of TILE vectors into shared memory, transposed; zeros beyond the last vector or dimension. */
__device__ __forceinline__ void load_step(float to[STEP][TILE + 4], const float *from, size_t n_vectors, size_t dim,
                                          size_t d0)
{
    for (int i = (int)threadIdx.x; i < TILE * STEP; i += BLOCK_THREADS) {
        size_t vector = (size_t)(i / STEP), d = d0 + (size_t)(i % STEP);

        to[i % STEP][vector] = vector < n_vectors && d < dim ? from[vector * dim + d] : 0;
    }
}

/* score[i][j] += q_i . k_j for the thread's rows and keys. q, k: n x dim from the tile's first vector on. */
__device__ __forceinline__ void score_tile(const float *q, size_t n_q, const float *k, size_t n_k, size_t dim,
                                           float score[MICRO][MICRO])
{
    __shared__ float q_step[STEP][TILE + 4];
    __shared__ float k_step[STEP][TILE + 4];
    int row = (int)threadIdx.x / ROW_THREADS * MICRO, key = (int)threadIdx.x % ROW_THREADS;

    for (size_t c = 0; c < dim; c += CHUNK) {
        float sum[MICRO][MICRO] = {};

        for (size_t d0 = c; d0 < dim && d0 < c + CHUNK; d0 += STEP) {
            __syncthreads();
            load_step(q_step, q, n_q, dim, d0);
            load_step(k_step, k, n_k, dim, d0);
            __syncthreads();
#pragma unroll
            for (int d = 0; d < STEP; d++)
#pragma unroll
                for (int i = 0; i < MICRO; i++)
#pragma unroll
                    for (int j = 0; j < MICRO; j++)
                        sum[i][j] = fmaf(q_step[d][row + i], k_step[d][key + j * ROW_THREADS], sum[i][j]);
        }
        for (int i = 0; i < MICRO; i++)
            for (int j = 0; j < MICRO; j++)
                score[i][j] += sum[i][j];
    }
}

/* The span of each of the block's rows, cut to [lo, hi), and in `ret` all that they see together. */
__device__ __forceinline__ struct row_span load_spans(struct row_span to[TILE], const struct row_span *spans,
                                                      size_t n_spans, size_t first, size_t n_rows,
                                                      struct row_span block)
{
    struct row_span all = {block.hi, block.lo};
    int thread = (int)threadIdx.x;

    if (thread < TILE) {
        struct row_span span = {0, 0};

        if ((size_t)thread < n_rows)
            span = spans[(first + (size_t)thread) % n_spans];
        span.lo = span.lo > block.lo ? span.lo : block.lo;
        span.hi = span.hi < block.hi ? span.hi : block.hi;
        to[thread] = span;
    }
    __syncthreads();
    for (int i = 0; i < TILE; i++)
        if (to[i].lo < to[i].hi) {
            all.lo = to[i].lo < all.lo ? to[i].lo : all.lo;
            all.hi = to[i].hi > all.hi ? to[i].hi : all.hi;
        }
    return all;
}

/* q: n_rows x dim, rows first, first + 1 ... of the flattened query heads; k: the keys [block.lo, block.hi) x dim;
 * spans: [n_spans], row r has span r mod n_spans; states: [n_rows], read and written. cap: 0, or the factor of tanh. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    rows_against_keys(const float *q, const float *k, const struct row_span *spans, size_t n_spans, size_t first,
                      size_t n_rows, size_t dim, struct row_span block, float cap, int64_t query_col, int64_t sink_col,
                      struct qk_state *states)
{
    __shared__ struct row_span span[TILE];
    size_t tile_row = (size_t)blockIdx.x * TILE;
    size_t n_tile = n_rows - tile_row < TILE ? n_rows - tile_row : (size_t)TILE;
    int row = (int)threadIdx.x / ROW_THREADS * MICRO, key = (int)threadIdx.x % ROW_THREADS;
    struct qk_state s[MICRO];
    struct row_span all = load_spans(span, spans, n_spans, first + tile_row, n_tile, block);

    for (int i = 0; i < MICRO; i++)
        s[i] = QK_NO_KEY;
    for (size_t j0 = all.lo; j0 < all.hi; j0 += TILE) {
        float score[MICRO][MICRO] = {};

        score_tile(q + tile_row * dim, n_tile, k + (j0 - block.lo) * dim, all.hi - j0, dim, score);
        for (int i = 0; i < MICRO; i++) {
            int64_t query = query_col + (int64_t)((first + tile_row + (size_t)(row + i)) % n_spans);
            float keys[MICRO];

            for (int j = 0; j < MICRO; j++) {
                size_t at = j0 + (size_t)(key + j * ROW_THREADS);

                keys[j] = (float)(query - (int64_t)at);
                if (at < span[row + i].lo || at >= span[row + i].hi)
                    score[i][j] = -INFINITY;
                else if (cap > 0)
                    score[i][j] = cap * tanhf(score[i][j]);
                if ((int64_t)at == sink_col)
                    s[i].sink = (double)score[i][j];
            }
            absorb(&s[i], score[i], keys);
        }
    }
    for (int i = 0; i < MICRO; i++) {
        for (int step = ROW_THREADS / 2; step > 0; step /= 2) {
            struct qk_state other;

            other.m = __shfl_xor_sync(FULL_WARP, s[i].m, step);
            other.l = __shfl_xor_sync(FULL_WARP, s[i].l, step);
            other.t = __shfl_xor_sync(FULL_WARP, s[i].t, step);
            other.squares = __shfl_xor_sync(FULL_WARP, s[i].squares, step);
            other.sink = __shfl_xor_sync(FULL_WARP, s[i].sink, step);
            other.distance = __shfl_xor_sync(FULL_WARP, s[i].distance, step);
            s[i] = merge(s[i], other);
        }
        if (key == 0 && (size_t)(row + i) < n_tile)
            states[tile_row + row + i] = merge(states[tile_row + row + i], s[i]);
    }
}

struct qk_job {
    const struct qk_entropy_args *args;
    struct row_stat *rows;   /* owned; all heads */
    struct qk_keys keys;     /* arrays owned */
    double *scratch;         /* owned; 2 x dim */
    float *host_q, *host_k;  /* owned; chunk_rows x dim, block_keys x dim */
    struct qk_state *states; /* owned; [chunk_rows] */
    struct devbuf dev_q, dev_k, dev_states, dev_spans;
    struct devstream stream;
    struct row_span seen;
    size_t chunk_rows, block_keys;
};

/* Called by AUTO alone, which nvcc does not see. */
[[maybe_unused]] void qk_job_done(struct qk_job *job)
{
    devstream_done(&job->stream);
    devbuf_done(&job->dev_q);
    devbuf_done(&job->dev_k);
    devbuf_done(&job->dev_states);
    devbuf_done(&job->dev_spans);
    free(job->rows);
    free(job->keys.mean);
    free(job->keys.n_bad);
    free(job->scratch);
    free(job->host_q);
    free(job->host_k);
    free(job->states);
}

size_t at_most(size_t n, size_t limit)
{
    return n < limit ? n : limit;
}

enum status qk_job_init(struct qk_job *job, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t vector_bytes = args->dim * sizeof(float);

    job->keys.dtype = args->dtype;
    job->keys.n = args->n_cols;
    job->keys.dim = args->dim;
    job->seen = qk_seen(args);
    job->chunk_rows = at_most(MAX_CHUNK_BYTES / vector_bytes, args->n_heads / args->n_kv_heads * args->n_rows);
    job->block_keys = at_most(MAX_CHUNK_BYTES / vector_bytes, job->seen.hi - job->seen.lo);
    TRY(mem_new(args->n_heads * args->n_rows, sizeof *job->rows, &job->rows, err));
    TRY(mem_new(args->dim, sizeof *job->keys.mean, &job->keys.mean, err));
    TRY(mem_new(args->n_cols + 1, sizeof *job->keys.n_bad, &job->keys.n_bad, err));
    TRY(mem_new(2 * args->dim, sizeof *job->scratch, &job->scratch, err));
    TRY(mem_new(job->chunk_rows, vector_bytes, &job->host_q, err));
    TRY(mem_new(job->block_keys, vector_bytes, &job->host_k, err));
    TRY(mem_new(job->chunk_rows, sizeof *job->states, &job->states, err));
    TRY(devstream_init(&job->stream, err));
    TRY(devbuf_init(&job->dev_q, job->chunk_rows * vector_bytes, err));
    TRY(devbuf_init(&job->dev_k, job->block_keys * vector_bytes, err));
    TRY(devbuf_init(&job->dev_states, job->chunk_rows * sizeof *job->states, err));
    TRY(devbuf_init(&job->dev_spans, args->n_rows * sizeof *args->spans, err));
    CUDA_TRY(cudaMemcpy(job->dev_spans.data, args->spans, args->n_rows * sizeof *args->spans, cudaMemcpyHostToDevice));
    return OK;
}

/* Packs the rows [first, first + n) of the flattened heads and begins those that have not begun. */
void pack_rows(struct qk_job *job, size_t first, size_t n, int is_first_block)
{
    const struct qk_entropy_args *args = job->args;

    for (size_t i = 0; i < n; i++) {
        struct row_stat *row = &job->rows[first + i];
        double norm = qk_query_pack(args->q, args->dtype, first + i, args->dim, qk_query_factor(args), 1, 0,
                                    job->host_q + i * args->dim, job->scratch);

        if (is_first_block)
            *row = qk_row_begin(args, &job->keys, (first + i) % args->n_rows, norm, job->scratch);
        job->states[i] = QK_NO_KEY;
        if (row->status == QK_PENDING)
            job->states[i] = qk_row_state(row);
    }
}

enum status launch(const struct qk_job *job, size_t first, size_t n, struct row_span block, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    unsigned grid = (unsigned)((n + TILE - 1) / TILE); /* n is limited by MAX_CHUNK_BYTES */
    float cap = args->softcap > 0 ? (float)qk_softcap_factor(args) : 0;

    LAUNCH(rows_against_keys, grid, BLOCK_THREADS, 0, job->stream.stream, (const float *)job->dev_q.data,
           (const float *)job->dev_k.data, (const struct row_span *)job->dev_spans.data, args->n_rows, first, n,
           args->dim, block, cap, args->query_col, args->sink_col, (struct qk_state *)job->dev_states.data);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

/* Rows [first, first + n) of the flattened heads against the block of keys that is on the device. */
enum status run_rows(struct qk_job *job, size_t first, size_t n, struct row_span block, struct error *err)
{
    cudaStream_t stream = job->stream.stream;
    size_t state_bytes = n * sizeof *job->states;

    pack_rows(job, first, n, block.lo == job->seen.lo);
    if (block.lo >= block.hi)
        return OK;
    CUDA_TRY(cudaMemcpyAsync(job->dev_q.data, job->host_q, n * job->args->dim * sizeof(float), cudaMemcpyHostToDevice,
                             stream));
    CUDA_TRY(cudaMemcpyAsync(job->dev_states.data, job->states, state_bytes, cudaMemcpyHostToDevice, stream));
    TRY(launch(job, first, n, block, err));
    CUDA_TRY(cudaMemcpyAsync(job->states, job->dev_states.data, state_bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < n; i++)
        if (job->rows[first + i].status == QK_PENDING)
            qk_row_hold(&job->rows[first + i], job->states[i]);
    return OK;
}

/* All query heads of one key head: they follow each other, so their rows are one long list. */
enum status run_key_head(struct qk_job *job, size_t kv_head, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t n_rows = args->n_heads / args->n_kv_heads * args->n_rows;
    size_t lo = job->seen.lo;

    job->keys.k = (const char *)args->k + kv_head * args->n_cols * args->dim * dtype_bytes(args->dtype);
    qk_keys_survey(&job->keys, job->seen.lo, job->seen.hi, !(args->softcap > 0), job->scratch);
    do {
        struct row_span block = {(uint32_t)lo, (uint32_t)at_most(lo + job->block_keys, job->seen.hi)};
        size_t bytes = (block.hi - block.lo) * args->dim * sizeof(float);

        qk_keys_pack(&job->keys, block.lo, block.hi, 1, job->host_k, job->scratch);
        CUDA_TRY(cudaMemcpyAsync(job->dev_k.data, job->host_k, bytes, cudaMemcpyHostToDevice, job->stream.stream));
        for (size_t i = 0; i < n_rows; i += job->chunk_rows)
            TRY(run_rows(job, kv_head * n_rows + i, at_most(job->chunk_rows, n_rows - i), block, err));
        lo += job->block_keys;
    } while (lo < job->seen.hi);
    CUDA_TRY(cudaStreamSynchronize(job->stream.stream));
    return OK;
}

} /* namespace */

extern "C" enum status qk_entropy_cuda(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err)
{
    AUTO(qk_job) job = {};

    TRY(qk_check(args, err));
    if (args->n_heads == 0 || args->n_rows == 0)
        return OK;
    job.args = args;
    TRY(qk_job_init(&job, err));
    for (size_t kv_head = 0; kv_head < args->n_kv_heads; kv_head++)
        TRY(run_key_head(&job, kv_head, err));
    for (size_t i = 0; i < args->n_heads * args->n_rows; i++)
        ret[i] = qk_row_finish(&job.rows[i]);
    return OK;
}
