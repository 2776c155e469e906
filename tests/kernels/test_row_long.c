/* Rows that several blocks share (kernels/row_long.cuh), on the CPU harness against float64. */
#include "kernels/device_memory.h"
#include "tests/ref/ref.h"
#include "tests/support/cuda_harness_control.h"
#include "tests/support/kernel_cases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in test_cuda_harness.c. */
static const double BITS = 1e-5;
static const double REL = 1e-5;

enum { ROWS = 4 };

/* Few keys, all, the last two thirds with a leak before them, and a part that ends within the first block's. */
static void make_spans(struct row_span spans[ROWS], size_t n)
{
    spans[0] = (struct row_span){0, (uint32_t)n};
    spans[1] = (struct row_span){(uint32_t)(n / 3), (uint32_t)n};
    spans[2] = (struct row_span){5, 5};
    spans[3] = (struct row_span){3, 17};
}

/* Of scores the CPU and the device round exponentials apart: where masses nearly tie k90 may miss by one. */
static void forgive_one(struct row_stat *got, const struct row_stat *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i].k90 + 1 == want[i].k90 || got[i].k90 == want[i].k90 + 1)
            got[i].k90 = want[i].k90;
}

static void check_again(const struct row_entropy_args *args, const struct row_stat *want, const struct row_stat *first,
                        const uint64_t *first_profile, const char *what)
{
    uint64_t profile[PROFILE_BUCKETS] = {0};
    struct row_entropy_args a = *args;
    struct row_stat again[ROWS];
    char text[512];

    a.profile = profile;
    harness_seed(2);
    cr_assert(eq(int, row_entropy_harness(&a, again, NULL), OK));
    cr_assert(cases_identical(first, again, ROWS) && memcmp(profile, first_profile, sizeof profile) == 0,
              "%s, %zu keys: the order of threads shows", what, a.n_cols);
    /* So little memory that each row is a chunk. */
    device_memory_set(1);
    cr_assert(eq(int, row_entropy_harness(&a, again, NULL), OK));
    device_memory_set(0);
    forgive_one(again, want, a.kind == ROWS_SCORES ? ROWS : 0);
    cr_assert(eq(sz, cases_compare_all(again, want, ROWS, BITS, REL, text), ROWS), "%s, %zu keys, little memory: %s",
              what, a.n_cols, text);
}

/* `is_thorough`: also in another order of threads, and in little memory. */
static void check(const struct row_entropy_args *args, bool is_thorough, const char *what)
{
    struct row_stat want[ROWS], got[ROWS];
    uint64_t profile[2][PROFILE_BUCKETS] = {{0}};
    struct row_entropy_args a = *args;
    char text[512];

    a.profile = profile[0];
    row_entropy_ref(&a, want);
    harness_seed(1);
    a.profile = profile[1];
    cr_assert(eq(int, row_entropy_harness(&a, got, NULL), OK));
    if (is_thorough)
        check_again(args, want, got, profile[1], what);
    forgive_one(got, want, a.kind == ROWS_SCORES ? ROWS : 0);
    cr_assert(eq(sz, cases_compare_all(got, want, ROWS, BITS, REL, text), ROWS), "%s, %zu keys: %s", what, a.n_cols,
              text);
    cr_assert(eq(sz, cases_compare_profiles(profile[1], profile[0], 1, ROWS), PROFILE_BUCKETS), "%s: another profile",
              what);
    cr_assert(eq(int, harness_live_allocations(), 0));
}

static void check_type(enum row_kind kind, enum dtype type, size_t n, double spread)
{
    double *values = calloc(ROWS * n, sizeof *values);
    struct row_span spans[ROWS];
    struct row_entropy_args args = {.spans = spans,
                                    .dtype = type,
                                    .n_heads = 1,
                                    .n_rows = ROWS,
                                    .n_cols = n,
                                    .query_col = (int64_t)n - ROWS,
                                    .sink_col = 1,
                                    .kind = kind,
                                    .check_mask = true};
    void *typed;

    make_spans(spans, n);
    for (size_t r = 0; r < ROWS; r++) {
        cases_softmax(values + r * n, n, spread, n + r);
        for (size_t j = 0; kind == ROWS_SCORES && j < n; j++)
            values[r * n + j] = spread * cases_normal(r, j) + (type == DTYPE_F32 ? 10000 : 0);
    }
    args.weights = typed = cases_encode(values, ROWS * n, type);
    check(&args, type == DTYPE_F32, dtype_name(type));
    free(values);
    free(typed);
}

