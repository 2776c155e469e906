/* Statistics of stored weights and scores on the GPU.
 *
 * Work split: a block per row, of one warp for short rows and of up to 512 threads for long ones; a grid that fills the
 * device goes over all rows. Rows of 65,536 columns and more are cut into parts, a block each (row_long.cuh). A thread
 * reads 16 bytes at a time, several of them in flight. The sums take one read of device memory; scores are read a
 * second time, and k90 some eight times, out of the caches that the first read filled. Bound by reading memory once for
 * the sums, by instructions with k90 (README.md has figures).
 *
 * Sums meet in a fixed tree and profiles are whole numbers: the same bits on every run. Rows that floats cannot hold
 * (a NaN, an infinity, a sum far from 1) are marked, and taken in double on the host. */
#include "core/base/mem.h"
#include "kernels/device_memory.h"
#include "kernels/device_time.h"
#include "kernels/row_finish.h"
#include "kernels/row_long.cuh"

#include <math.h>
#include <stdlib.h>

namespace
{

enum { N_SLOTS = 2 };

/* A multiprocessor holds so many blocks and threads. */
enum { SM_BLOCKS = 32, SM_THREADS = 2048 };

/* Long rows are read again and again by launches of their own: they should still be in the L2 cache. */
const size_t CHUNK_BYTES = (size_t)128 << 20, LONG_CHUNK_BYTES = (size_t)32 << 20;

unsigned threads_for(size_t n_cols)
{
    return n_cols <= 1024 ? 32 : n_cols <= 4096 ? 64 : n_cols <= 16384 ? 256 : MAX_THREADS;
}

enum status blocks_for(unsigned threads, size_t n_rows, unsigned *ret, struct error *err)
{
    int device, n_sms;
    unsigned per_sm = SM_THREADS / threads;
    size_t n;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&n_sms, cudaDevAttrMultiProcessorCount, device));
    n = (size_t)n_sms * (per_sm < SM_BLOCKS ? per_sm : (unsigned)SM_BLOCKS);
    *ret = (unsigned)(n < n_rows ? n : n_rows);
    return OK;
}

/* Narrowings until hardly a bracket is open: two bits of the order each, and three for the last few. */
template <dtype TYPE> int narrowings(void)
{
    return (TYPE == DTYPE_F64 ? 64 : TYPE == DTYPE_F32 ? 32 : 16) / 2 + 3;
}

template <dtype TYPE, row_kind KIND>
enum status launch_long(const struct row_batch *b, cudaStream_t stream, struct error *err)
{
    struct row_batch batch = *b;
    int rounds = narrowings<TYPE>();
    unsigned parts, rows;

    TRY(blocks_for(MAX_THREADS, b->n_rows * b->n_parts, &parts, err));
    TRY(blocks_for(MAX_THREADS, b->n_rows, &rows, err));
    if (KIND == ROWS_SCORES)
        LAUNCH((long_tops<TYPE, KIND>), parts, MAX_THREADS, 0, stream, batch);
    LAUNCH((long_sums<TYPE, KIND>), parts, MAX_THREADS, 0, stream, batch);
    LAUNCH((long_settle<TYPE, KIND>), rows, MAX_THREADS, 0, stream, batch);
    for (int round = 0; b->has_k90 && round < rounds; round++)
        LAUNCH((long_narrow<TYPE, KIND>), parts, MAX_THREADS, 0, stream, batch, round);
    LAUNCH((long_end<TYPE, KIND>), rows, MAX_THREADS, 0, stream, batch, rounds);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

template <dtype TYPE, row_kind KIND>
enum status launch_rows(const struct row_batch *b, cudaStream_t stream, struct error *err)
{
    unsigned threads = threads_for(b->n_cols), blocks;
    struct row_batch batch = *b;

    if (b->n_parts)
        return launch_long<TYPE, KIND>(b, stream, err);

