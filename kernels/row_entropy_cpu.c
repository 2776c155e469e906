/* Entropy of stored weights on the CPU: a float pass per row (row_entropy_body.h), finished by row_finish(). Rows go to
 * threads whole, so their number changes no bit. */
#include "kernels/cpu_isa.h"
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

enum status row_entropy_cpu(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    row_entropy_pass *pass = choose_pass();
    const char *base = args->weights;
    size_t row_bytes, n_rows;

    TRY(row_check(args, err));
    row_bytes = args->n_cols * dtype_bytes(args->dtype);
    n_rows = args->n_heads * args->n_rows;
#pragma omp parallel for schedule(dynamic, 8) num_threads(cpu_threads()) if (n_rows > 8)
    for (size_t i = 0; i < n_rows; i++) {
        struct row_span span = args->spans[i % args->n_rows];
        const char *first = base + i * row_bytes + span.lo * dtype_bytes(args->dtype);

        if (span.lo < span.hi)
            ret[i] = stat_of_row(first, span.hi - span.lo, args->dtype, row_place(args, i % args->n_rows), pass);
        else
            ret[i] = row_without_value(ROW_EMPTY, 0);
    }
    return OK;
}
