/* Entropy from queries and keys on the CPU. Work is split by (query head, tile of rows); a thread packs its queries,
 * goes over the tiles of keys that its rows see, and merges (m, l, t) per row. Packed keys are at most KEY_BLOCK_BYTES
 * at a time, rows at most MAX_STATES, and the scores that are kept of them KEPT_BYTES or those of a few rows, so that
 * memory does not grow with the square of anything. Nothing depends on which thread does what. */
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "kernels/qk_entropy.h"
#include "kernels/qk_entropy_isa.h"
#include "kernels/qk_kept.h"
#include "kernels/qk_rows.h"
#include "kernels/row_slow.h"

#include <stdint.h>
#include <stdlib.h>

enum { KEY_BLOCK_BYTES = 8 << 20, TILE_BYTES = 128 << 10, MAX_TILE_ROWS = 96, MAX_STATES = 1 << 14 };

/* Scores of rows that are kept until all of a row's are there: of a thread's tile where all keys are packed together,
 * and which is over before the next one begins; else of a chunk of rows. */
enum { KEPT_TILE_BYTES = 1 << 20, KEPT_BYTES = 32 << 20 };

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
    struct qk_state *states; /* owned: chunk_heads x chunk_rows                    */
    struct qk_keys keys;
    struct qk_kept kept; /* places: chunk_heads x chunk_rows, or n_threads x tile_rows with one block of keys */
    size_t tile_rows, chunk_heads, chunk_rows, block_keys, stride;
    size_t lo, hi, longest; /* keys that any row sees; the most that one row sees */
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
    qk_kept_done(&job->kept);
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
static void absorb_row(const struct qk_job *job, size_t row, size_t place, struct row_span see, float *y,
                       struct qk_state *state)
{
    size_t n = see.hi - see.lo;
    int64_t sink = job->args->sink_col - see.lo;

    if (job->args->softcap > 0)
        job->isa->softcap(y, n, (float)qk_softcap_factor(job->args));
    for (int64_t s = 0; s < SINK_KEYS; s++)
        if (sink + s >= 0 && sink + s < (int64_t)n)
            state->sink[s] = (double)y[sink + s];
    qk_kept_put(&job->kept, place, see.lo - job->args->spans[row].lo, y, n);
    job->isa->absorb(y, n, job->args->query_col + (int64_t)row - see.lo, state);
}

/* Rows of one query head that a thread takes at a time; rows, states and places of the first of them. */
struct qk_tile {
    size_t head, first_row, n_rows, place;
    struct row_stat *rows;
    struct qk_state *states;
};