    TRY(blocks_for(threads, b->n_rows, &blocks, err));
    LAUNCH((measure_rows<TYPE, KIND>), blocks, threads, 0, stream, batch);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

template <row_kind KIND>
enum status launch(const struct row_batch *b, enum dtype type, cudaStream_t stream, struct error *err)
{
    switch (type) {
    case DTYPE_F32:
        return launch_rows<DTYPE_F32, KIND>(b, stream, err);
    case DTYPE_F16:
        return launch_rows<DTYPE_F16, KIND>(b, stream, err);
    case DTYPE_BF16:
        return launch_rows<DTYPE_BF16, KIND>(b, stream, err);
    case DTYPE_F64:
        return launch_rows<DTYPE_F64, KIND>(b, stream, err);
    default:
        return launch_rows<DTYPE_U8, KIND>(b, stream, err);
    }
}

enum status launch_batch(const struct row_batch *b, const struct row_entropy_args *args, cudaStream_t stream,
                         struct error *err)
{
    return args->kind == ROWS_SCORES ? launch<ROWS_SCORES>(b, args->dtype, stream, err)
                                     : launch<ROWS_WEIGHTS>(b, args->dtype, stream, err);
}

/* One of the chunks under way: its copy and kernel run while the other's rows are finished. */
struct slot {
    struct devstream stream;
    struct devbuf rows, results;
    struct devbuf parts, states;     /* of long rows */
    struct row_result *host_results; /* owned; [chunk_rows] */
    size_t first, n_rows;            /* 0 rows: idle */
};

struct row_job {
    const struct row_entropy_args *args;
    struct row_stat *rows; /* owned; copied out when all went well */
    uint64_t *profile;     /* owned; of the rows that the host took; the device's is added in the end */
    struct devbuf spans, scales, table, dev_profile;
    size_t row_bytes, n_rows, chunk_rows;
    size_t n_parts, part_cols; /* of a long row; else 0 */
    struct slot slots[N_SLOTS];
};

/* Called by AUTO alone, which nvcc does not see. */
[[maybe_unused]] void row_job_done(struct row_job *job)
{
    for (int i = 0; i < N_SLOTS; i++) {
        devstream_done(&job->slots[i].stream);
        devbuf_done(&job->slots[i].rows);
        devbuf_done(&job->slots[i].results);
        devbuf_done(&job->slots[i].parts);
        devbuf_done(&job->slots[i].states);
        free(job->slots[i].host_results);
    }
    devbuf_done(&job->spans);
    devbuf_done(&job->scales);
    devbuf_done(&job->table);
    devbuf_done(&job->dev_profile);
    free(job->profile);
    free(job->rows);
}

enum status send_table(struct row_job *job, struct error *err)
{
    float table[256];

    for (int i = 0; i < 256; i++) {
        unsigned char bits = (unsigned char)i;

        table[i] = (float)dtype_load(&bits, job->args->dtype, 0);
    }
    TRY(devbuf_init(&job->table, sizeof table, err));
    CUDA_TRY(cudaMemcpy(job->table.data, table, sizeof table, cudaMemcpyHostToDevice));
    return OK;
}

/* What all chunks share. */
enum status send_tables(struct row_job *job, struct error *err)
{
    const struct row_entropy_args *args = job->args;
    size_t profile_bytes = args->n_heads * PROFILE_BUCKETS * sizeof *job->profile;

