/* Statistics from queries and keys on the GPU.
 *
 * Work split: as many key heads as the memory limit allows are on the device together, with the query heads that read
 * them. Scores are made in tiles of at most TILE_KEYS keys, SLOT_BYTES of them at a time, so that they stay in the L2
 * cache; cuBLAS writes a tile, absorb_scores() reads it once, and two streams take turns, so that one multiplies while
 * the other adds up. Tiles that no row sees are never made. Traffic of the cache: 8 bytes a pair; arithmetic: 2 dim
 * (floats) or 4 dim (halves, qk_device.cuh) operations of the multiplier and some 20 instructions a pair. */
#include "kernels/device_time.h"
#include "kernels/qk_job.cuh"
#include "kernels/row_finish.h"

#include <math.h>

namespace
{

/* Norms up to this multiply and add up in float without overflow. */
const double MAX_FAST_NORM = 0x1p60;

/* What the halves leave out is then under 1e-6 of an exponent of two. */
const double MAX_HALF_SCORE = 0x1p19;

/* Vectors [first, first + n) of each of n_heads heads of n_all, from head `head` on. */
enum status upload(struct qk_job *job, struct devbuf *to, const void *from, size_t head, size_t n_heads, size_t n_all,
                   size_t first, size_t n, struct error *err)
{
    size_t bytes = job->args->dim * dtype_bytes(job->args->dtype);
    const char *source = (const char *)from + (head * n_all + first) * bytes;

    if (n == n_all) {
        CUDA_TRY(cudaMemcpyAsync(to->data, source, n_heads * n * bytes, cudaMemcpyHostToDevice, job->stream.stream));
        return OK;
    }
    for (size_t h = 0; h < n_heads; h++)
        CUDA_TRY(cudaMemcpyAsync((char *)to->data + h * n * bytes, source + h * n_all * bytes, n * bytes,
                                 cudaMemcpyHostToDevice, job->stream.stream));
    return OK;
}

struct vectors vectors_on(const struct qk_job *job, const struct devbuf *data, size_t n_heads, size_t n)
{
    struct vectors v = {data->data, job->args->dtype, n_heads, n, job->args->dim};

    return v;
}

/* The number of keys from `lo` on that the device takes at a time. */
size_t keys_of_block(const struct qk_job *job, size_t lo)
{
    return clamp(job->block_keys, 0, job->seen.hi - lo);
}

enum status upload_keys(struct qk_job *job, size_t kv_head, size_t n_heads, size_t lo, struct error *err)
{
    return upload(job, &job->raw_k, job->args->k, kv_head, n_heads, job->args->n_cols, lo, keys_of_block(job, lo), err);
}

/* Norms and sums of a block of keys. */
enum status survey_block(struct qk_job *job, size_t n_heads, size_t lo, struct error *err)
{
    size_t n = keys_of_block(job, lo), at = lo - job->seen.lo;
    struct vectors v = vectors_on(job, &job->raw_k, n_heads, n);
    double *norms = (double *)job->dev_key_norms.data;

    LAUNCH(survey_vectors, dim3(blocks(n, PACK_THREADS / WARP_SIZE), (unsigned)n_heads), PACK_THREADS, 0,
           job->stream.stream, v, n, norms, job->n_seen, at, (const double *)NULL, (size_t)1, (double *)NULL);
    CUDA_TRY(cudaGetLastError());
    LAUNCH(sum_keys, dim3(blocks(n, SLICE_KEYS), (unsigned)n_heads), PACK_THREADS, 0, job->stream.stream, v, n, norms,
           job->n_seen, at, (double *)job->sums.data, job->n_slices);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

/* What the host keeps of the keys' norms. */
void count_keys(struct qk_job *job, size_t n_heads)
{
    for (size_t h = 0; h < n_heads; h++) {
        const double *norms = job->key_norms + h * job->n_seen;
        uint32_t *n_bad = job->n_bad + h * (job->n_seen + 1);

        job->max_norms[h] = 0;
        n_bad[0] = 0;
        for (size_t j = 0; j < job->n_seen; j++) {
            n_bad[j + 1] = n_bad[j] + (isnan(norms[j]) ? 1 : 0);
            if (norms[j] > job->max_norms[h])
                job->max_norms[h] = norms[j];
        }
        job->n_good[h] = (double)(job->n_seen - n_bad[job->n_seen]);
    }
}

/* The keys of n_heads heads from kv_head on: which are good, their mean, how long they are. */
enum status survey_keys(struct qk_job *job, size_t kv_head, size_t n_heads, struct error *err)
{
    size_t dim = job->args->dim, mean_bytes = n_heads * dim * sizeof(double);
    cudaStream_t stream = job->stream.stream;