/* Rows [i, i + micro_rows) of the tile against the packed keys `keys`, which begin at `k`. */
static void group_against_keys(const struct qk_job *job, struct qk_scratch *scratch, const struct qk_tile *t, size_t i,
                               const float *k, struct row_span keys)
{
    size_t panel_keys = job->isa->panel_keys, dim = job->keys.dim, lo = keys.hi, hi = keys.lo, r;
    size_t end = min_size(i + job->isa->micro_rows, t->n_rows);

    for (r = i; r < end; r++) {
        struct row_span see = cut(job->args->spans[t->first_row + r], keys.lo, keys.hi);

        if (see.lo < see.hi && t->rows[r].status == QK_PENDING) {
            lo = min_size(lo, see.lo);
            hi = max_size(hi, see.hi);
        }
    }
    if (lo >= hi)
        return;
    lo = keys.lo + (lo - keys.lo) / panel_keys * panel_keys;
    for (size_t j = lo; j < hi; j += panel_keys)
        job->isa->scores(scratch->q + i * dim, k + (j - keys.lo) * dim, dim, scratch->y + (j - lo), job->stride);
    for (r = i; r < end; r++) {
        struct row_span see = cut(job->args->spans[t->first_row + r], keys.lo, keys.hi);

        if (see.lo < see.hi && t->rows[r].status == QK_PENDING)
            absorb_row(job, t->first_row + r, t->place + r, see, scratch->y + (r - i) * job->stride + (see.lo - lo),
                       &t->states[r]);
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
static void pack_tile(const struct qk_job *job, struct qk_scratch *scratch, const struct qk_tile *t, int is_first)
{
    const struct qk_entropy_args *args = job->args;
    size_t micro_rows = job->isa->micro_rows, at = t->head * args->n_rows + t->first_row;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    for (size_t i = 0; i < t->n_rows; i++) {
        double norm = qk_query_pack(args->q, args->dtype, at + i, args->dim, job->factor, micro_rows, i % micro_rows,
                                    scratch->q + i / micro_rows * micro_rows * args->dim, scratch->row);

        if (is_first)
            t->rows[i] = qk_row_begin(args, &job->keys, t->first_row + i, norm, scratch->row, &t->states[i],
                                      extra_of(args, at + i, profile));
    }
    if (args->profile && is_first)
        profile_add(args->profile + t->head * PROFILE_BUCKETS, profile);
}

static void tile_against_block(const struct qk_job *job, struct qk_scratch *scratch, const struct qk_tile *t,
                               struct row_span block)
{
    struct row_span seen = seen_by(job, t->first_row, t->n_rows, block);
    int is_first = block.lo == job->lo;

    if (seen.lo >= seen.hi && !is_first)
        return;
    pack_tile(job, scratch, t, is_first);
    if (seen.lo >= seen.hi)
        return;
    seen.lo = block.lo + (seen.lo - block.lo) / QK_TILE_KEYS * QK_TILE_KEYS;
    for (size_t j = seen.lo; j < seen.hi; j += QK_TILE_KEYS) {
        struct row_span keys = {(uint32_t)j, (uint32_t)min_size(j + QK_TILE_KEYS, seen.hi)};

        for (size_t i = 0; i < t->n_rows; i += job->isa->micro_rows)
            group_against_keys(job, scratch, t, i, job->packed + (j - block.lo) * job->keys.dim, keys);
    }
}

/* The rows of a tile have seen all their keys. */
static void finish_tile(const struct qk_job *job, const struct qk_tile *t, int thread)
{
    const struct qk_entropy_args *args = job->args;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    for (size_t i = 0; i < t->n_rows; i++) {
        size_t n = t->rows[i].n_keys;

        if (t->rows[i].status != QK_PENDING)
            continue;
        t->rows[i] = qk_row_finish(&t->states[i], (uint32_t)n,
                                   extra_of(args, t->head * args->n_rows + t->first_row + i, profile));
        if (t->rows[i].status == ROW_OK)
            t->rows[i].k90 = qk_kept_k90(&job->kept, job->isa, t->place + i, n, t->states[i].m, thread);
    }
    if (args->profile)
        profile_add(args->profile + t->head * PROFILE_BUCKETS, profile);
}

/* Rows [first_row, first_row + n_rows) of n_heads query heads of one key head, against a block of keys. */
struct qk_chunk {
    const struct qk_job *job;
    size_t head, n_heads, first_row, n_rows, n_tiles; /* tiles of rows of one query head */
    struct row_span keys;
};

static void run_tile(void *context, size_t item, int thread)
{
    const struct qk_chunk *c = context;
    const struct qk_job *job = c->job;
    size_t in_chunk = item / c->n_tiles, row = item % c->n_tiles * job->tile_rows;
    size_t at = in_chunk * job->chunk_rows + row;
    bool is_one_block = job->hi - job->lo <= job->block_keys;
    struct qk_tile t = {.head = c->head + in_chunk,
                        .first_row = c->first_row + row,
                        .n_rows = min_size(job->tile_rows, c->n_rows - row),
                        .place = is_one_block ? (size_t)thread * job->tile_rows : at,
                        .states = job->states + at};

    t.rows = job->rows + t.head * job->args->n_rows + t.first_row;
    tile_against_block(job, &job->scratch[thread], &t, c->keys);
    if (c->keys.hi == job->hi)
        finish_tile(job, &t, thread);
}

/* A chunk of rows against all keys, which are packed block by block, once where one block holds them. */
static void run_chunk(const struct qk_job *job, struct qk_chunk *c, bool *is_packed)
{
    size_t lo = job->lo;

    c->n_tiles = (c->n_rows + job->tile_rows - 1) / job->tile_rows;
    do {
        c->keys = (struct row_span){(uint32_t)lo, (uint32_t)min_size(lo + job->block_keys, job->hi)};
        if (!*is_packed)
            qk_keys_pack(&job->keys, c->keys.lo, c->keys.hi, job->isa->panel_keys, job->packed, job->n_threads);
        *is_packed = c->keys.lo == job->lo && c->keys.hi == job->hi;
        parallel_for(c->n_heads * c->n_tiles, job->n_threads, run_tile, c);
        lo += job->block_keys;
    } while (lo < job->hi);
}

static enum status run_key_head(struct qk_job *job, size_t kv_head, struct error *err)
{
    const struct qk_entropy_args *args = job->args;
    size_t group = args->n_heads / args->n_kv_heads;
    bool is_packed = false;

    job->keys.k = (const char *)args->k + kv_head * args->n_cols * args->dim * dtype_bytes(args->dtype);
    TRY(qk_keys_survey(&job->keys, job->lo, job->hi, !(args->softcap > 0), job->n_threads, err));
    for (size_t head = 0; head < group; head += job->chunk_heads)
        for (size_t row = 0; row < args->n_rows; row += job->chunk_rows) {
            struct qk_chunk c = {.job = job,
                                 .head = kv_head * group + head,
                                 .n_heads = min_size(job->chunk_heads, group - head),
                                 .first_row = row,
                                 .n_rows = min_size(job->chunk_rows, args->n_rows - row)};

            run_chunk(job, &c, &is_packed);
        }
    return OK;
}

/* How many rows and heads are under way at a time. */
static void choose_sizes(struct qk_job *job)
{
    const struct qk_entropy_args *args = job->args;
    size_t micro_rows = job->isa->micro_rows, dim = args->dim, group = args->n_heads / args->n_kv_heads;
    size_t place = args->skip_k90 ? 1 : qk_kept_place_bytes(job->longest), most = MAX_STATES;
    bool is_one_block;

    job->block_keys = max_size(KEY_BLOCK_BYTES / (dim * sizeof(float)) / QK_TILE_KEYS, 1) * QK_TILE_KEYS;
    job->block_keys = min_size(job->block_keys, round_up(job->hi - job->lo, QK_TILE_KEYS));
    is_one_block = job->hi - job->lo <= job->block_keys;
    job->tile_rows = min_size(TILE_BYTES / (dim * sizeof(float)), MAX_TILE_ROWS);
    job->tile_rows = min_size(job->tile_rows, (is_one_block ? KEPT_TILE_BYTES : KEPT_BYTES) / place);
    job->tile_rows = max_size(job->tile_rows / micro_rows, 1) * micro_rows;
    if (!is_one_block)
        most = max_size(min_size(most, KEPT_BYTES / place), job->tile_rows);
    job->chunk_heads = min_size(group, most / job->tile_rows);
    job->chunk_rows = most / job->chunk_heads / job->tile_rows * job->tile_rows;
    job->chunk_rows = min_size(job->chunk_rows, args->n_rows);
}

static size_t longest_row(const struct qk_entropy_args *args)
{
    size_t longest = 0;

    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].lo < args->spans[i].hi)
            longest = max_size(longest, args->spans[i].hi - args->spans[i].lo);
    return longest;
}

