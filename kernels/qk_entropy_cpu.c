/* Entropy from queries and keys on the CPU. Work is split by (query head, tile of rows); a thread packs its queries,
 * goes over the tiles of keys that its rows see, and merges (m, l, t) per row. Packed keys are at most KEY_BLOCK_BYTES
 * at a time and rows at most MAX_STATES, so that memory does not grow with the square of anything.
 * Nothing depends on which thread does what. */
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "kernels/qk_entropy.h"
#include "kernels/qk_entropy_isa.h"
#include "kernels/qk_rows.h"
#include "kernels/row_slow.h"

#include <stdint.h>
#include <stdlib.h>

enum { KEY_BLOCK_BYTES = 8 << 20, TILE_BYTES = 128 << 10, MAX_TILE_ROWS = 96, MAX_STATES = 1 << 14 };

/* Rows that a thread finishes at a time. */
enum { FINISH_ROWS = 64 };

/* Queries of so few numbers in all are done before a thread is made. */
enum { FEW_NUMBERS = 1 << 13 };

/* Scratch of one thread; owned by the job. */
struct qk_scratch {
    float *q;    /* tile_rows x dim, packed             */
    float *y;    /* micro_rows x (QK_TILE_KEYS + QK_PAD) */
    double *row; /* 2 x dim                             */
};

struct qk_job {
    const struct qk_entropy_args *args;
    const struct qk_isa *isa;
    struct row_stat *rows;   /* n_heads x n_rows                                  */
    struct qk_state *states; /* owned: query heads of a key head x chunk_rows      */
    struct qk_keys keys;
    size_t tile_rows, chunk_rows, block_keys, stride;
    size_t lo, hi; /* keys that any row sees */
    int n_threads;
    double factor; /* of the queries */
    float *packed; /* owned: block_keys x dim */
    struct qk_scratch *scratch;
};

static void qk_job_done(struct qk_job *job)
{
    for (int i = 0; job->scratch && i < job->n_threads; i++) {
        free(job->scratch[i].q);
        free(job->scratch[i].y);
        free(job->scratch[i].row);
    }
    free(job->scratch);
    free(job->packed);
    free(job->states);
    free(job->keys.n_bad);
    free(job->keys.mean);
}

static const struct qk_isa *choose_isa(void)
{
#ifdef __x86_64__
    if (isa_current() == ISA_AVX512)
        return &qk_entropy_avx512;
    if (isa_current() == ISA_AVX2)
        return &qk_entropy_avx2;
#endif
    return &qk_entropy_portable;
}

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The keys of [lo, hi) that a row with this span sees; empty as lo = hi. */
static struct row_span cut(struct row_span span, size_t lo, size_t hi)
{
    struct row_span cut = {(uint32_t)max_size(span.lo, lo), (uint32_t)min_size(span.hi, hi)};

    if (cut.lo >= cut.hi)
        cut.lo = cut.hi = (uint32_t)lo;
    return cut;
}

/* Scores of a row's keys, y[0] of key lo, join what is known of the row. */
static void absorb_row(const struct qk_job *job, size_t row, struct row_span see, float *y, struct qk_state *state)
{
    size_t n = see.hi - see.lo;
    int64_t sink = job->args->sink_col - see.lo;

    if (job->args->softcap > 0)
        job->isa->softcap(y, n, (float)qk_softcap_factor(job->args));
    for (int64_t s = 0; s < SINK_KEYS; s++)
        if (sink + s >= 0 && sink + s < (int64_t)n)
            state->sink[s] = (double)y[sink + s];
    job->isa->absorb(y, n, job->args->query_col + (int64_t)row - see.lo, state);
}

/* One packed group of rows against the packed tile of keys [lo, hi); `k`: the tile's panels. */
static void group_against_tile(const struct qk_job *job, struct qk_scratch *scratch, const float *q, const float *k,
                               size_t first_row, size_t n_rows, const struct row_stat *rows, struct qk_state *states,
                               struct row_span tile)
{
    size_t panel_keys = job->isa->panel_keys, dim = job->keys.dim;
    size_t lo = tile.hi, hi = tile.lo;

    for (size_t i = 0; i < n_rows; i++) {
        struct row_span see = cut(job->args->spans[first_row + i], tile.lo, tile.hi);

        if (see.lo < see.hi && rows[i].status == QK_PENDING) {
            lo = min_size(lo, see.lo);
            hi = max_size(hi, see.hi);
        }
    }
    if (lo >= hi)
        return;
    lo = tile.lo + (lo - tile.lo) / panel_keys * panel_keys;
    for (size_t j = lo; j < hi; j += panel_keys)
        job->isa->scores(q, k + (j - tile.lo) * dim, dim, scratch->y + (j - lo), job->stride);
    for (size_t i = 0; i < n_rows; i++) {
        struct row_span see = cut(job->args->spans[first_row + i], tile.lo, tile.hi);

        if (see.lo < see.hi && rows[i].status == QK_PENDING)
            absorb_row(job, first_row + i, see, scratch->y + i * job->stride + (see.lo - lo), &states[i]);
    }
}

