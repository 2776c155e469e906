/* Entropy of stored weights on the CPU: a float pass per row (row_entropy_body.h), finished by row_finish(). Rows go to
 * threads whole, so their number changes no bit. */
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "kernels/row_entropy.h"
#include "kernels/row_entropy_isa.h"

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
static struct row_stat stat_of_row(const void *weights, size_t n, enum dtype type, struct row_place place,
                                   row_entropy_pass *pass)
{
    struct row_sums sums;
    int ref = row_ref(n), better;

    pass(weights, n, type, ref, place.query, &sums);
    better = row_better_ref(&sums, n, ref);
    if (better != ref)
        pass(weights, n, type, better, place.query, &sums);
    return row_finish(weights, n, type, better, place, &sums);
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

static void run_item(void *context, size_t item, int thread)
{
    const struct row_job *job = context;
    const struct row_entropy_args *args = job->args;
    size_t last = (item + 1) * ITEM_ROWS < job->n_rows ? (item + 1) * ITEM_ROWS : job->n_rows;

    (void)thread;
    for (size_t i = item * ITEM_ROWS; i < last; i++) {
        size_t row = i % args->n_rows;
        struct row_span span = args->spans[row];
        const char *first = (const char *)args->weights + i * job->row_bytes + span.lo * dtype_bytes(args->dtype);

        if (i + 1 < last)
            prefetch_row(job, i + 1);
        if (span.lo < span.hi)
            job->rows[i] = stat_of_row(first, span.hi - span.lo, args->dtype, row_place(args, row), job->pass);
        else
            job->rows[i] = row_without_value(ROW_EMPTY, 0);
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