    TRY(devbuf_init(&job->spans, args->n_rows * sizeof *args->spans, err));
    CUDA_TRY(cudaMemcpy(job->spans.data, args->spans, args->n_rows * sizeof *args->spans, cudaMemcpyHostToDevice));
    if (dtype_bytes(args->dtype) == 1)
        TRY(send_table(job, err));
    if (args->value_scales) {
        TRY(devbuf_init(&job->scales, job->n_rows * sizeof(double), err));
        CUDA_TRY(
            cudaMemcpy(job->scales.data, args->value_scales, job->n_rows * sizeof(double), cudaMemcpyHostToDevice));
    }
    if (args->profile) {
        TRY(mem_new(args->n_heads * PROFILE_BUCKETS, sizeof *job->profile, &job->profile, err));
        TRY(devbuf_init(&job->dev_profile, profile_bytes, err));
        CUDA_TRY(cudaMemset(job->dev_profile.data, 0, profile_bytes));
    }
    return OK;
}

/* Sizes, and how rows are cut. */
void plan_rows(struct row_job *job)
{
    const struct row_entropy_args *args = job->args;
    size_t cols = (args->n_cols + LONG_PARTS - 1) / LONG_PARTS, least = PART_COLS;

    job->row_bytes = args->n_cols * dtype_bytes(args->dtype);
    job->n_rows = args->n_heads * args->n_rows;
    if (args->n_cols < LONG_COLS)
        return;
    job->part_cols = cols > least ? (cols + 15) / 16 * 16 : least;
    job->n_parts = (args->n_cols + job->part_cols - 1) / job->part_cols;
}

enum status take_parts(const struct row_job *job, struct slot *slot, size_t n_rows, struct error *err)
{
    if (!job->n_parts)
        return OK;
    TRY(devbuf_init(&slot->parts, n_rows * job->n_parts * sizeof(struct long_part), err));
    return devbuf_init(&slot->states, n_rows * sizeof(struct long_row), err);
}

enum status row_job_init(struct row_job *job, struct error *err)
{
    size_t share = device_memory() / (2 * N_SLOTS), most, chunk; /* of two calls */

    plan_rows(job);
    most = job->n_parts ? LONG_CHUNK_BYTES : CHUNK_BYTES;
    chunk = share < most ? share : most;
    job->chunk_rows = job->row_bytes < chunk ? chunk / job->row_bytes : 1;
    job->chunk_rows = job->chunk_rows < job->n_rows ? job->chunk_rows : job->n_rows;
    TRY(devbuf_keep_pool(err));
    TRY(mem_new(job->n_rows, sizeof *job->rows, &job->rows, err));
    TRY(send_tables(job, err));
    for (int i = 0; i < N_SLOTS && (i == 0 || job->chunk_rows < job->n_rows); i++) {
        struct slot *slot = &job->slots[i];

        TRY(devstream_init(&slot->stream, err));
        TRY(devbuf_init(&slot->rows, job->chunk_rows * job->row_bytes, err));
        TRY(devbuf_init(&slot->results, job->chunk_rows * sizeof *slot->host_results, err));
        TRY(take_parts(job, slot, job->chunk_rows, err));
        TRY(mem_new(job->chunk_rows, sizeof *slot->host_results, &slot->host_results, err));
    }
    return OK;
}

struct row_batch batch_of(const struct row_job *job, const struct slot *slot)
{
    const struct row_entropy_args *args = job->args;
    struct row_batch b = {};

    b.spans = (const struct row_span *)job->spans.data;
    b.scales = (const double *)job->scales.data;
    b.table = (const float *)job->table.data;
    b.n_spans = args->n_rows;
    b.n_cols = args->n_cols;
    b.query_col = args->query_col;
    b.sink_col = args->sink_col;
    b.masked = masked_score(args->dtype);
    b.check_mask = args->check_mask;
    b.has_k90 = !args->skip_k90;
    b.profile = (unsigned long long *)job->dev_profile.data;
    b.results = (struct row_result *)slot->results.data;
    b.parts = (struct long_part *)slot->parts.data;
    b.states = (struct long_row *)slot->states.data;
    b.n_parts = job->n_parts;
    b.part_cols = job->part_cols;
    return b;
}

enum status start_chunk(const struct row_job *job, struct slot *slot, size_t first, struct error *err)
{
    const unsigned char *rows = (const unsigned char *)job->args->weights;
    struct row_batch b = batch_of(job, slot);