Test(row_long, weights_agree_with_float64)
{
    check_type(ROWS_WEIGHTS, DTYPE_F32, 70001, 2);
    check_type(ROWS_WEIGHTS, DTYPE_F16, 200003, 4);
    check_type(ROWS_WEIGHTS, DTYPE_BF16, 65536, 0.1);
    check_type(ROWS_WEIGHTS, DTYPE_F64, 65537, 2);
    check_type(ROWS_WEIGHTS, DTYPE_U8, 66001, 5);
}

Test(row_long, scores_agree_with_float64)
{
    check_type(ROWS_SCORES, DTYPE_F32, 65539, 2);
    check_type(ROWS_SCORES, DTYPE_F16, 200003, 3);
    check_type(ROWS_SCORES, DTYPE_F64, 65536, 0.5);
}

/* One key with everything, ties alone, a part that sees nothing, what floats cannot hold. */
Test(row_long, odd_rows_are_what_they_are_in_float64)
{
    size_t n = 65543;
    float *p = calloc(ROWS * n, sizeof *p);
    struct row_span spans[ROWS];
    struct row_entropy_args args = {.spans = spans,
                                    .weights = p,
                                    .dtype = DTYPE_F32,
                                    .n_heads = 1,
                                    .n_rows = ROWS,
                                    .n_cols = n,
                                    .query_col = 40000};

    for (size_t i = 0; i < ROWS; i++)
        spans[i] = (struct row_span){0, (uint32_t)n};
    p[60000] = 1;
    for (size_t j = 0; j < n; j++) {
        p[n + j] = 1.0F / 65536;
        p[2 * n + j] = j == 30000 ? NAN : 1e-5F;
        p[3 * n + j] = j < 20000 ? 5e-5F : 0;
    }
    check(&args, false, "odd rows");
    p[2 * n + 30000] = -1e-5F;
    p[60000] = INFINITY;
    for (size_t j = 0; j < n; j++)
        p[3 * n + j] = 0;
    check(&args, false, "odder rows");
    args.kind = ROWS_SCORES;
    for (size_t j = 0; j < n; j++) {
        p[j] = j == 50000 ? 3 : -INFINITY;
        p[n + j] = j == 50000 ? INFINITY : 0;
        p[2 * n + j] = -INFINITY;
        p[3 * n + j] = j % 2 ? 7 : -1e30F;
    }
    check(&args, false, "odd scores");
    free(p);
}

Test(row_long, whatever_fails_is_an_error_and_gives_all_memory_back)
{
    size_t n = 65536;
    float *p = calloc(n, sizeof *p);
    struct row_span span = {0, (uint32_t)n};
    struct row_entropy_args args = {
        .spans = &span, .weights = p, .dtype = DTYPE_F32, .n_heads = 1, .n_rows = 1, .n_cols = n, .skip_k90 = true};
    struct row_stat row = {.n_keys = 77};
    int n_calls;

    p[9] = 1;
    harness_fail_call(0);
    cr_assert(eq(int, row_entropy_harness(&args, &row, NULL), OK));
    n_calls = harness_calls();
    for (int i = 1; i <= n_calls; i++) {
        struct error err = {0};

        row.n_keys = 77;
        harness_fail_call(i);
        if (row_entropy_harness(&args, &row, &err) == OK) {
            cr_assert(i > n_calls - 3, "call %d of %d: only streams that are waited for in the end may fail", i,
                      n_calls);
            continue;
        }
        cr_assert(row.n_keys == 77 && err.code == ERR_DEVICE);
        cr_assert(eq(int, harness_live_allocations(), 0), "call %d", i);
    }
    harness_fail_call(0);
    free(p);
}
