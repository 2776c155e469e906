/* Entropy from queries and keys on the CPU. Work is split by (query head, tile of rows); a thread packs its queries,
 * goes over the tiles of keys that its rows see, and merges (m, l, t) per row. Packed keys are at most KEY_BLOCK_BYTES
 * at a time, so that memory does not grow with the square of anything; rows wait in the output array between blocks.
 * Nothing depends on which thread does what. */
#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/qk_entropy.h"
#include "kernels/qk_entropy_isa.h"
#include "kernels/qk_pack.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { KEY_BLOCK_BYTES = 8 << 20, TILE_BYTES = 128 << 10, MAX_DIM = 8192, MAX_TILE_ROWS = 96 };

static const double LOG2_E = 0x1.71547652b82fep0;

/* Norms up to this multiply and add up in float without overflow; longer vectors take the slow path in double. */
static const double MAX_FAST_NORM = 0x1p60;

/* Scratch of one thread; owned by the job. */
struct qk_scratch {
    float *q;    /* tile_rows x dim, packed             */
    float *y;    /* micro_rows x (QK_TILE_KEYS + QK_PAD) */
    double *row; /* 2 x dim                             */
};

struct qk_job {
    const struct qk_entropy_args *args;
    const struct qk_isa *isa;
    struct row_stat *rows; /* n_heads x n_rows; between blocks sum, entropy_bits, max_weight hold m, l, t */
    struct qk_keys keys;
    size_t tile_rows, block_keys, stride;
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

static struct row_stat without_value(enum row_status status, uint32_t n_keys)
{
    return (struct row_stat){.sum = NAN, .entropy_bits = NAN, .max_weight = NAN, .n_keys = n_keys, .status = status};
}

static struct row_stat finish(struct qk_state s, uint32_t n_keys)
{
    struct row_stat row = without_value(ROW_OK, n_keys);
    double bits = log2(s.l) - s.t / s.l;

    if (isnan(s.l) || isnan(s.t) || isinf(s.m) || !(s.l > 0)) {
        row.status = isinf(s.m) ? s.m > 0 ? ROW_INF : ROW_ZERO : ROW_NAN;
        return row;
    }
    row.sum = 1;
    row.entropy_bits = bits > 0 ? fmin(bits, log2(n_keys)) : 0;
    row.max_weight = 1 / s.l;
    return row;
}

/* Vectors so long that float could overflow: everything in double, one key at a time. */
static struct row_stat slow_row(const struct qk_job *job, const double *query, struct row_span span, double *key)
{
    struct qk_state s = {-INFINITY, 0, 0};
    double cap = job->args->softcap;

    for (size_t j = span.lo; j < span.hi; j++) {
        double y = 0, shift;

        dtype_to_double(job->keys.k, job->keys.dtype, j * job->keys.dim, job->keys.dim, key);
        for (size_t d = 0; d < job->keys.dim; d++)
            y += query[d] * (key[d] - job->keys.mean[d]);
        if (cap > 0)
            y = cap * LOG2_E * tanh(y);
        if (isnan(y))
            return without_value(ROW_NAN, span.hi - span.lo);
        if (isinf(y) && y > 0)
            return without_value(ROW_INF, span.hi - span.lo);
        if (isinf(y))
            continue;
        if (y > s.m) {
            shift = s.m - y;
            if (s.l > 0 && exp2(shift) > 0) {
                s.t = exp2(shift) * (s.t + s.l * shift);
                s.l *= exp2(shift);
            } else {
                s.t = s.l = 0;
            }
            s.m = y;
        }
        shift = y - s.m;
        s.l += exp2(shift);
        s.t += exp2(shift) > 0 ? exp2(shift) * shift : 0;
    }
    return finish(s, span.hi - span.lo);
}

/* What can be said of a row before any score; PENDING rows then hold their (m, l, t) until finish(). */
enum { PENDING = N_ROW_STATUSES };

static struct row_stat begin_row(const struct qk_job *job, struct row_span span, double norm, double *scratch)
{
    struct row_stat pending = {.sum = -INFINITY, .n_keys = span.hi - span.lo, .status = PENDING};

    if (span.lo >= span.hi)
        return without_value(ROW_EMPTY, 0);
    if (isnan(norm) || job->keys.n_bad[span.hi] != job->keys.n_bad[span.lo])
        return without_value(ROW_NAN, span.hi - span.lo);
    if (norm > MAX_FAST_NORM || job->keys.max_norm > MAX_FAST_NORM)
        return slow_row(job, scratch, span, scratch + job->keys.dim);
    return pending;
}

/* The keys of [lo, hi) that a row with this span sees; empty as lo = hi. */
static struct row_span cut(struct row_span span, size_t lo, size_t hi)
{
    struct row_span cut = {(uint32_t)max_size(span.lo, lo), (uint32_t)min_size(span.hi, hi)};