    b.rows = (const unsigned char *)slot->rows.data;
    b.first = slot->first = first;
    b.n_rows = slot->n_rows = job->n_rows - first < job->chunk_rows ? job->n_rows - first : job->chunk_rows;
    CUDA_TRY(cudaMemcpyAsync(slot->rows.data, rows + first * job->row_bytes, slot->n_rows * job->row_bytes,
                             cudaMemcpyHostToDevice, slot->stream.stream));
    TRY(launch_batch(&b, job->args, slot->stream.stream, err));
    CUDA_TRY(cudaMemcpyAsync(slot->host_results, slot->results.data, slot->n_rows * sizeof *slot->host_results,
                             cudaMemcpyDeviceToHost, slot->stream.stream));
    return OK;
}

/* H within what any distribution over n keys has; a row with all its weight on one key has exactly none. */
double entropy_clamp(double bits, double sum, double max, size_t n)
{
    double most = log2((double)n);

    if (!(sum > max) || !(bits > 0))
        return 0;
    return bits > most ? most : bits;
}

struct row_stat finish_weights(const struct row_entropy_args *args, size_t index, size_t n, const struct row_result *r)
{
    struct row_stat row = row_without_value(ROW_OK, (uint32_t)n);
    double scale = args->value_scales ? args->value_scales[index] : 1;
    int ref = row_ref(n) - ilogb(scale);
    float max;

    memcpy(&max, &r->max_bits, sizeof max);
    row.sum = r->sum * scale;
    row.entropy_bits = entropy_clamp(log2(r->sum) - ref - r->log_sum / r->sum, r->sum, (double)max, n);
    if (args->implicit_sink)
        row.entropy_bits = row_with_sink(row.entropy_bits, row.sum);
    row.max_weight = (double)max * scale;
    row.square_sum = r->square_sum * scale * scale;
    row.sink_weight = r->sink * scale;
    row.sink4_weight = r->sink4 * scale;
    row.distance = r->distance * scale;
    if (args->check_mask)
        row.leak = isnan(r->leak) ? INFINITY : r->leak * scale;
    return row;
}

struct row_stat finish_scores(const struct row_entropy_args *args, size_t n, const struct row_result *r)
{
    struct row_stat row = row_without_value(ROW_OK, (uint32_t)n);

    row.sum = 1;
    row.entropy_bits = entropy_clamp(log2(r->sum) - r->log_sum / r->sum, r->sum, 1, n);
    row.max_weight = 1 / r->sum;
    row.square_sum = r->square_sum / r->sum / r->sum;
    row.sink_weight = r->sink / r->sum;
    row.sink4_weight = r->sink4 / r->sum;
    row.distance = r->distance / r->sum;
    if (args->check_mask)
        row.leak = isnan(r->leak) ? INFINITY : r->leak;
    return row;
}

struct row_stat finish_row(const struct row_job *job, size_t index, const struct row_result *r)
{
    const struct row_entropy_args *args = job->args;
    struct row_span span = args->spans[index % args->n_rows];
    struct row_stat row;

    if (span.lo >= span.hi)
        return row_without_value(ROW_EMPTY, 0);
    if (r->is_slow)
        return row_slow(args, index, job->profile ? job->profile + index / args->n_rows * PROFILE_BUCKETS : NULL);
    row = args->kind == ROWS_SCORES ? finish_scores(args, span.hi - span.lo, r)
                                    : finish_weights(args, index, span.hi - span.lo, r);
    row.k90 = r->k90;
    row.sees_sink = args->sink_col >= span.lo && args->sink_col < span.hi;
    return row;
}

enum status finish_chunk(const struct row_job *job, struct slot *slot, struct error *err)
{
    if (slot->n_rows == 0)
        return OK;
    CUDA_TRY(cudaStreamSynchronize(slot->stream.stream));
    for (size_t i = 0; i < slot->n_rows; i++)
        job->rows[slot->first + i] = finish_row(job, slot->first + i, &slot->host_results[i]);
    slot->n_rows = 0;
    return OK;
}

/* The last step: nothing fails after it has written. */
enum status hand_out(struct row_job *job, struct row_stat *ret, struct error *err)
{
    size_t n = job->args->n_heads * PROFILE_BUCKETS;
    uint64_t *device = NULL;

    if (job->args->profile) {
        TRY(mem_new(n, sizeof *device, &device, err));
        cudaError_t code = cudaMemcpy(device, job->dev_profile.data, n * sizeof *device, cudaMemcpyDeviceToHost);

        for (size_t i = 0; code == cudaSuccess && i < n; i++)
            job->args->profile[i] += device[i] + job->profile[i];
        free(device);
        CUDA_TRY(code);
    }
    memcpy(ret, job->rows, job->n_rows * sizeof *ret);
    return OK;
}

} /* namespace */

/* The first chunks are under way when this returns; the others follow as they end. */
struct row_work {
    struct row_job job;
    struct row_entropy_args args;
    struct row_stat *ret; /* the caller's */
    size_t next, n_begun; /* first row of the next chunk; chunks begun */
};

static void row_work_done(struct row_work *work)
{
    row_job_done(&work->job);
    free(work);
}

static enum status start_next(struct row_work *work, struct error *err)
{
    struct row_job *job = &work->job;

