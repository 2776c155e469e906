/* Entropy of stored weights on the CPU: a float pass per row (row_entropy_body.h), finished by row_finish(). Rows go to
 * threads whole, so their number changes no bit. */
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "kernels/row_entropy.h"
#include "kernels/row_entropy_isa.h"
#include "kernels/row_k90.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct row_isa *row_isa_chosen(void)
{
#ifdef __x86_64__
    if (isa_current() == ISA_AVX512)
        return &row_entropy_avx512;
    if (isa_current() == ISA_AVX2)
        return &row_entropy_avx2;
#endif
    return &row_entropy_portable;
}

/* Room of one thread for a row; owned by the job. */
struct row_scratch {
    float *weights; /* of scores */
    struct k90_scratch k90;
};

struct row_job {
    const struct row_entropy_args *args;
    const struct row_isa *isa;
    struct row_stat *rows;
    struct row_scratch *scratch; /* owned: n_threads */
    size_t n_rows, row_bytes;
    int n_threads;
};

static void row_job_done(struct row_job *job)
{
    for (int i = 0; job->scratch && i < job->n_threads; i++) {
        free(job->scratch[i].weights);
        free(job->scratch[i].k90.a);
        free(job->scratch[i].k90.b);
    }
    free(job->scratch);
}

/* A row's weights in memory, each times `unit`; sums are of row_unit(type) times what is stored. */
struct row_values {
    const void *weights;
    size_t n;
    enum dtype type;
    double unit;
};

enum { SINK_KEYS = 4 };

/* The weight on the sample's first key and on its first four, those that the row sees. `sink`: where the first is. */
static void add_sinks(const struct row_isa *isa, const struct row_values *v, int64_t sink, struct row_stat *row)
{
    double unit = v->unit / row_unit(v->type);
    int64_t at = sink < 0 ? 0 : sink, end = sink + SINK_KEYS < (int64_t)v->n ? sink + SINK_KEYS : (int64_t)v->n;
    float p[ROW_PAD];

    if (at >= end)
        return;
    isa->few(v->weights, (size_t)at, (size_t)(end - at), v->type, p);
    row->sink_weight = sink < 0 ? 0 : (double)p[0] * unit;
    row->sink4_weight = ((((double)p[0] + (double)p[1]) + (double)p[2]) + (double)p[3]) * unit;
}

/* A second pass, at the row's own scale, for rows that no softmax made. False where floats cannot hold the row. */
static bool fast_sums(const struct row_isa *isa, const struct row_values *v, int64_t query, int *ref,
                      struct row_sums *sums)
{
    int better;

    isa->sums(v->weights, v->n, v->type, *ref, query, sums);
    better = row_better_ref(sums, v->n, *ref);
    if (better != *ref)
        isa->sums(v->weights, v->n, v->type, better, query, sums);
    *ref = better;
    return row_sums_hold(sums, v->type, v->n, better);
}

/* 0 where `scale` has no place in float arithmetic. */
static int ref_of_scale(size_t n, enum dtype type, double scale)
{
    double stored = row_unit(type) / scale; /* what a weight of 1 is in the sums */
    int ref = row_ref(n);

    if (stored < 1 || stored > 1)
        ref += stored > 0x1p-40 && stored < 0x1p40 ? ilogb(stored) : 0;

    return ref < -60 ? -60 : ref > -1 ? -1 : ref;
}

/* Scores as weights relative to the largest; sets what log(sum e^score) is. False where the row is not all right. */
static bool weigh(const struct row_isa *isa, const struct row_entropy_args *args, struct row_values *v, double scale,
                  float *room, double *ret_lse, int *ret_ref)
{
    static const double LOG2_E = 0x1.71547652b82fep0;
    double unit = row_unit(v->type), factor = scale / unit * LOG2_E, top, sum;
    bool is_special;

    top = isa->top(v->weights, v->n, v->type, &is_special);
    if (is_special || isinf(top) || is_masked_score(top / unit, args->dtype) || !(scale > 0x1p-60) || scale > 0x1p60)
        return false;
    sum = isa->weigh(v->weights, v->n, v->type, masked_score(args->dtype) * unit, top, factor, room);
    *ret_lse = (top * factor + log2(sum)) / LOG2_E;
    *ret_ref = row_ref(v->n) + ilogb(sum);
    *ret_ref = *ret_ref > -1 ? -1 : *ret_ref;
    *v = (struct row_values){room, v->n, DTYPE_F32, 1};
    return true;
}