    if (cut.lo >= cut.hi)
        cut.lo = cut.hi = (uint32_t)lo;
    return cut;
}

/* One packed group of rows against the packed tile of keys [lo, hi); `k`: the tile's panels. */
static void group_against_tile(const struct qk_job *job, struct qk_scratch *scratch, const float *q, const float *k,
                               size_t first_row, size_t n_rows, struct row_stat *rows, struct row_span tile)
{
    size_t panel_keys = job->isa->panel_keys, dim = job->keys.dim;
    size_t lo = tile.hi, hi = tile.lo;

    for (size_t i = 0; i < n_rows; i++) {
        struct row_span see = cut(job->args->spans[first_row + i], tile.lo, tile.hi);

        if (see.lo < see.hi && rows[i].status == PENDING) {
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
        float *y = scratch->y + i * job->stride + (see.lo - lo);
        struct qk_state state = {rows[i].sum, rows[i].entropy_bits, rows[i].max_weight};

        if (see.lo == see.hi || rows[i].status != PENDING)
            continue;
        if (job->args->softcap > 0)
            job->isa->softcap(y, see.hi - see.lo, (float)(job->args->softcap * LOG2_E));
        job->isa->absorb(y, see.hi - see.lo, &state);
        rows[i].sum = state.m;
        rows[i].entropy_bits = state.l;
        rows[i].max_weight = state.t;
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

/* Packs the tile's queries; in the first block it also begins their rows. */
static void pack_tile(const struct qk_job *job, struct qk_scratch *scratch, size_t head, size_t first_row,
                      size_t n_rows, struct row_stat *rows, int is_first)
{
    const struct qk_entropy_args *args = job->args;
    size_t micro_rows = job->isa->micro_rows;

    for (size_t i = 0; i < n_rows; i++) {
        double norm =
            qk_query_pack(args->q, args->dtype, head * args->n_rows + first_row + i, args->dim, job->factor, micro_rows,
                          i % micro_rows, scratch->q + i / micro_rows * micro_rows * args->dim, scratch->row);

        if (is_first)
            rows[i] = begin_row(job, args->spans[first_row + i], norm, scratch->row);
    }
}

/* Rows [first_row, first_row + n_rows) of one head against the packed block of keys. */
static void tile_against_block(const struct qk_job *job, struct qk_scratch *scratch, size_t head, size_t first_row,
                               struct row_span block)
{
    size_t n_rows = min_size(job->tile_rows, job->args->n_rows - first_row);
    size_t micro_rows = job->isa->micro_rows;
    struct row_stat *rows = job->rows + head * job->args->n_rows + first_row;
    struct row_span seen = seen_by(job, first_row, n_rows, block);
    int is_first = block.lo == job->lo;

    if (seen.lo >= seen.hi && !is_first)
        return;
    pack_tile(job, scratch, head, first_row, n_rows, rows, is_first);
    if (seen.lo >= seen.hi)
        return;
    seen.lo = block.lo + (seen.lo - block.lo) / QK_TILE_KEYS * QK_TILE_KEYS;
    for (size_t j = seen.lo; j < seen.hi; j += QK_TILE_KEYS) {
        struct row_span tile = {(uint32_t)j, (uint32_t)min_size(j + QK_TILE_KEYS, seen.hi)};
        const float *k = job->packed + (j - block.lo) * job->keys.dim;

        for (size_t i = 0; i < n_rows; i += micro_rows)
            group_against_tile(job, scratch, scratch->q + i * job->keys.dim, k, first_row + i,
                               min_size(micro_rows, n_rows - i), rows + i, tile);
    }
}

static int thread_index(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* All query heads of one key head. */
static void run_key_head(struct qk_job *job, size_t kv_head)
{
    const struct qk_entropy_args *args = job->args;
    size_t group = args->n_heads / args->n_kv_heads;
    size_t n_tiles = (args->n_rows + job->tile_rows - 1) / job->tile_rows;
    size_t block_lo = job->lo;

    job->keys.k = (const char *)args->k + kv_head * args->n_cols * args->dim * dtype_bytes(args->dtype);
    qk_keys_survey(&job->keys, job->lo, job->hi, !(args->softcap > 0), job->scratch[0].row);
    do {
        struct row_span block = {(uint32_t)block_lo, (uint32_t)min_size(block_lo + job->block_keys, job->hi)};

        qk_keys_pack(&job->keys, block.lo, block.hi, job->isa->panel_keys, job->packed, job->scratch[0].row);
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->n_threads) if (group * n_tiles > 1)
        for (size_t item = 0; item < group * n_tiles; item++)
            tile_against_block(job, &job->scratch[thread_index()], kv_head * group + item / n_tiles,
                               item % n_tiles * job->tile_rows, block);
        block_lo += job->block_keys;
    } while (block_lo < job->hi);
}

static enum status check_args(const struct qk_entropy_args *args, struct error *err)
{
    size_t q, k;

    if (args->n_kv_heads == 0 || args->n_heads % args->n_kv_heads != 0)
        return error_set(err, ERR_FORMAT, "%zu query heads are no multiple of %zu key heads", args->n_heads,
                         args->n_kv_heads);
    if (args->dim == 0 || args->dim > MAX_DIM)
        return error_set(err, args->dim ? ERR_LIMIT : ERR_FORMAT, "head size %zu: it must be 1 to %d", args->dim,
                         MAX_DIM);
    if (!isfinite(args->scale) || !isfinite(args->softcap) || args->softcap < 0)
        return error_set(err, ERR_FORMAT, "scale %g and softcap %g: both must be finite, softcap 0 or more",
                         args->scale, args->softcap);
    if (!size_mul(args->n_heads, args->n_rows, &q) || !size_mul(q, args->dim * dtype_bytes(args->dtype), &q) ||
        !size_mul(args->n_kv_heads, args->n_cols, &k) || !size_mul(k, args->dim * dtype_bytes(args->dtype), &k) ||
        q > PTRDIFF_MAX || k > PTRDIFF_MAX || args->n_cols >= UINT32_MAX)
        return error_set(err, ERR_LIMIT, "%zu heads x %zu rows and %zu keys of %zu numbers are too large to address",
                         args->n_heads, args->n_rows, args->n_cols, args->dim);
    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].lo < args->spans[i].hi && args->spans[i].hi > args->n_cols)
            return error_set(err, ERR_LIMIT, "row %zu sees keys up to %u of %zu", i, args->spans[i].hi, args->n_cols);
    return OK;
}

static void find_seen_keys(struct qk_job *job)
{
    job->lo = job->args->n_cols;
    for (size_t i = 0; i < job->args->n_rows; i++) {
        struct row_span span = job->args->spans[i];

        if (span.lo < span.hi) {
            job->lo = min_size(job->lo, span.lo);
            job->hi = max_size(job->hi, span.hi);
        }
    }
    if (job->lo > job->hi)
        job->lo = job->hi = 0;
}

static enum status qk_job_init(struct qk_job *job, const struct qk_entropy_args *args, struct row_stat *ret,
                               struct error *err)
{
    size_t micro_rows, dim = args->dim;
    double cap = args->softcap > 0 ? args->softcap : 1 / LOG2_E;

    job->args = args;
    job->rows = ret;
    job->isa = choose_isa();
    micro_rows = job->isa->micro_rows;
    job->n_threads = cpu_threads();
    job->factor = args->scale / cap;
    job->keys.dtype = args->dtype;
    job->keys.n = args->n_cols;
    job->keys.dim = dim;
    find_seen_keys(job);
    job->stride = QK_TILE_KEYS + QK_PAD;
    job->tile_rows = min_size(TILE_BYTES / (dim * sizeof(float)), MAX_TILE_ROWS) / micro_rows * micro_rows;
    job->tile_rows = max_size(job->tile_rows, micro_rows);
    job->block_keys = max_size(KEY_BLOCK_BYTES / (dim * sizeof(float)) / QK_TILE_KEYS, 1) * QK_TILE_KEYS;
    job->block_keys = min_size(job->block_keys, round_up(job->hi - job->lo, QK_TILE_KEYS));
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

    TRY(check_args(args, err));
    if (args->n_heads == 0 || args->n_rows == 0)
        return OK;
    TRY(qk_job_init(&job, args, ret, err));
    for (size_t kv_head = 0; kv_head < args->n_kv_heads; kv_head++)
        run_key_head(&job, kv_head);
    for (size_t i = 0; i < args->n_heads * args->n_rows; i++)
        if (ret[i].status == PENDING)
            ret[i] = finish((struct qk_state){ret[i].sum, ret[i].entropy_bits, ret[i].max_weight}, ret[i].n_keys);
    return OK;
}