/* The keys of the block that any of these rows sees. */
static struct row_span seen_by(const struct qk_job *job, size_t first_row, size_t n_rows, struct row_span block)
{
    struct row_span seen = {block.hi, block.lo};

    for (size_t i = 0; i < n_rows; i++) {
        struct row_span see = cut(job->args->spans[first_row + i], block.lo, block.hi);

        if (see.lo < see.hi) {
            seen.lo = see.lo < seen.lo ? see.lo : seen.lo;
            seen.hi = see.hi > seen.hi ? see.hi : seen.hi;
        }
    }
    return seen;
}

static struct qk_extra extra_of(const struct qk_entropy_args *args, size_t row, uint64_t *profile)
{
    return (struct qk_extra){args->profile ? profile : NULL, args->lse ? &args->lse[row] : NULL};
}

/* Packs the tile's queries; in the first block it also begins their rows. */
static void pack_tile(const struct qk_job *job, struct qk_scratch *scratch, size_t head, size_t first_row,
                      size_t n_rows, struct qk_state *states, int is_first)
{
    const struct qk_entropy_args *args = job->args;
    size_t micro_rows = job->isa->micro_rows, at = head * args->n_rows + first_row;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    for (size_t i = 0; i < n_rows; i++) {
        double norm = qk_query_pack(args->q, args->dtype, at + i, args->dim, job->factor, micro_rows, i % micro_rows,
                                    scratch->q + i / micro_rows * micro_rows * args->dim, scratch->row);

        if (is_first)
            job->rows[at + i] = qk_row_begin(args, &job->keys, first_row + i, norm, scratch->row, &states[i],
                                             extra_of(args, at + i, profile));
    }
    if (args->profile && is_first)
        profile_add(args->profile + head * PROFILE_BUCKETS, profile);
}

/* Rows [first_row, first_row + n_rows) of one head against the packed block of keys. */
static void tile_against_block(const struct qk_job *job, struct qk_scratch *scratch, size_t head, size_t first_row,
                               size_t n_rows, struct qk_state *states, struct row_span block)
{
    size_t micro_rows = job->isa->micro_rows;
    struct row_stat *rows = job->rows + head * job->args->n_rows + first_row;
    struct row_span seen = seen_by(job, first_row, n_rows, block);
    int is_first = block.lo == job->lo;

    if (seen.lo >= seen.hi && !is_first)
        return;
    pack_tile(job, scratch, head, first_row, n_rows, states, is_first);
    if (seen.lo >= seen.hi)
        return;
    seen.lo = block.lo + (seen.lo - block.lo) / QK_TILE_KEYS * QK_TILE_KEYS;
    for (size_t j = seen.lo; j < seen.hi; j += QK_TILE_KEYS) {
        struct row_span tile = {(uint32_t)j, (uint32_t)min_size(j + QK_TILE_KEYS, seen.hi)};
        const float *k = job->packed + (j - block.lo) * job->keys.dim;

        for (size_t i = 0; i < n_rows; i += micro_rows)
            group_against_tile(job, scratch, scratch->q + i * job->keys.dim, k, first_row + i,
                               min_size(micro_rows, n_rows - i), rows + i, states + i, tile);
    }
}

/* Rows [first_row, first_row + n_rows) of all query heads of a key head, against a block of keys. */
struct qk_chunk {
    const struct qk_job *job;
    size_t kv_head, first_row, n_rows, n_tiles; /* tiles of rows of one query head */
    struct row_span keys;
};

static void run_tile(void *context, size_t item, int thread)
{
    const struct qk_chunk *c = context;
    size_t group = c->job->args->n_heads / c->job->args->n_kv_heads;
    size_t in_group = item / c->n_tiles, tile_row = item % c->n_tiles * c->job->tile_rows;

    tile_against_block(c->job, &c->job->scratch[thread], c->kv_head * group + in_group, c->first_row + tile_row,
                       min_size(c->job->tile_rows, c->n_rows - tile_row),
                       c->job->states + in_group * c->job->chunk_rows + tile_row, c->keys);
}

static void finish_rows(void *context, size_t item, int thread)
{
    const struct qk_chunk *c = context;
    const struct qk_entropy_args *args = c->job->args;
    size_t n_items = (c->n_rows + FINISH_ROWS - 1) / FINISH_ROWS, in_group = item / n_items;
    size_t head = c->kv_head * (args->n_heads / args->n_kv_heads) + in_group, first = item % n_items * FINISH_ROWS;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    (void)thread;
    for (size_t i = first; i < min_size(first + FINISH_ROWS, c->n_rows); i++) {
        size_t at = head * args->n_rows + c->first_row + i;

        if (c->job->rows[at].status == QK_PENDING)
            c->job->rows[at] = qk_row_finish(&c->job->states[in_group * c->job->chunk_rows + i],
                                             c->job->rows[at].n_keys, extra_of(args, at, profile));
    }
    if (args->profile)
        profile_add(args->profile + head * PROFILE_BUCKETS, profile);
}

