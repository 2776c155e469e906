#include "core/base/scope.h"
#include "kernels/backend.h"
#include "kernels/cpu_isa.h"
#include "tests/ref/ref.h"
#include "tests/support/kernel_cases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The promise of row_entropy.h. What to expect: r P(r) errs by 1.8e-8 and rounds by 2^-24 near 1, and a lane's 16 float
 * additions by 17 * 2^-24 of the terms at worst, 1e-6 * (KL + 1.1) bits; rounding is not one-sided, so 1e-6 is seen. */
static const double BITS = 1e-5;

/* S: 17 float additions of one sign in a lane, rest in double: 17 * 2^-24; and 2^-24 more for float64 weights. */
static const double REL = 18 * 0x1p-24;

/* The types that hold any weight. */
enum { N_FLOAT_TYPES = DTYPE_F64 + 1 };

static const char *const isas[] = {"avx512", "avx2", "portable"};

/* False where this CPU has it not: then there is nothing to test. */
static bool use_isa(const char *name)
{
    for (int isa = 0; isa < N_ISAS; isa++)
        if (strcmp(isa_name((enum isa)isa), name) == 0 && !isa_has((enum isa)isa))
            return false;
    cr_assert(eq(int, backend_set_isa(name, NULL), OK));
    return true;
}

/* Where row 0's query stands: as in a causal dump, inside the row, before it, beyond it. */
static const int64_t query_cols[] = {INT64_MAX, 3, 600, -2000, 70000};

/* Runs one set of rows on every instruction set, against the reference and against each other. */
static void check(const double *values, size_t n_rows, size_t n_cols, const struct row_span *spans, const char *what)
{
    struct row_stat *want = calloc(n_rows + 2, sizeof *want);
    struct row_stat *got = calloc(n_rows + 2, sizeof *got);
    struct row_stat *first = calloc(n_rows + 2, sizeof *first);
    uint64_t want_profile[PROFILE_BUCKETS], profile[PROFILE_BUCKETS], first_profile[PROFILE_BUCKETS];
    char text[512];

    for (int type = 0; type < N_DTYPES; type++) {
        void *weights = cases_encode(values, n_rows * n_cols, (enum dtype)type);
        struct row_entropy_args args = {.weights = weights,
                                        .spans = spans,
                                        .dtype = (enum dtype)type,
                                        .n_heads = 1,
                                        .n_rows = n_rows,
                                        .n_cols = n_cols,
                                        .sink_col = 2,
                                        .check_mask = true};
        bool has_first = false;

        args.query_col = query_cols[(n_cols + (size_t)type) % (sizeof query_cols / sizeof *query_cols)];
        args.query_col = args.query_col == INT64_MAX ? (int64_t)(n_cols - n_rows) : args.query_col;

        memset(want_profile, 0, sizeof want_profile);
        args.profile = want_profile;
        row_entropy_ref(&args, want);
        args.profile = profile;
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!use_isa(isas[i]))
                continue;
            memset(got, 0x5a, (n_rows + 2) * sizeof *got);
            memset(profile, 0, sizeof profile);
            cr_assert(eq(int, row_entropy_cpu(&args, got + 1, NULL), OK));
            cr_assert(eq(sz, cases_compare_all(got + 1, want, n_rows, BITS, REL, text), n_rows), "%s, %s, %s: %s", what,
                      dtype_name((enum dtype)type), isas[i], text);
            cr_assert(got[0].n_keys == 0x5a5a5a5a && got[n_rows + 1].n_keys == 0x5a5a5a5a,
                      "a sentinel was overwritten");
            cr_assert(eq(sz, cases_compare_profiles(profile, want_profile, 1, (double)n_rows), PROFILE_BUCKETS),
                      "%s, %s, %s: another profile", what, dtype_name((enum dtype)type), isas[i]);
            if (has_first)
                cr_assert(cases_identical(got + 1, first + 1, n_rows) &&
                              memcmp(profile, first_profile, sizeof profile) == 0,
                          "%s, %s: %s has other bits", what, dtype_name((enum dtype)type), isas[i]);
            memcpy(first_profile, profile, sizeof profile);
            memcpy(first, got, (n_rows + 2) * sizeof *got);
            has_first = true;
        }
        free(weights);
    }
    free(want);
    free(got);
    free(first);
}

static void check_row(const double *values, size_t n, const char *what)
{
    struct row_span all = {0, (uint32_t)n};

    check(values, 1, n, &all, what);
}