/* Row `index` of all heads' rows, which is that of query `query`. */
static struct row_stat stat_of_row(const struct row_job *job, size_t index, size_t query, struct row_scratch *scratch,
                                   uint64_t *profile)
{
    const struct row_entropy_args *args = job->args;
    struct row_span span = args->spans[query];
    struct row_place place = row_place(args, query);
    const char *first = (const char *)args->weights + index * job->row_bytes + span.lo * dtype_bytes(args->dtype);
    double scale = args->value_scales ? args->value_scales[index] : 1, lse = 0;
    struct row_values v = {first, span.hi - span.lo, args->dtype, scale};
    struct row_sums sums;
    struct row_stat row;
    int ref;
    float max;

    if (span.lo >= span.hi || args->eps_form != EPS_NONE || !(scale > 0) || isinf(scale))
        return row_slow(args, index, profile);
    ref = ref_of_scale(v.n, v.type, scale);
    if (args->kind == ROWS_SCORES && !weigh(job->isa, args, &v, scale, scratch->weights, &lse, &ref))
        return row_slow(args, index, profile);
    if (!fast_sums(job->isa, &v, place.query, &ref, &sums))
        return row_slow(args, index, profile);
    if (args->kind == ROWS_SCORES)
        v.unit = 1 / sums.sum;
    row = row_finish(args, query, v.unit / row_unit(v.type), ref, &sums, profile);
    add_sinks(job->isa, &v, place.sink, &row);
    memcpy(&max, &sums.max_bits, sizeof max);
    if (!args->skip_k90)
        row.k90 = row_k90(job->isa, v.weights, v.n, v.type, sums.sum, max, &scratch->k90);
    if (args->check_mask)
        row.leak = row_leak(args, index, lse);
    return row;
}

/* Rows of one item: enough that taking it costs nothing beside them. */
enum { ITEM_ROWS = 32 };

/* Of the next row: beyond, the processor sees the pattern itself. */
enum { PREFETCH_BYTES = 4096 };

/* So few keys are done before a thread is made. */
enum { FEW_KEYS = 1 << 17 };

/* Rows under a mask lie apart in memory, and the processor does not guess where the next one begins: it is told. */
static void prefetch_row(const struct row_job *job, size_t i, size_t query)
{
    const struct row_entropy_args *args = job->args;
    struct row_span span = args->spans[query];
    size_t element = dtype_bytes(args->dtype), bytes = span.lo < span.hi ? (span.hi - span.lo) * element : 0;
    const char *first = (const char *)args->weights + i * job->row_bytes + span.lo * element;

    for (size_t at = 0; at < bytes && at < PREFETCH_BYTES; at += 64)
        __builtin_prefetch(first + at);
}

static void run_item(void *context, size_t item, int thread)
{
    const struct row_job *job = context;
    const struct row_entropy_args *args = job->args;
    size_t first = item * ITEM_ROWS, last = first + ITEM_ROWS < job->n_rows ? first + ITEM_ROWS : job->n_rows;
    size_t head = first / args->n_rows, query = first % args->n_rows, next;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    for (size_t i = first; i < last; i++) {
        next = query + 1 < args->n_rows ? query + 1 : 0;
        if (i + 1 < last)
            prefetch_row(job, i + 1, next);
        job->rows[i] = stat_of_row(job, i, query, &job->scratch[thread], args->profile ? profile : NULL);
        if (args->profile && (i + 1 == last || next == 0))
            profile_add(args->profile + head * PROFILE_BUCKETS, profile);
        head += next == 0;
        query = next;
    }
}

static enum status row_job_init(struct row_job *job, struct error *err)
{
    const struct row_entropy_args *args = job->args;
    size_t longest = 0;

    job->isa = row_isa_chosen();
    job->row_bytes = args->n_cols * dtype_bytes(args->dtype);
    job->n_rows = args->n_heads * args->n_rows;
    job->n_threads = job->n_rows * args->n_cols < FEW_KEYS ? 1 : cpu_threads();
    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].hi > args->spans[i].lo && args->spans[i].hi - args->spans[i].lo > longest)
            longest = args->spans[i].hi - args->spans[i].lo;
    TRY(mem_new((size_t)job->n_threads, sizeof *job->scratch, &job->scratch, err));
    for (int i = 0; i < job->n_threads; i++) {
        struct row_scratch *s = &job->scratch[i];

        if (args->kind == ROWS_SCORES)
            TRY(mem_new(longest + ROW_PAD, sizeof *s->weights, &s->weights, err));
        TRY(mem_new(longest + ROW_PAD, sizeof *s->k90.a, &s->k90.a, err));
        TRY(mem_new(longest + ROW_PAD, sizeof *s->k90.b, &s->k90.b, err));
    }
    return OK;
}

enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    AUTO(row_job) job = {.args = args, .rows = ret};

    TRY(row_check(args, err));
    TRY(row_job_init(&job, err));
    parallel_for((job.n_rows + ITEM_ROWS - 1) / ITEM_ROWS, job.n_threads, run_item, &job);
    return OK;
}