/* All query heads of one key head, a chunk of rows at a time; keys of more than one block are packed for each. */
static enum status run_key_head(struct qk_job *job, size_t kv_head, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t group = args->n_heads / args->n_kv_heads;
    bool is_packed = false;

    job->keys.k = (const char *)args->k + kv_head * args->n_cols * args->dim * dtype_bytes(args->dtype);
    TRY(qk_keys_survey(&job->keys, job->lo, job->hi, !(args->softcap > 0), job->n_threads, err));
    for (size_t row = 0; row < args->n_rows; row += job->chunk_rows) {
        struct qk_chunk c = {job, kv_head, row, min_size(job->chunk_rows, args->n_rows - row), 0, {0, 0}};
        size_t lo = job->lo;

        c.n_tiles = (c.n_rows + job->tile_rows - 1) / job->tile_rows;
        do {
            c.keys = (struct row_span){(uint32_t)lo, (uint32_t)min_size(lo + job->block_keys, job->hi)};
            if (!is_packed)
                qk_keys_pack(&job->keys, c.keys.lo, c.keys.hi, job->isa->panel_keys, job->packed, job->n_threads);
            is_packed = c.keys.lo == job->lo && c.keys.hi == job->hi;
            parallel_for(group * c.n_tiles, job->n_threads, run_tile, &c);
            lo += job->block_keys;
        } while (lo < job->hi);
        parallel_for(group * ((c.n_rows + FINISH_ROWS - 1) / FINISH_ROWS), job->n_threads, finish_rows, &c);
    }
    return OK;
}

static enum status qk_job_init(struct qk_job *job, const struct qk_entropy_args *args, struct row_stat *ret,
                               struct error *err)
{
    size_t micro_rows, dim = args->dim, group = args->n_heads / args->n_kv_heads;
    struct row_span seen = qk_seen(args);

    job->args = args;
    job->rows = ret;
    job->isa = choose_isa();
    micro_rows = job->isa->micro_rows;
    job->n_threads = args->n_heads * args->n_rows * dim < FEW_NUMBERS ? 1 : cpu_threads();
    job->factor = qk_query_factor(args);
    job->keys.dtype = args->dtype;
    job->keys.n = args->n_cols;
    job->keys.dim = dim;
    job->lo = seen.lo;
    job->hi = seen.hi;
    job->stride = QK_TILE_KEYS + QK_PAD;
    job->tile_rows = min_size(TILE_BYTES / (dim * sizeof(float)), MAX_TILE_ROWS) / micro_rows * micro_rows;
    job->tile_rows = max_size(job->tile_rows, micro_rows);
    job->block_keys = max_size(KEY_BLOCK_BYTES / (dim * sizeof(float)) / QK_TILE_KEYS, 1) * QK_TILE_KEYS;
    job->block_keys = min_size(job->block_keys, round_up(job->hi - job->lo, QK_TILE_KEYS));
    job->chunk_rows = max_size(MAX_STATES / group / job->tile_rows, 1) * job->tile_rows;
    job->chunk_rows = min_size(job->chunk_rows, args->n_rows);
    TRY(mem_new(group * job->chunk_rows, sizeof *job->states, &job->states, err));
    TRY(mem_new(job->block_keys * dim, sizeof(float), &job->packed, err));
    TRY(mem_new(args->n_cols + 1, sizeof *job->keys.n_bad, &job->keys.n_bad, err));
    TRY(mem_new(dim, sizeof *job->keys.mean, &job->keys.mean, err));
    TRY(mem_new((size_t)job->n_threads, sizeof *job->scratch, &job->scratch, err));
    for (int i = 0; i < job->n_threads; i++) {
        TRY(mem_new(job->tile_rows * dim, sizeof(float), &job->scratch[i].q, err));
        TRY(mem_new(micro_rows * job->stride, sizeof(float), &job->scratch[i].y, err));
        TRY(mem_new(2 * dim, sizeof(double), &job->scratch[i].row, err));
    }
    return OK;
}

enum status qk_entropy_cpu(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err)
{
    AUTO(qk_job) job = {0};

    TRY(qk_check(args, err));
    if (args->n_heads == 0 || args->n_rows == 0)
        return OK;
    TRY(qk_job_init(&job, args, ret, err));
    for (size_t kv_head = 0; kv_head < args->n_kv_heads; kv_head++)
        TRY(run_key_head(&job, kv_head, err));
    return OK;
}
