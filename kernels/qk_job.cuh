/* qk_job.cuh - the buffers of one call of qk_entropy_cuda(), and how its work is cut to fit the memory. */
#ifndef KERNELS_QK_JOB_CUH
#define KERNELS_QK_JOB_CUH

#include "core/base/mem.h"
#include "kernels/device_memory.h"
#include "kernels/qk_device.cuh"
#include "kernels/qk_rows.h"
#include "kernels/qk_scores.cuh"

#include <stdlib.h>

namespace
{

enum { MAX_GRID_Y = 65535, MIN_TILE_ROWS = 64, MAX_TILE_ROWS = 1024 };

const size_t SLOT_BYTES = (size_t)16 << 20;

struct qk_slot {
    struct devstream stream;
    struct devbuf scores;
};

struct qk_job {
    const struct qk_entropy_args *args;
    struct row_span seen;
    size_t group, n_seen, n_slices;
    size_t batch_heads, block_keys, chunk_rows, tile_rows, pitch, slot_bytes; /* batch_heads: key heads */
    size_t vector_bytes;                                                      /* of a packed vector, at most */

    struct row_stat *rows;      /* owned; all heads; status QK_PENDING: its state is on the device */
    double *lse;                /* owned; all heads                                                */
    uint64_t *profile;          /* owned; of the rows that the host took                           */
    uint32_t *n_bad;            /* owned; batch_heads x (n_seen + 1): not finite among the first j  */
    double *key_norms, *n_good; /* owned; batch_heads x n_seen; batch_heads                        */
    double *means;              /* owned; batch_heads x dim                                        */
    double *max_norms;          /* owned; batch_heads                                              */
    double *q_norms, *shifts;   /* owned; heads x chunk_rows                                       */
    unsigned char *is_pending;  /* owned; heads x chunk_rows                                       */
    struct score_state *states; /* owned; heads x chunk_rows                                       */