    TRY(start_chunk(job, &job->slots[work->n_begun % N_SLOTS], work->next, err));
    work->next += job->chunk_rows;
    work->n_begun++;
    return OK;
}

static enum status begin(struct row_work *work, struct error *err)
{
    TRY(row_check(&work->args, err));
    if (work->args.n_heads == 0 || work->args.n_rows == 0 || work->args.n_cols == 0 || work->args.eps_form != EPS_NONE)
        return row_entropy_cpu(&work->args, work->ret, err);
    work->job.args = &work->args;
    TRY(row_job_init(&work->job, err));
    for (int i = 0; i < N_SLOTS && work->next < work->job.n_rows; i++)
        TRY(start_next(work, err));
    return OK;
}

static enum status end(struct row_work *work, struct error *err)
{
    struct row_job *job = &work->job;

    if (work->n_begun == 0) /* the CPU has done it */
        return OK;
    while (work->next < job->n_rows) {
        TRY(finish_chunk(job, &job->slots[work->n_begun % N_SLOTS], err));
        TRY(start_next(work, err));
    }
    for (size_t i = 0; i < N_SLOTS; i++)
        TRY(finish_chunk(job, &job->slots[(work->n_begun + i) % N_SLOTS], err));
    return hand_out(job, work->ret, err);
}

extern "C" enum status row_entropy_cuda_begin(const struct row_entropy_args *args, struct row_stat *ret,
                                              struct row_work **ret_work, struct error *err)
{
    struct row_work *work = NULL;
    enum status st;

    TRY(mem_new(1, sizeof *work, &work, err));
    work->args = *args;
    work->ret = ret;
    st = begin(work, err);
    if (st == OK)
        *ret_work = work;
    else
        row_work_done(work);
    return st;
}

extern "C" enum status row_entropy_cuda_end(struct row_work *work, struct error *err)
{
    enum status st = end(work, err);

    row_work_done(work);
    return st;
}

extern "C" enum status row_entropy_cuda(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    struct row_work *work = NULL;

    TRY(row_entropy_cuda_begin(args, ret, &work, err));
    return row_entropy_cuda_end(work, err);
}

extern "C" enum status row_entropy_time(const struct row_entropy_args *args, bool has_counts, int n_runs,
                                        double *ret_seconds, struct error *err)
{
    AUTO(row_job) job = {};
    AUTO(devtimer) timer = {};
    AUTO(devbuf) rows = {};
    struct row_batch b;
    double best = INFINITY;

    TRY(row_check(args, err));
    job.args = args;
    plan_rows(&job);
    TRY(send_tables(&job, err));
    TRY(take_parts(&job, &job.slots[0], job.n_rows, err));
    TRY(devbuf_init(&job.slots[0].results, job.n_rows * sizeof(struct row_result), err));
    TRY(devbuf_init(&rows, job.n_rows * job.row_bytes, err));
    CUDA_TRY(cudaMemcpy(rows.data, args->weights, job.n_rows * job.row_bytes, cudaMemcpyHostToDevice));
    TRY(devtimer_init(&timer, err));
    b = batch_of(&job, &job.slots[0]);
    b.rows = (const unsigned char *)rows.data;
    b.n_rows = job.n_rows;
    b.has_k90 = has_counts;
    b.profile = has_counts ? b.profile : NULL;
    for (int i = 0; i < n_runs; i++) {
        double seconds = 0;

        TRY(devtimer_begin(&timer, err));
        TRY(launch_batch(&b, args, NULL, err));
        TRY(devtimer_end(&timer, &seconds, err));
        best = seconds < best ? seconds : best;
    }
    *ret_seconds = best;
    return OK;
}