Test(row_entropy, softmax_rows_of_every_length_agree_with_float64)
{
    static const size_t lengths[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 511, 512, 513, 1023, 1024, 1025, 65537};
    double *p = calloc(65537, sizeof *p);
    char what[64];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int sd = 0; sd <= 12; sd += 3) {
            cases_softmax(p, lengths[i], sd, lengths[i] + (size_t)sd);
            snprintf(what, sizeof what, "%zu keys, sd %d", lengths[i], sd);
            check_row(p, lengths[i], what);
        }
    free(p);
}

Test(row_entropy, a_million_keys_stay_within_the_promise)
{
    size_t n = 1 << 20;
    double *p = calloc(n, sizeof *p);

    for (int sd = 0; sd <= 4; sd += 2) {
        cases_softmax(p, n, sd, (size_t)sd);
        check_row(p, n, "2^20 keys");
    }
    for (size_t i = 0; i < n; i++) /* half the mass on one key: KL and H are both 10 */
        p[i] = i == 77777 ? 0.5 : 0.5 / (double)(n - 1);
    check_row(p, n, "2^20 keys, half the mass on one");
    free(p);
}

/* Powers of two have exact logarithms and exact sums: no tolerance. */
Test(row_entropy, uniform_rows_of_powers_of_two_are_exact)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t n = 1; use_isa(isas[i]) && n <= 1 << 14; n *= 2) { /* 2^-14: the smallest normal half */
            struct row_span all = {0, (uint32_t)n};
            double *p = calloc(n, sizeof *p);

            for (size_t j = 0; j < n; j++)
                p[j] = 1.0 / (double)n;
            for (int type = 0; type < N_FLOAT_TYPES; type++) {
                void *weights = cases_encode(p, n, (enum dtype)type);
                struct row_entropy_args args = {.weights = weights,
                                                .spans = &all,
                                                .dtype = (enum dtype)type,
                                                .n_heads = 1,
                                                .n_rows = 1,
                                                .n_cols = n};
                struct row_stat row;

                cr_assert(eq(int, row_entropy_cpu(&args, &row, NULL), OK));
                cr_assert(row.entropy_bits == log2((double)n), "%s, %zu keys: %.17g", isas[i], n, row.entropy_bits);
                cr_assert(row.sum == 1 && row.max_weight == 1.0 / (double)n);
                free(weights);
            }
            free(p);
        }
}

Test(row_entropy, one_hot_rows_have_positive_zero_entropy)
{
    static const double tops[] = {1, 0.999, 0.3, 1e-3, 0x1p-24, 255, 60000};
    double p[100] = {0};
    struct row_span all = {0, 100};

    for (size_t i = 0; i < 3; i++)
        for (size_t t = 0; use_isa(isas[i]) && t < sizeof tops / sizeof *tops; t++)
            for (int type = 0; type < N_FLOAT_TYPES; type++) {
                struct row_entropy_args args = {
                    .spans = &all, .dtype = (enum dtype)type, .n_heads = 1, .n_rows = 1, .n_cols = 100};
                struct row_stat row;
                void *weights;

                memset(p, 0, sizeof p);
                p[t * 13] = tops[t];
                args.weights = weights = cases_encode(p, 100, (enum dtype)type);
                cr_assert(eq(int, row_entropy_cpu(&args, &row, NULL), OK));
                cr_assert(row.entropy_bits == 0 && !signbit(row.entropy_bits), "%s: %g", isas[i], row.entropy_bits);
                cr_assert(row.max_weight == row.sum && row.status == ROW_OK, "the maximum is the weight as stored");
                free(weights);
            }
}

Test(row_entropy, odd_scales_and_tiny_weights_agree_with_float64)
{
    static const double scales[] = {255,   1e4,      1e-3,  0x1p-20, 1e-7, 1e-20,  0x1p-59,
                                    1e-30, 0x1p-127, 1e-44, 1e25,    1e37, 1e-300, 1e300};
    double p[700];
    char what[64];

    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        cases_softmax(p, 700, 3, s);
        for (size_t i = 0; i < 700; i++)
            p[i] *= scales[s];
        snprintf(what, sizeof what, "scale %g", scales[s]);
        check_row(p, 700, what);
    }
    for (size_t i = 0; i < 700; i++) /* every binade of float, subnormals too, beside one large weight */
        p[i] = i == 0 ? 1 : ldexp(1 + cases_uniform(5, i), -(int)(i % 149));
    check_row(p, 700, "all binades");
    for (size_t i = 0; i < 700; i++) /* subnormal halves alone: multiples of 2^-24 */
        p[i] = (double)(i % 5) * 0x1p-24;
    check_row(p, 700, "subnormal halves");
}

