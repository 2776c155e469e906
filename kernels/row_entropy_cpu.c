/* Entropy of stored weights on the CPU: a float pass per row (row_entropy_body.h), finished by row_finish(). Rows go to
 * threads whole, so their number changes no bit. */
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "kernels/row_entropy.h"
#include "kernels/row_entropy_isa.h"

#include <string.h>

static row_entropy_pass *choose_pass(void)
{
#ifdef __x86_64__
    if (isa_current() == ISA_AVX512)
        return row_entropy_avx512;
    if (isa_current() == ISA_AVX2)
        return row_entropy_avx2;
#endif
    return row_entropy_portable;
}

/* A second pass, at the row's own scale, for rows that no softmax made. */
static struct row_stat stat_of_row(const struct row_entropy_args *args, size_t index, row_entropy_pass *pass,
                                   uint64_t *profile)
{
    struct row_span span = args->spans[index % args->n_rows];
    const char *weights = (const char *)args->weights + (index * args->n_cols + span.lo) * dtype_bytes(args->dtype);
    struct row_place place = row_place(args, index % args->n_rows);
    struct row_sums sums;
    size_t n = span.hi - span.lo;
    int ref, better;

    if (span.lo >= span.hi || !row_is_plain(args))
        return row_slow(args, index, profile);
    ref = row_ref(n);
    pass(weights, n, args->dtype, ref, place.query, &sums);
    better = row_better_ref(&sums, n, ref);
    if (better != ref)
        pass(weights, n, args->dtype, better, place.query, &sums);
    return row_finish(args, index, better, &sums, profile);
}

/* Rows of one item: enough that taking it costs nothing beside them. */
enum { ITEM_ROWS = 32 };

/* Of the next row: beyond, the processor sees the pattern itself. */
enum { PREFETCH_BYTES = 4096 };

/* So few keys are done before a thread is made. */
enum { FEW_KEYS = 1 << 17 };

struct row_job {
    const struct row_entropy_args *args;
    struct row_stat *rows;
    row_entropy_pass *pass;
    size_t n_rows, row_bytes;
};

/* Rows under a mask lie apart in memory, and the processor does not guess where the next one begins: it is told. */
static void prefetch_row(const struct row_job *job, size_t i)
{
    const struct row_entropy_args *args = job->args;
    struct row_span span = args->spans[i % args->n_rows];
    size_t element = dtype_bytes(args->dtype), bytes = span.lo < span.hi ? (span.hi - span.lo) * element : 0;
    const char *first = (const char *)args->weights + i * job->row_bytes + span.lo * element;

    for (size_t at = 0; at < bytes && at < PREFETCH_BYTES; at += 64)
        __builtin_prefetch(first + at);
}

/* Several threads may have rows of one head: whole numbers add up in any order. */
static void add_profile(uint64_t *to, uint64_t *from)
{
    for (int b = 0; b < PROFILE_BUCKETS; b++)
        if (from[b])
            __atomic_fetch_add(&to[b], from[b], __ATOMIC_RELAXED);
    memset(from, 0, PROFILE_BUCKETS * sizeof *from);
}

static void run_item(void *context, size_t item, int thread)
{
    const struct row_job *job = context;
    const struct row_entropy_args *args = job->args;
    size_t last = (item + 1) * ITEM_ROWS < job->n_rows ? (item + 1) * ITEM_ROWS : job->n_rows;
    uint64_t profile[PROFILE_BUCKETS] = {0};

    (void)thread;
    for (size_t i = item * ITEM_ROWS; i < last; i++) {
        if (i + 1 < last)
            prefetch_row(job, i + 1);
        job->rows[i] = stat_of_row(args, i, job->pass, args->profile ? profile : NULL);
        if (args->profile && (i + 1 == last || (i + 1) % args->n_rows == 0))
            add_profile(args->profile + i / args->n_rows * PROFILE_BUCKETS, profile);
    }
}

enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    struct row_job job = {.args = args, .rows = ret, .pass = choose_pass()};

    TRY(row_check(args, err));
    job.row_bytes = args->n_cols * dtype_bytes(args->dtype);
    job.n_rows = args->n_heads * args->n_rows;
    parallel_for((job.n_rows + ITEM_ROWS - 1) / ITEM_ROWS, job.n_rows * args->n_cols < FEW_KEYS ? 1 : cpu_threads(),
                 run_item, &job);
    return OK;
}