    for (size_t lo = job->seen.lo; lo < job->seen.hi; lo += job->block_keys) {
        TRY(upload_keys(job, kv_head, n_heads, lo, err));
        TRY(survey_block(job, n_heads, lo, err));
    }
    CUDA_TRY(cudaMemcpyAsync(job->key_norms, job->dev_key_norms.data, n_heads * job->n_seen * sizeof(double),
                             cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    count_keys(job, n_heads);
    if (job->args->softcap > 0)
        memset(job->n_good, 0, n_heads * sizeof *job->n_good); /* tanh is not indifferent to a shift: no mean */
    CUDA_TRY(
        cudaMemcpyAsync(job->dev_n_good.data, job->n_good, n_heads * sizeof(double), cudaMemcpyHostToDevice, stream));
    LAUNCH(mean_keys, (unsigned)n_heads, PACK_THREADS, 0, stream, (const double *)job->sums.data, job->n_slices, dim,
           (const double *)job->dev_n_good.data, (double *)job->mean.data);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(job->means, job->mean.data, mean_bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    for (size_t h = 0; h < n_heads; h++) {
        double squares = 0;

        for (size_t d = 0; d < dim; d++)
            squares += job->means[h * dim + d] * job->means[h * dim + d];
        job->max_norms[h] += sqrt(squares);
    }
    return OK;
}

/* One batch of key heads and one chunk of the rows of all query heads that read them. */
struct qk_chunk {
    size_t kv_head, n_kv, head, n_heads, first, n; /* rows [first, first + n) of each head */
    enum gemm_type type;
    size_t depth;
    double q_scale, k_scale, factor; /* of what is packed, and of the scores */
};

/* A row that only the CPU can take: vectors so long that float could overflow. */
enum status slow_row(struct qk_job *job, size_t head, size_t row, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t vector = args->dim * dtype_bytes(args->dtype), index = head * args->n_rows + row;
    struct qk_entropy_args one = *args;

    one.q = (const char *)args->q + index * vector;
    one.k = (const char *)args->k + head / job->group * args->n_cols * vector;
    one.spans = args->spans + row;
    one.n_heads = one.n_kv_heads = one.n_rows = 1;
    one.skip_k90 = true;
    one.query_col = args->query_col + (int64_t)row;
    one.profile = args->profile ? job->profile + head * PROFILE_BUCKETS : NULL;
    one.lse = args->lse ? job->lse + index : NULL;
    return qk_entropy_cpu(&one, &job->rows[index], err);
}

/* What is known of a row before any score; `norm`: of its query, before the factor. */
enum status begin_row(struct qk_job *job, const struct qk_chunk *c, size_t head, size_t row, double norm,
                      struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t kv = (head - c->head) / job->group, index = head * args->n_rows + row;
    struct row_span span = args->spans[row];
    const uint32_t *n_bad = job->n_bad + kv * (job->n_seen + 1);

    job->lse[index] = NAN;
    if (span.lo >= span.hi) {
        job->rows[index] = row_without_value(ROW_EMPTY, 0);
        job->lse[index] = -INFINITY;
        return OK;
    }
    job->rows[index] = row_without_value(ROW_NAN, span.hi - span.lo);
    if (isnan(norm) || n_bad[span.hi - job->seen.lo] != n_bad[span.lo - job->seen.lo])
        return OK;
    if (!(norm * fabs(qk_query_factor(args)) <= MAX_FAST_NORM) || !(job->max_norms[kv] <= MAX_FAST_NORM))
        return slow_row(job, head, row, err);
    job->rows[index].status = QK_PENDING;
    return OK;
}

/* The power of two that brings numbers up to `max` below 2^14. */
double scale_of(double max)
{
    return max > 0 ? ldexp(1, 13 - ilogb(max)) : 1;
}

void choose_type(struct qk_job *job, struct qk_chunk *c, double q_max)
{
    const struct qk_entropy_args *args = job->args;
    double k_max = 0, factor = qk_query_factor(args);

    for (size_t h = 0; h < c->n_kv; h++)
        k_max = fmax(k_max, job->max_norms[h]);
    c->type = dtype_bytes(args->dtype) <= 2 && fabs(factor) * q_max * k_max * sqrt((double)args->dim) <= MAX_HALF_SCORE
                  ? GEMM_F16
                  : GEMM_F32;
    c->depth = c->type == GEMM_F16 ? 2 * round_up(args->dim, 8) : round_up(args->dim, 4);
    c->q_scale = c->type == GEMM_F16 ? scale_of(q_max) : factor;
    c->k_scale = c->type == GEMM_F16 ? scale_of(k_max) : 1;
    c->factor = c->type == GEMM_F16 ? factor / c->q_scale / c->k_scale : 1;
}

enum status survey_queries(struct qk_job *job, const struct qk_chunk *c, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    cudaStream_t stream = job->stream.stream;
    size_t bytes = c->n_heads * c->n * sizeof(double);
    double *shifts = args->lse ? (double *)job->dev_shifts.data : NULL;

    TRY(upload(job, &job->raw_q, args->q, c->head, c->n_heads, args->n_rows, c->first, c->n, err));
    LAUNCH(survey_vectors, dim3(blocks(c->n, PACK_THREADS / WARP_SIZE), (unsigned)c->n_heads), PACK_THREADS, 0, stream,
           vectors_on(job, &job->raw_q, c->n_heads, c->n), c->n, (double *)job->dev_q_norms.data, c->n, (size_t)0,
           (const double *)job->mean.data, job->group, shifts);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(job->q_norms, job->dev_q_norms.data, bytes, cudaMemcpyDeviceToHost, stream));
    if (shifts)
        CUDA_TRY(cudaMemcpyAsync(job->shifts, shifts, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return OK;
}

/* Queries of the chunk, packed; their rows begun. */
enum status begin_chunk(struct qk_job *job, struct qk_chunk *c, struct error *err)
{
    size_t n = c->n_heads * c->n;
    cudaStream_t stream = job->stream.stream;
    struct packing p = {};
    double q_max = 0;

    TRY(survey_queries(job, c, err));
    for (size_t i = 0; i < n; i++) {
        size_t head = c->head + i / c->n, row = c->first + i % c->n;

        TRY(begin_row(job, c, head, row, job->q_norms[i], err));
        job->is_pending[i] = job->rows[head * job->args->n_rows + row].status == QK_PENDING;
        if (job->is_pending[i])
            q_max = fmax(q_max, job->q_norms[i]);
    }
    choose_type(job, c, q_max);
    p.to = job->q.data;
    p.n = p.to_vectors = p.norm_stride = c->n;
    p.depth = c->depth;
    p.type = c->type;
    p.norms = (const double *)job->dev_q_norms.data;
    p.factor = c->q_scale;
    LAUNCH(pack_vectors,
           dim3(blocks(c->n * c->depth / (c->type == GEMM_F16 ? 2 : 1), PACK_THREADS), (unsigned)c->n_heads),
           PACK_THREADS, 0, stream, vectors_on(job, &job->raw_q, c->n_heads, c->n), p);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(job->dev_is_pending.data, job->is_pending, n, cudaMemcpyHostToDevice, stream));
    LAUNCH(begin_states, blocks(n, PACK_THREADS), PACK_THREADS, 0, stream, (struct score_state *)job->dev_states.data,
           (double *)job->buckets.data, n);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

enum status pack_keys(struct qk_job *job, const struct qk_chunk *c, size_t lo, struct error *err)
{
    size_t n = keys_of_block(job, lo), half = c->depth / (c->type == GEMM_F16 ? 2 : 1);
    struct packing p = {};

    if (job->block_keys < job->n_seen) /* else they are there since the survey */
        TRY(upload_keys(job, c->kv_head, c->n_kv, lo, err));
    p.to = job->k.data;
    p.n = n;
    p.to_vectors = job->block_keys;
    p.depth = c->depth;
    p.type = c->type;
    p.mean = (const double *)job->mean.data;
    p.norms = (const double *)job->dev_key_norms.data;
    p.norm_stride = job->n_seen;
    p.at = lo - job->seen.lo;
    p.factor = c->k_scale;
    LAUNCH(pack_vectors, dim3(blocks(n * half, PACK_THREADS), (unsigned)c->n_kv), PACK_THREADS, 0, job->stream.stream,
           vectors_on(job, &job->raw_k, c->n_kv, n), p);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

/* Rows [row, row + n) of the chunk, of some heads that may be multiplied together. */
struct unit {
    size_t head, n_heads, row, n; /* counted in the chunk */
    int slot;
};

/* The keys [keys.lo, keys.hi) of the block that begins at key `block` against the rows of a unit. */
enum status run_tile(struct qk_job *job, const struct qk_chunk *c, const struct unit *u, size_t block,
                     struct row_span keys, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t bytes = c->type == GEMM_F16 ? 2 : 4, kv = u->head / job->group;
    struct qk_slot *slot = &job->slots[u->slot];
    struct gemm_tile g = {};
    struct score_tile t = {};

    g.q = (const char *)job->q.data + (u->head * c->n + u->row) * c->depth * bytes;
    g.k = (const char *)job->k.data + (kv * job->block_keys + keys.lo - block) * c->depth * bytes;
    g.scores = (float *)slot->scores.data;
    g.type = c->type;
    g.n_heads = u->n_heads;
    g.n_rows = u->n;
    g.n_keys = keys.hi - keys.lo;
    g.depth = c->depth;
    g.pitch = job->pitch;
    g.q_stride = c->n * c->depth;
    g.k_stride = job->group > 1 ? 0 : job->block_keys * c->depth;
    g.score_stride = u->n * job->pitch;
    TRY(gemm_start(&g, u->slot, slot->stream.stream, err));
    t.scores = g.scores;
    t.pitch = g.pitch;
    t.head_stride = g.score_stride;
    t.spans = (const struct row_span *)job->spans.data;
    t.first_row = c->first + u->row;
    t.n_rows = u->n;
    t.first_key = keys.lo;
    t.n_keys = keys.hi - keys.lo;
    t.factor = (float)c->factor;
    t.cap = args->softcap > 0 ? (float)qk_softcap_factor(args) : 0;
    t.query_col = args->query_col;
    t.sink_col = args->sink_col;
    t.states = (struct score_state *)job->dev_states.data + u->head * c->n;
    t.buckets = job->buckets.data ? (double *)job->buckets.data + u->head * c->n * PROFILE_BUCKETS : NULL;
    t.first_state = u->row;
    t.state_stride = c->n;
    LAUNCH(absorb_scores, dim3((unsigned)u->n, (unsigned)u->n_heads), SCORE_THREADS, 0, slot->stream.stream, t);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

/* The block of keys from `lo` on against all rows of the chunk. A unit's tiles follow each other on one stream. */
enum status run_block(struct qk_job *job, const struct qk_chunk *c, size_t lo, struct error *err)
{
    size_t hi = lo + keys_of_block(job, lo), together = job->group > 1 ? job->group : c->n_heads;
    struct unit u = {};

    for (u.row = 0; u.row < c->n; u.row += job->tile_rows) {
        size_t n = clamp(job->tile_rows, 0, c->n - u.row);
        size_t fit = clamp(job->slot_bytes / (n * job->pitch * sizeof(float)), 1, together);
        struct row_span seen = seen_by(job->args, c->first + u.row, n, lo, hi);

        u.n = n;
        for (u.head = 0; u.head < c->n_heads; u.head += u.n_heads) {
            u.n_heads = clamp(fit, 1, together - u.head % together);
            u.slot = (u.slot + 1) % GEMM_SLOTS;
            for (size_t j = seen.lo; j < seen.hi; j += TILE_KEYS) {
                struct row_span keys = {(uint32_t)j, (uint32_t)clamp(j + TILE_KEYS, 0, seen.hi)};

                TRY(run_tile(job, c, &u, lo, keys, err));
            }
        }
    }
    return OK;
}

struct row_stat finish_row(const struct qk_entropy_args *args, struct row_span span, const struct score_state *s,
                           double shift, double *ret_lse)
{
    struct row_stat row = row_without_value(ROW_OK, span.hi - span.lo);
    double bits = log2(s->l) - s->t / s->l;

    if (isinf(s->m))
        row.status = s->m > 0 ? ROW_INF : ROW_ZERO;
    else if (isnan(s->t) || !(s->l > 0))
        row.status = ROW_NAN;
    if (row.status != ROW_OK)
        return row;
    row.sum = 1;
    row.entropy_bits = bits > 0 ? fmin(bits, log2(row.n_keys)) : 0;
    row.max_weight = 1 / s->l;
    row.square_sum = s->squares / (s->l * s->l);
    row.sink_weight = s->sink / s->l;
    row.sink4_weight = s->sink4 / s->l;
    row.distance = s->distance / s->l;
    row.sees_sink = args->sink_col >= span.lo && args->sink_col < span.hi;
    *ret_lse = (s->m + log2(s->l)) * 0x1.62e42fefa39efp-1 + args->scale * shift;
    return row;
}

enum status finish_chunk(struct qk_job *job, const struct qk_chunk *c, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t n = c->n_heads * c->n;
    cudaStream_t stream = job->stream.stream;

    for (int i = 0; i < GEMM_SLOTS; i++)
        CUDA_TRY(cudaStreamSynchronize(job->slots[i].stream.stream));
    if (args->profile) {
        LAUNCH(add_profiles, dim3(blocks(c->n, PACK_THREADS / WARP_SIZE), (unsigned)c->n_heads), PACK_THREADS, 0,
               stream, (const struct score_state *)job->dev_states.data, (const double *)job->buckets.data,
               (const unsigned char *)job->dev_is_pending.data, c->n, c->n,
               (unsigned long long *)job->dev_profile.data + c->head * PROFILE_BUCKETS);
        CUDA_TRY(cudaGetLastError());
    }
    CUDA_TRY(
        cudaMemcpyAsync(job->states, job->dev_states.data, n * sizeof *job->states, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < n; i++) {
        size_t row = c->first + i % c->n, index = (c->head + i / c->n) * args->n_rows + row;

        if (job->is_pending[i])
            job->rows[index] =
                finish_row(args, args->spans[row], &job->states[i], args->lse ? job->shifts[i] : 0, &job->lse[index]);
    }
    return OK;
}

/* n_kv key heads from kv_head on, and all query heads that read them. */
enum status run_batch(struct qk_job *job, size_t kv_head, size_t n_kv, struct error *err)
{
    struct qk_chunk c = {};

    c.kv_head = kv_head;
    c.n_kv = n_kv;
    c.head = kv_head * job->group;
    c.n_heads = n_kv * job->group;
    TRY(survey_keys(job, kv_head, n_kv, err));
    for (c.first = 0; c.first < job->args->n_rows; c.first += job->chunk_rows) {
        c.n = clamp(job->chunk_rows, 0, job->args->n_rows - c.first);
        TRY(begin_chunk(job, &c, err));
        for (size_t lo = job->seen.lo; lo < job->seen.hi; lo += job->block_keys) {
            TRY(pack_keys(job, &c, lo, err));
            CUDA_TRY(cudaStreamSynchronize(job->stream.stream));
            TRY(run_block(job, &c, lo, err));
            for (int i = 0; i < GEMM_SLOTS; i++)
                CUDA_TRY(cudaStreamSynchronize(job->slots[i].stream.stream));
        }
        TRY(finish_chunk(job, &c, err));
    }
    return OK;
}

/* The last step: nothing fails after it has written. */
enum status hand_out(struct qk_job *job, struct row_stat *ret, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t n = args->n_heads * PROFILE_BUCKETS, n_rows = args->n_heads * args->n_rows;

    if (args->profile) {
        uint64_t *device = NULL;
        cudaError_t code;

        TRY(mem_new(n, sizeof *device, &device, err));
        code = cudaMemcpy(device, job->dev_profile.data, n * sizeof *device, cudaMemcpyDeviceToHost);
        for (size_t i = 0; code == cudaSuccess && i < n; i++)
            args->profile[i] += device[i] + job->profile[i];
        free(device);
        CUDA_TRY(code);
    }
    if (args->lse)
        memcpy(args->lse, job->lse, n_rows * sizeof *args->lse);
    memcpy(ret, job->rows, n_rows * sizeof *ret);
    return OK;
}

} /* namespace */

extern "C" enum status qk_entropy_cuda(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err)
{
    AUTO(qk_job) job = {};

    TRY(qk_check(args, err));
    if (args->n_heads == 0 || args->n_rows == 0)
        return OK;
    TRY(qk_job_init(&job, args, err));
    for (size_t kv = 0; kv < args->n_kv_heads; kv += job.batch_heads)
        TRY(run_batch(&job, kv, clamp(job.batch_heads, 0, args->n_kv_heads - kv), err));
    return hand_out(&job, ret, err);
}

extern "C" enum status qk_entropy_time(const struct qk_entropy_args *args, int n_runs, double *ret_seconds,
                                       struct error *err)
{
    AUTO(qk_job) job = {};
    AUTO(devtimer) timer = {};
    struct qk_chunk c = {};
    double best = INFINITY;

    TRY(qk_check(args, err));
    TRY(qk_job_init(&job, args, err));
    if (job.batch_heads < args->n_kv_heads || job.chunk_rows < args->n_rows || job.block_keys < job.n_seen)
        return error_set(err, ERR_LIMIT, "%zu heads of %zu rows do not fit the device memory allowed", args->n_heads,
                         args->n_rows);
    c.n_kv = args->n_kv_heads;
    c.n_heads = args->n_heads;
    c.n = args->n_rows;
    TRY(survey_keys(&job, 0, c.n_kv, err));
    TRY(begin_chunk(&job, &c, err));
    TRY(pack_keys(&job, &c, job.seen.lo, err));
    TRY(devtimer_init(&timer, err));
    for (int i = 0; i < n_runs; i++) {
        double seconds = 0;

        TRY(devtimer_begin(&timer, err)); /* the default stream waits for the others, and they for it */
        TRY(run_block(&job, &c, job.seen.lo, err));
        TRY(devtimer_end(&timer, &seconds, err));
        best = seconds < best ? seconds : best;
    }
    *ret_seconds = best;
    return OK;
}