static enum status reserve_kept(struct qk_job *job, struct error *err)
{
    size_t n_places = job->hi - job->lo <= job->block_keys ? (size_t)job->n_threads * job->tile_rows
                                                           : job->chunk_heads * job->chunk_rows;

    return job->args->skip_k90 ? OK : qk_kept_init(&job->kept, n_places, job->longest, job->n_threads, err);
}

static enum status qk_job_init(struct qk_job *job, const struct qk_entropy_args *args, struct row_stat *ret,
                               struct error *err)
{
    struct row_span seen = qk_seen(args);
    size_t dim = args->dim;

    job->args = args;
    job->rows = ret;
    job->isa = choose_isa();
    job->n_threads = args->n_heads * args->n_rows * dim < FEW_NUMBERS ? 1 : cpu_threads();
    job->factor = qk_query_factor(args);
    job->keys.dtype = args->dtype;
    job->keys.n = args->n_cols;
    job->keys.dim = dim;
    job->lo = seen.lo;
    job->hi = seen.hi;
    job->longest = longest_row(args);
    job->stride = QK_TILE_KEYS + QK_PAD;
    choose_sizes(job);
    TRY(reserve_kept(job, err));
    TRY(mem_new(job->chunk_heads * job->chunk_rows, sizeof *job->states, &job->states, err));
    TRY(mem_new(job->block_keys * dim, sizeof(float), &job->packed, err));
    TRY(mem_new(args->n_cols + 1, sizeof *job->keys.n_bad, &job->keys.n_bad, err));
    TRY(mem_new(dim, sizeof *job->keys.mean, &job->keys.mean, err));
    TRY(mem_new((size_t)job->n_threads, sizeof *job->scratch, &job->scratch, err));
    for (int i = 0; i < job->n_threads; i++) {
        TRY(mem_new(job->tile_rows * dim, sizeof(float), &job->scratch[i].q, err));
        TRY(mem_new(job->isa->micro_rows * job->stride, sizeof(float), &job->scratch[i].y, err));
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
