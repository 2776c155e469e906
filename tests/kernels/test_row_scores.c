/* Stored scores, 8-bit and scaled weights, and the other forms of entropy: against the reference on every instruction
 * set. */
#include "core/base/scope.h"
#include "kernels/backend.h"
#include "kernels/cpu_isa.h"
#include "tests/ref/ref.h"
#include "tests/support/close.h"
#include "tests/support/kernel_cases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The promise of row_entropy.h; weights of scores err by the rounding of the difference to the largest, 2^-24 of some
 * 20 that matter, and of 2^x. */
static const double BITS = 1e-5;
static const double REL = 1e-5;

static const char *const isas[] = {"avx512", "avx2", "portable"};

static bool use_isa(const char *name)
{
    for (int isa = 0; isa < N_ISAS; isa++)
        if (strcmp(isa_name((enum isa)isa), name) == 0 && !isa_has((enum isa)isa))
            return false;
    cr_assert(eq(int, backend_set_isa(name, NULL), OK));
    return true;
}

/* `is_k90_sharp`: false where the weights come from 2^x, which rounds them, and the 90 % may fall between two keys. */
static void check(struct row_entropy_args *args, bool is_k90_sharp, const char *what)
{
    size_t n = args->n_heads * args->n_rows, n_buckets = args->n_heads * PROFILE_BUCKETS;
    struct row_stat *want = calloc(n, sizeof *want), *got = calloc(n, sizeof *got), *first = calloc(n, sizeof *first);
    uint64_t *want_profile = calloc(n_buckets, sizeof *want_profile), *profile = calloc(n_buckets, sizeof *profile);
    bool has_first = false;
    char text[512];

    args->profile = want_profile;
    row_entropy_ref(args, want);
    args->profile = profile;
    for (size_t isa = 0; isa < sizeof isas / sizeof *isas; isa++) {
        if (!use_isa(isas[isa]))
            continue;
        memset(profile, 0, n_buckets * sizeof *profile);
        cr_assert(eq(int, row_entropy_cpu(args, got, NULL), OK));
        if (has_first)
            cr_assert(cases_identical(got, first, n), "%s, %s: %s has other bits", what, dtype_name(args->dtype),
                      isas[isa]);
        memcpy(first, got, n * sizeof *got);
        has_first = true;
        for (size_t i = 0; i < n && !is_k90_sharp; i++) {
            double off = fabs((double)got[i].k90 - (double)want[i].k90);

            cr_assert(off <= 1 + 1e-5 * want[i].n_keys, "%s, row %zu: k90 %u for %u", what, i, got[i].k90, want[i].k90);
            got[i].k90 = want[i].k90;
        }
        cr_assert(eq(sz, cases_compare_all(got, want, n, BITS, REL, text), n), "%s, %s, %s: %s", what,
                  dtype_name(args->dtype), isas[isa], text);
        cr_assert(eq(sz, cases_compare_profiles(profile, want_profile, args->n_heads, (double)args->n_rows), n_buckets),
                  "%s, %s, %s: another profile", what, dtype_name(args->dtype), isas[isa]);
    }
    args->profile = NULL;
    free(want);
    free(got);
    free(first);
    free(want_profile);
    free(profile);
}

enum { ROWS = 40, COLS = 300 };

static void fill_scores(double *x, double sd, double offset, uint64_t seed)
{
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++)
        x[i] = sd * cases_normal(seed, i) + offset;
}

/* float32 keeps 2^-11 of scores near 1e4: that is what was stored, and no error. */
Test(row_scores, scores_of_every_type_and_offset_agree_with_float64)
{
    static const double offsets[] = {0, 1e4, -1e4, 300, -40};
    double *x = calloc((size_t)ROWS * COLS, sizeof *x);
    struct row_span spans[ROWS];
    char what[64];

    cases_causal(spans, ROWS, COLS, 0);
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
        for (int type = 0; type < N_DTYPES; type++) {
            bool is_byte = dtype_bytes((enum dtype)type) == 1;
            struct row_entropy_args args = {.spans = spans,
                                            .dtype = (enum dtype)type,
                                            .n_heads = 1,
                                            .n_rows = ROWS,
                                            .n_cols = COLS,
                                            .query_col = COLS - ROWS,
                                            .sink_col = 1,
                                            .kind = ROWS_SCORES,
                                            .check_mask = o == 0};
            double scales[ROWS];
            void *stored;

            fill_scores(x, is_byte ? 0.3 : 3, is_byte ? 0 : offsets[o], o + 1);
            for (size_t i = 0; i < ROWS; i++) {
                x[i * COLS + 3] = is_byte ? x[i * COLS + 3] : -INFINITY;
                scales[i] = 0.05 + 0.01 * (double)i;
            }
            args.value_scales = is_byte ? scales : NULL;
            args.weights = stored = cases_encode(x, (size_t)ROWS * COLS, args.dtype);
            snprintf(what, sizeof what, "offset %g", offsets[o]);
            check(&args, false, what);
            free(stored);
        }
    free(x);
}