    struct devbuf raw_k, raw_q, k, q, dev_key_norms, dev_q_norms, dev_shifts, sums, dev_n_good, mean, spans;
    struct devbuf dev_states, buckets, dev_is_pending, dev_profile;
    struct devstream stream; /* copies and packs */
    struct qk_slot slots[GEMM_SLOTS];
};

/* Called by AUTO alone, which nvcc does not see. */
[[maybe_unused]] void qk_job_done(struct qk_job *job)
{
    struct devbuf *buffers[] = {&job->raw_k,         &job->raw_q,          &job->k,          &job->q,
                                &job->dev_key_norms, &job->dev_q_norms,    &job->dev_shifts, &job->sums,
                                &job->dev_n_good,    &job->mean,           &job->spans,      &job->dev_states,
                                &job->buckets,       &job->dev_is_pending, &job->dev_profile};
    void *arrays[] = {job->rows,  job->lse,       job->profile, job->n_bad,  job->key_norms,  job->n_good,
                      job->means, job->max_norms, job->q_norms, job->shifts, job->is_pending, job->states};

    devstream_done(&job->stream);
    for (int i = 0; i < GEMM_SLOTS; i++) {
        devstream_done(&job->slots[i].stream);
        devbuf_done(&job->slots[i].scores);
    }
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        devbuf_done(buffers[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

size_t clamp(size_t n, size_t least, size_t most)
{
    n = n > least ? n : least;
    return n < most ? n : most;
}

size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

unsigned blocks(size_t n, size_t per_block)
{
    return (unsigned)((n + per_block - 1) / per_block);
}

/* Three eighths of the memory for keys, as much for queries and their rows, a quarter for scores. */
void plan(struct qk_job *job)
{
    const struct qk_entropy_args *args = job->args;
    size_t memory = device_memory(), share = memory / 8 * 3, raw = args->dim * dtype_bytes(args->dtype);
    size_t per_key = raw + job->vector_bytes + sizeof(double) + args->dim * sizeof(double) / SLICE_KEYS + 1;
    size_t per_row = raw + job->vector_bytes + 2 * sizeof(double) + sizeof(struct score_state) +
                     (args->profile ? PROFILE_BUCKETS * sizeof(double) : 0) + 1;

    job->block_keys = job->n_seen;
    job->batch_heads = clamp(share / per_key / clamp(job->n_seen, 1, SIZE_MAX), 1, args->n_kv_heads);
    job->batch_heads = clamp(job->batch_heads, 1, clamp(MAX_GRID_Y / job->group, 1, MAX_GRID_Y));
    if (share / per_key < job->n_seen)
        job->block_keys = clamp(share / per_key / SLICE_KEYS, 1, SIZE_MAX) * SLICE_KEYS;
    job->block_keys = clamp(job->block_keys, 1, clamp(job->n_seen, 1, SIZE_MAX));
    job->chunk_rows = clamp(share / per_row / (job->batch_heads * job->group), 1, args->n_rows);
    job->slot_bytes = clamp(memory / 8, (size_t)1 << 20, SLOT_BYTES);
    job->pitch = round_up(clamp(job->n_seen, 1, TILE_KEYS), 4);
    job->tile_rows = clamp(round_up(args->n_rows / 8, MIN_TILE_ROWS), MIN_TILE_ROWS, MAX_TILE_ROWS);
    job->tile_rows = clamp(job->tile_rows, 1, job->slot_bytes / (job->pitch * sizeof(float)));
    job->tile_rows = clamp(job->tile_rows, 1, job->chunk_rows);
}

enum status new_host(struct qk_job *job, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t n_rows = args->n_heads * args->n_rows, n_chunk = job->batch_heads * job->group * job->chunk_rows;

    TRY(mem_new(n_rows, sizeof *job->rows, &job->rows, err));
    TRY(mem_new(n_rows, sizeof *job->lse, &job->lse, err));
    TRY(mem_new(args->n_heads * PROFILE_BUCKETS, sizeof *job->profile, &job->profile, err));
    TRY(mem_new(job->batch_heads * (job->n_seen + 1), sizeof *job->n_bad, &job->n_bad, err));
    TRY(mem_new(job->batch_heads * job->n_seen, sizeof *job->key_norms, &job->key_norms, err));
    TRY(mem_new(job->batch_heads, sizeof *job->n_good, &job->n_good, err));
    TRY(mem_new(job->batch_heads * args->dim, sizeof *job->means, &job->means, err));
    TRY(mem_new(job->batch_heads, sizeof *job->max_norms, &job->max_norms, err));
    TRY(mem_new(n_chunk, sizeof *job->q_norms, &job->q_norms, err));
    TRY(mem_new(n_chunk, sizeof *job->shifts, &job->shifts, err));
    TRY(mem_new(n_chunk, sizeof *job->is_pending, &job->is_pending, err));
    return mem_new(n_chunk, sizeof *job->states, &job->states, err);
}

enum status new_device(struct qk_job *job, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t raw = args->dim * dtype_bytes(args->dtype), n_keys = job->batch_heads * job->block_keys;
    size_t n_rows = job->batch_heads * job->group * job->chunk_rows;

    TRY(devbuf_init(&job->raw_k, n_keys * raw, err));
    TRY(devbuf_init(&job->k, n_keys * job->vector_bytes, err));
    TRY(devbuf_init(&job->dev_key_norms, job->batch_heads * job->n_seen * sizeof(double), err));
    TRY(devbuf_init(&job->sums, job->batch_heads * job->n_slices * args->dim * sizeof(double), err));
    TRY(devbuf_init(&job->dev_n_good, job->batch_heads * sizeof(double), err));
    TRY(devbuf_init(&job->mean, job->batch_heads * args->dim * sizeof(double), err));
    TRY(devbuf_init(&job->raw_q, n_rows * raw, err));
    TRY(devbuf_init(&job->q, n_rows * job->vector_bytes, err));
    TRY(devbuf_init(&job->dev_q_norms, n_rows * sizeof(double), err));
    TRY(devbuf_init(&job->dev_shifts, n_rows * sizeof(double), err));
    TRY(devbuf_init(&job->dev_states, n_rows * sizeof(struct score_state), err));
    TRY(devbuf_init(&job->dev_is_pending, n_rows, err));
    TRY(devbuf_init(&job->spans, args->n_rows * sizeof *args->spans, err));
    CUDA_TRY(cudaMemcpy(job->spans.data, args->spans, args->n_rows * sizeof *args->spans, cudaMemcpyHostToDevice));
    if (args->profile) {
        size_t bytes = args->n_heads * PROFILE_BUCKETS * sizeof(uint64_t);

        TRY(devbuf_init(&job->buckets, n_rows * PROFILE_BUCKETS * sizeof(double), err));
        TRY(devbuf_init(&job->dev_profile, bytes, err));
        CUDA_TRY(cudaMemset(job->dev_profile.data, 0, bytes));
    }
    TRY(devstream_init(&job->stream, err));
    for (int i = 0; i < GEMM_SLOTS; i++) {
        TRY(devstream_init(&job->slots[i].stream, err));
        TRY(devbuf_init(&job->slots[i].scores, job->slot_bytes, err));
    }
    return OK;
}

enum status qk_job_init(struct qk_job *job, const struct qk_entropy_args *args, struct error *err)
{
    job->args = args;
    job->group = args->n_heads / args->n_kv_heads;
    if (job->group > MAX_GRID_Y)
        return error_set(err, ERR_LIMIT, "%zu query heads read one key head: the GPU takes %d; use the device cpu",
                         job->group, (int)MAX_GRID_Y);
    job->seen = qk_seen(args);
    job->n_seen = job->seen.hi - job->seen.lo;
    job->n_slices = (job->n_seen + SLICE_KEYS - 1) / SLICE_KEYS;
    job->vector_bytes = round_up(args->dim, 8) * sizeof(float);
    plan(job);
    TRY(gemm_ready(err));
    TRY(devbuf_keep_pool(err));
    TRY(new_host(job, err));
    return new_device(job, err);
}

/* The keys of [lo, hi) that any of these rows sees. */
struct row_span seen_by(const struct qk_entropy_args *args, size_t first, size_t n, size_t lo, size_t hi)
{
    struct row_span seen = {(uint32_t)hi, (uint32_t)lo};

    for (size_t i = first; i < first + n; i++) {
        struct row_span span = args->spans[i];

        if (span.lo >= span.hi)
            continue;
        seen.lo = span.lo < seen.lo ? span.lo : seen.lo;
        seen.hi = span.hi > seen.hi ? span.hi : seen.hi;
    }
    seen.lo = seen.lo > lo ? seen.lo : (uint32_t)lo;
    seen.hi = seen.hi < hi ? seen.hi : (uint32_t)hi;
    return seen;
}

} /* namespace */

#endif