Test(row_entropy, what_is_no_distribution_has_a_status)
{
    static const struct {
        double a, b, c;
        enum row_status status;
    } rows[] = {
        {NAN, 0.5, 0.5, ROW_NAN},       {NAN, INFINITY, -1, ROW_NAN}, {0.5, -1, NAN, ROW_NAN},
        {INFINITY, 0.5, 0.5, ROW_INF},  {-INFINITY, 0.5, 0, ROW_INF}, {-1, 0.5, INFINITY, ROW_INF},
        {-0.5, 0.5, 0.5, ROW_NEGATIVE}, {0, -0.25, 0, ROW_NEGATIVE},  {0, 0, 0, ROW_ZERO},
        {-0.0, 0, -0.0, ROW_ZERO},      {-0.0, 0.5, 0.5, ROW_OK},     {0.25, -0.0, 0.75, ROW_OK},
    };
    double p[64];

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct row_span all = {0, 64};
        struct row_entropy_args args = {
            .weights = p, .spans = &all, .dtype = DTYPE_F64, .n_heads = 1, .n_rows = 1, .n_cols = 64};
        struct row_stat row;

        memset(p, 0, sizeof p);
        p[0] = rows[r].a;
        p[31] = rows[r].b;
        p[63] = rows[r].c;
        check_row(p, 64, "statuses");
        cr_assert(eq(int, row_entropy_cpu(&args, &row, NULL), OK));
        cr_assert(eq(u32, row.status, rows[r].status), "row %zu", r);
        cr_assert(rows[r].status == ROW_OK || (isnan(row.sum) && isnan(row.entropy_bits) && isnan(row.max_weight)));
    }
}

/* What the mask hides may hold anything, also in the same 64 bytes as what it shows. */
Test(row_entropy, reads_the_visible_span_alone)
{
    enum { ROWS = 40, COLS = 70 };
    double p[ROWS * COLS];
    struct row_span spans[ROWS];

    for (size_t i = 0; i < ROWS; i++) {
        spans[i].lo = (uint32_t)(i % 7);
        spans[i].hi = (uint32_t)(i == 20 ? spans[i].lo : i == 21 ? 0 : spans[i].lo + 1 + i);
        for (size_t j = 0; j < COLS; j++)
            p[i * COLS + j] = j >= spans[i].lo && j < spans[i].hi ? cases_uniform(9, i * COLS + j) : NAN;
    }
    check(p, ROWS, COLS, spans, "spans");
}

Test(row_entropy, the_number_of_threads_changes_no_bit)
{
    enum { HEADS = 3, ROWS = 150 };
    double *p = calloc(HEADS * ROWS * ROWS, sizeof *p);
    struct row_span spans[ROWS];
    struct row_stat *got[3];

    cases_causal(spans, ROWS, ROWS, 0);
    for (size_t i = 0; i < HEADS * ROWS; i++)
        cases_softmax(p + i * ROWS, ROWS, 2, i);
    for (int type = 0; type < N_DTYPES; type++) {
        void *weights = cases_encode(p, HEADS * ROWS * ROWS, (enum dtype)type);
        struct row_entropy_args args = {.weights = weights,
                                        .spans = spans,
                                        .dtype = (enum dtype)type,
                                        .n_heads = HEADS,
                                        .n_rows = ROWS,
                                        .n_cols = ROWS};

        for (int t = 0; t < 3; t++) {
            got[t] = calloc(HEADS * ROWS, sizeof **got);
            backend_set_threads(t + 1);
            cr_assert(eq(int, row_entropy_cpu(&args, got[t], NULL), OK));
            cr_assert(cases_identical(got[t], got[0], HEADS * ROWS), "%d threads", t + 1);
        }
        for (int t = 0; t < 3; t++)
            free(got[t]);
        free(weights);
    }
    free(p);
}

Test(row_entropy, refuses_sizes_that_it_cannot_index)
{
    struct row_span span = {0, 5};
    struct row_entropy_args huge = {
        .weights = &span, .spans = &span, .dtype = DTYPE_F32, .n_heads = SIZE_MAX / 8, .n_rows = 3, .n_cols = 5};
    struct row_entropy_args beyond = {
        .weights = &span, .spans = &span, .dtype = DTYPE_F32, .n_heads = 1, .n_rows = 1, .n_cols = 4};
    struct row_stat row = {.n_keys = 77};
    struct error err = {0};

    cr_assert(eq(int, row_entropy_cpu(&huge, &row, &err), ERR_LIMIT));
    error_clear(&err);
    cr_assert(eq(int, row_entropy_cpu(&beyond, &row, &err), ERR_LIMIT));
    cr_assert(not(zero(str, err.message)));
    cr_assert(eq(u32, row.n_keys, 77), "a failure leaves the output alone");
}