Test(row_scores, a_million_scores_at_an_offset_stay_within_the_promise)
{
    size_t n = 1 << 20;
    double *x = calloc(n, sizeof *x);
    struct row_span all = {0, 1 << 20};

    for (int type = 0; type <= DTYPE_F64; type += DTYPE_F64) {
        struct row_entropy_args args = {.spans = &all,
                                        .dtype = (enum dtype)type,
                                        .n_heads = 1,
                                        .n_rows = 1,
                                        .n_cols = n,
                                        .query_col = 700000,
                                        .kind = ROWS_SCORES};
        void *stored;

        for (size_t i = 0; i < n; i++)
            x[i] = 2 * cases_normal(77, i) + 1e4;
        args.weights = stored = cases_encode(x, n, args.dtype);
        check(&args, false, "2^20 scores at 1e4");
        free(stored);
    }
    free(x);
}

Test(row_scores, what_a_score_may_be_has_a_status)
{
    static const struct {
        double a, b;
        enum row_status status;
    } rows[] = {{NAN, 1, ROW_NAN},  {INFINITY, 1, ROW_INF}, {INFINITY, NAN, ROW_NAN},      {-INFINITY, 0, ROW_OK},
                {-1e30, 0, ROW_OK}, {-3.4e38, 0, ROW_OK},   {-INFINITY, -3.4e38, ROW_ZERO}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int type = 0; type <= DTYPE_F64; type++) {
            double x[20];
            struct row_span all = {0, 20};
            struct row_entropy_args args = {.spans = &all,
                                            .dtype = (enum dtype)type,
                                            .n_heads = 1,
                                            .n_rows = 1,
                                            .n_cols = 20,
                                            .query_col = 19,
                                            .kind = ROWS_SCORES};
            struct row_stat row;
            void *stored;

            for (size_t i = 0; i < 20; i++)
                x[i] = i % 2 ? rows[r].a : rows[r].b;
            args.weights = stored = cases_encode(x, 20, args.dtype);
            check(&args, false, "statuses");
            cr_assert(eq(int, row_entropy_cpu(&args, &row, NULL), OK));
            cr_assert(eq(u32, row.status, rows[r].status), "case %zu, %s", r, dtype_name(args.dtype));
            free(stored);
        }
}

/* uint8 holds 255 times the weights, int8 127 times; every row has its own factor beside. */
Test(row_scores, scaled_weights_of_every_type_agree_with_float64)
{
    static const double factors[] = {1, 0.37, 1.0 / 255, 1.0 / 127, 1e-3, 40};
    double *p = calloc((size_t)ROWS * COLS, sizeof *p);
    struct row_span spans[ROWS];
    double scales[ROWS];

    cases_causal(spans, ROWS, COLS, 100);
    for (size_t i = 0; i < ROWS; i++)
        cases_softmax(p + i * COLS, COLS, 2, i);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
        for (int type = 0; type < N_DTYPES; type++) {
            struct row_entropy_args args = {.spans = spans,
                                            .dtype = (enum dtype)type,
                                            .n_heads = 1,
                                            .n_rows = ROWS,
                                            .n_cols = COLS,
                                            .query_col = COLS - ROWS,
                                            .sink_col = 250,
                                            .value_scales = scales,
                                            .check_mask = true,
                                            .implicit_sink = f == 1};
            void *stored;

            for (size_t i = 0; i < ROWS; i++)
                scales[i] = factors[f] * (1 + 0.1 * (double)(i % 3));
            args.weights = stored = cases_encode(p, (size_t)ROWS * COLS, args.dtype);
            check(&args, true, "scaled");
            free(stored);
        }
    free(p);
}

Test(row_scores, the_forms_with_eps_are_those_of_published_code)
{
    double *p = calloc((size_t)ROWS * COLS, sizeof *p);
    struct row_span spans[ROWS];

    cases_causal(spans, ROWS, COLS, 0);
    for (size_t i = 0; i < ROWS; i++)
        cases_softmax(p + i * COLS, COLS, 2 + (double)i / 4, i);
    for (int form = EPS_NONE; form <= EPS_CLAMP; form++) {
        struct row_entropy_args args = {.weights = p,
                                        .spans = spans,
                                        .dtype = DTYPE_F64,
                                        .n_heads = 1,
                                        .n_rows = ROWS,
                                        .n_cols = COLS,
                                        .query_col = COLS - ROWS,
                                        .eps_form = (enum eps_form)form,
                                        .entropy_eps = 1e-6};

        check(&args, true, "eps");
    }
    free(p);
}

/* Where 90 % is reached to the last bit, the fewest keys are an exact number. */
Test(row_scores, k90_is_exact_for_ties)
{
    for (size_t isa = 0; isa < sizeof isas / sizeof *isas; isa++)
        for (uint32_t n = 1; use_isa(isas[isa]) && n <= 2000; n = n < 40 ? n + 1 : n * 7 / 5)
            for (int type = 0; type <= DTYPE_F64; type++) {
                double *p = calloc(n, sizeof *p);
                struct row_span all = {0, n};
                struct row_entropy_args args = {.spans = &all,
                                                .dtype = (enum dtype)type,
                                                .n_heads = 1,
                                                .n_rows = 1,
                                                .n_cols = n,
                                                .query_col = n - 1};
                struct row_stat row;
                void *stored;

                for (uint32_t i = 0; i < n; i++)
                    p[i] = 1.0 / n;
                args.weights = stored = cases_encode(p, n, args.dtype);
                cr_assert(eq(int, row_entropy_cpu(&args, &row, NULL), OK));
                cr_assert(eq(u32, row.k90, (9 * n + 9) / 10), "%s, %s, %u equal keys", isas[isa],
                          dtype_name(args.dtype), n);
                free(stored);
                free(p);
            }
}
