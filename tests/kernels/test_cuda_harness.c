/* The CUDA sources on the CPU (tests/support/cuda_harness.h), against the references, in several orders of their
 * threads. */
#include "kernels/device_memory.h"
#include "tests/ref/ref.h"
#include "tests/support/close.h"
#include "tests/support/cuda_harness_control.h"
#include "tests/support/kernel_cases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As on the CPU: float sums of 33 terms at most, the logarithm within 2^-22; scores as in test_qk_entropy.c. */
static const double BITS = 1e-5;
static const double REL = 1e-5;

enum { N_SEEDS = 4 };

/* All types, in several orders of the threads, with and without scales. `form`: what is asked for beside tensor and
 * spans. */
static void check_form(struct row_entropy_args form, const double *values, const char *what)
{
    size_t n = form.n_heads * form.n_rows, n_units = form.n_heads * PROFILE_BUCKETS;
    struct row_stat *want = calloc(n + 2, sizeof *want);
    struct row_stat *got = calloc(n + 2, sizeof *got);
    struct row_stat *first = calloc(n + 2, sizeof *first);
    uint64_t *want_profile = calloc(3 * n_units, sizeof *want_profile), *profile = want_profile + n_units;
    char text[512];

    for (int type = 0; type < N_DTYPES; type++) {
        struct row_entropy_args args = form;
        void *weights = cases_encode(values, n * form.n_cols, (enum dtype)type);

        args.weights = weights;
        args.dtype = (enum dtype)type;
        args.query_col = type == DTYPE_F32 ? -3 : (int64_t)form.n_cols / (type + 1) - 1;
        args.profile = want_profile;
        memset(want_profile, 0, n_units * sizeof *profile);
        row_entropy_ref(&args, want);
        args.profile = profile;
        for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
            memset(got, 0x5a, (n + 2) * sizeof *got);
            memset(profile, 0, n_units * sizeof *profile);
            harness_seed(seed);
            cr_assert(eq(int, row_entropy_harness(&args, got + 1, NULL), OK));
            cr_assert(eq(sz, cases_compare_all(got + 1, want, n, BITS, REL, text), n), "%s, %s, seed %d: %s", what,
                      dtype_name((enum dtype)type), (int)seed, text);
            cr_assert(eq(sz, cases_compare_profiles(profile, want_profile, args.n_heads, (double)args.n_rows), n_units),
                      "%s, %s: another profile", what, dtype_name((enum dtype)type));
            cr_assert(got[0].n_keys == 0x5a5a5a5a && got[n + 1].n_keys == 0x5a5a5a5a, "a sentinel was overwritten");
            cr_assert(seed == 0 || (cases_identical(got + 1, first + 1, n) &&
                                    memcmp(profile, profile + n_units, n_units * sizeof *profile) == 0),
                      "%s: the order of threads shows", what);
            memcpy(first, got, (n + 2) * sizeof *got);
            memcpy(profile + n_units, profile, n_units * sizeof *profile);
        }
        free(weights);
    }
    cr_assert(eq(int, harness_live_allocations(), 0));
    free(want);
    free(got);
    free(first);
    free(want_profile);
}

static void check_rows(const double *values, size_t n_heads, size_t n_rows, size_t n_cols, const struct row_span *spans,
                       const char *what)
{
    struct row_entropy_args form = {
        .spans = spans, .n_heads = n_heads, .n_rows = n_rows, .n_cols = n_cols, .sink_col = 1};

    check_form(form, values, what);
    form.check_mask = true;
    form.implicit_sink = true;
    form.sink_col = -2;
    check_form(form, values, what);
}

Test(cuda_harness, rows_of_every_length_and_alignment_agree_with_float64)
{
    static const size_t lengths[] = {1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1025, 2048, 2049, 5001};
    double *p = calloc(3 * 5001, sizeof *p);
    char what[64];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        struct row_span spans[3] = {{0, (uint32_t)n}, {(uint32_t)(n / 3), (uint32_t)n}, {1, (uint32_t)(n / 2)}};

        for (size_t r = 0; r < 3; r++)
            cases_softmax(p + r * n, n, 3 * (double)r, n + r);
        snprintf(what, sizeof what, "%zu keys", n);
        check_rows(p, 1, 3, n, spans, what);
    }
    free(p);
}

Test(cuda_harness, odd_rows_have_their_status_and_scale)
{
    enum { ROWS = 12, COLS = 90 };
    double p[ROWS * COLS];
    struct row_span spans[ROWS];

    for (size_t i = 0; i < ROWS; i++) {
        spans[i] = (struct row_span){(uint32_t)(i % 3), i == 7 ? 0 : COLS - (uint32_t)i};
        cases_softmax(p + i * COLS, COLS, 2, i);
        for (size_t j = 0; j < COLS; j++)
            p[i * COLS + j] *= i == 8 ? 1e-3 : i == 9 ? 1e-7 : i == 10 ? 300 : 1;
        p[i * COLS + COLS - 1] = i ? NAN : 0; /* hidden */
    }
    p[1 * COLS + 40] = NAN;
    p[2 * COLS + 40] = INFINITY;
    p[3 * COLS + 40] = -0.25;
    p[4 * COLS + 40] = -0.0;
    for (size_t j = 0; j < COLS; j++) {
        p[5 * COLS + j] = 0;
        p[6 * COLS + j] = j == 50;
    }
    check_rows(p, 1, ROWS, COLS, spans, "odd rows");
}

/* Each row with a scale of its own: as weights, and as scores of a wide and a narrow spread around an offset. */
Test(cuda_harness, scales_and_scores_agree_with_float64)
{
    static const size_t lengths[] = {1, 2, 31, 33, 130, 1029, 4100};
    enum { ROWS = 5 };
    double *p = calloc(2 * ROWS * 4100, sizeof *p), scales[2 * ROWS];

    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t n = lengths[l];
        struct row_span spans[ROWS] = {{0, (uint32_t)n},
                                       {(uint32_t)(n / 3), (uint32_t)n},
                                       {0, (uint32_t)(n / 2)},
                                       {0, 1},
                                       {(uint32_t)(n - 1), (uint32_t)n}};
        struct row_entropy_args form = {.spans = spans,
                                        .n_heads = 2,
                                        .n_rows = ROWS,
                                        .n_cols = n,
                                        .sink_col = 0,
                                        .value_scales = scales,
                                        .check_mask = true};

        for (size_t r = 0; r < 2 * ROWS; r++) {
            cases_softmax(p + r * n, n, 3, n + r);
            scales[r] = ldexp(1 + (double)r / 16, -7);
            for (size_t j = 0; j < n; j++)
                p[r * n + j] = fmin(p[r * n + j] / scales[r], 127);
        }
        check_form(form, p, "scaled weights");
        form.kind = ROWS_SCORES;
        for (size_t r = 0; r < 2 * ROWS; r++) {
            scales[r] = 0.05 + 0.2 * (double)r;
            for (size_t j = 0; j < n; j++)
                p[r * n + j] = 8 * cases_normal(r, j) - 3;
        }
        check_form(form, p, "scaled scores");
        form.value_scales = NULL;
        for (size_t i = 0; i < 2 * ROWS * n; i++)
            p[i] = i % 7 == 3 ? -INFINITY : i % 11 == 5 ? -3e38 : p[i] / 8 + 10000;
        p[2 * n] = n > 2 ? NAN : p[2 * n];
        p[4 * n - 1] = n > 2 ? INFINITY : p[4 * n - 1];
        for (size_t j = 0; j < n; j++)
            p[n + j] = -INFINITY;
        check_form(form, p, "scores at an offset of 1e4");
    }
    free(p);
}

Test(cuda_harness, heads_share_their_spans)
{
    enum { HEADS = 3, N = 37 };
    double *p = calloc(HEADS * N * N, sizeof *p);
    struct row_span spans[N];

    cases_causal(spans, N, N, 20);
    for (size_t i = 0; i < HEADS * N; i++)
        cases_softmax(p + i * N, N, 1, i);
    check_rows(p, HEADS, N, N, spans, "heads");
    free(p);
}

static void check_qk(struct qk_entropy_args *args, const char *what)
{
    size_t n = args->n_heads * args->n_rows, n_units = args->n_heads * PROFILE_BUCKETS;
    struct row_stat *want = calloc(n + 2, sizeof *want);
    struct row_stat *got = calloc(n + 2, sizeof *got);
    struct row_stat *first = calloc(n + 2, sizeof *first);
    uint64_t *want_profile = calloc(2 * n_units, sizeof *want_profile), *profile = want_profile + n_units;
    double *want_lse = calloc(2 * n, sizeof *want_lse), *lse = want_lse + n;
    char text[512];

    args->profile = want_profile;
    args->lse = want_lse;
    args->skip_k90 = true;
    qk_entropy_ref(args, want);
    args->profile = profile;
    args->lse = lse;
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        memset(got, 0x5a, (n + 2) * sizeof *got);
        memset(profile, 0, n_units * sizeof *profile);
        harness_seed(seed);
        cr_assert(eq(int, qk_entropy_harness(args, got + 1, NULL), OK));
        cr_assert(eq(sz, cases_compare_all(got + 1, want, n, BITS, REL, text), n), "%s, seed %d: %s", what, (int)seed,
                  text);
        cr_assert(eq(sz, cases_compare_profiles(profile, want_profile, args->n_heads, (double)args->n_rows), n_units),
                  "%s: another profile", what);
        for (size_t i = 0; i < n; i++) /* as the scores, and the offset in double */
            cr_assert(close_to(lse[i], want_lse[i], (struct tol){1e-5, 1e-7}), "%s: lse %.9g/%.9g", what, lse[i],
                      want_lse[i]);
        cr_assert(got[0].n_keys == 0x5a5a5a5a && got[n + 1].n_keys == 0x5a5a5a5a, "a sentinel was overwritten");
        cr_assert(seed == 0 || cases_identical(got + 1, first + 1, n), "%s: the order of threads shows", what);
        memcpy(first, got, (n + 2) * sizeof *got);
    }
    cr_assert(eq(int, harness_live_allocations(), 0));
    free(want);
    free(got);
    free(first);
    free(want_profile);
    free(want_lse);
}

Test(cuda_harness, scores_of_every_shape_agree_with_float64)
{
    static const struct {
        size_t heads, kv_heads, rows, cols, dim, window;
        double sd, offset, softcap;
    } shapes[] = {
        {1, 1, 1, 1, 1, 0, 1, 0, 0},       {2, 1, 13, 13, 3, 0, 2, 0, 0},   {4, 2, 45, 70, 40, 0, 3, 0, 0},
        {2, 2, 70, 150, 33, 30, 2, 50, 0}, {2, 1, 20, 66, 16, 0, 4, 0, 30}, {1, 1, 65, 129, 64, 0, 3, 300, 0},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t n_q = shapes[i].heads * shapes[i].rows * shapes[i].dim;
        size_t n_k = shapes[i].kv_heads * shapes[i].cols * shapes[i].dim;
        double *q = calloc(n_q, sizeof *q), *k = calloc(n_k, sizeof *k);
        struct row_span *spans = calloc(shapes[i].rows, sizeof *spans);
        struct qk_entropy_args args = {
            .spans = spans,
            .dtype = (enum dtype)(i % N_DTYPES),
            .n_heads = shapes[i].heads,
            .n_kv_heads = shapes[i].kv_heads,
            .n_rows = shapes[i].rows,
            .n_cols = shapes[i].cols,
            .dim = shapes[i].dim,
            .scale = 1 / sqrt((double)shapes[i].dim),
            .softcap = shapes[i].softcap,
            .query_col = (int64_t)shapes[i].cols - (int64_t)shapes[i].rows - (int64_t)(i % 2 * 20),
            .sink_col = 1,
        };
        void *q_typed, *k_typed;
        char what[64];

        for (size_t j = 0; j < n_q; j++)
            q[j] = shapes[i].sd * cases_normal(1, j);
        for (size_t j = 0; j < n_k; j++)
            k[j] = cases_normal(2, j) + shapes[i].offset;
        args.q = q_typed = cases_encode(q, n_q, args.dtype);
        args.k = k_typed = cases_encode(k, n_k, args.dtype);
        cases_causal(spans, shapes[i].rows, shapes[i].cols, shapes[i].window);
        snprintf(what, sizeof what, "shape %zu", i);
        check_qk(&args, what);
        free(q);
        free(k);
        free(spans);
        free(q_typed);
        free(k_typed);
    }
}

/* Keys in two blocks, rows in two chunks, and the same numbers as with all the memory. */
Test(cuda_harness, little_memory_changes_nothing)
{
    enum { HEADS = 4, ROWS = 230, COLS = 2100, DIM = 8 };
    double *q = calloc(HEADS * ROWS * DIM, sizeof *q), *k = calloc(COLS * DIM, sizeof *k);
    struct row_span spans[ROWS];
    struct qk_entropy_args args = {.q = q,
                                   .k = k,
                                   .spans = spans,
                                   .dtype = DTYPE_F64,
                                   .n_heads = HEADS,
                                   .n_kv_heads = 1,
                                   .n_rows = ROWS,
                                   .n_cols = COLS,
                                   .dim = DIM,
                                   .scale = 0.5,
                                   .query_col = COLS - ROWS,
                                   .sink_col = 2};

    cases_causal(spans, ROWS, COLS, 0);
    for (size_t i = 0; i < HEADS * ROWS * DIM; i++)
        q[i] = 2 * cases_normal(5, i);
    for (size_t i = 0; i < COLS * DIM; i++)
        k[i] = cases_normal(6, i) + 20;
    device_memory_set(1);
    check_qk(&args, "little memory");
    device_memory_set(0);
    free(q);
    free(k);
}

Test(cuda_harness, what_is_not_finite_spoils_the_rows_that_see_it)
{
    enum { N = 70, DIM = 8 };
    double q[N * DIM], k[N * DIM];
    struct row_span spans[N];
    struct qk_entropy_args args = {.q = q,
                                   .k = k,
                                   .spans = spans,
                                   .dtype = DTYPE_F64,
                                   .n_heads = 1,
                                   .n_kv_heads = 1,
                                   .n_rows = N,
                                   .n_cols = N,
                                   .dim = DIM,
                                   .scale = 0.5};

    cases_causal(spans, N, N, 9);
    spans[10] = (struct row_span){0, 0};
    for (size_t i = 0; i < N * DIM; i++) {
        q[i] = cases_normal(3, i);
        k[i] = cases_normal(4, i);
    }
    k[40 * DIM] = NAN;
    q[5 * DIM + 2] = -INFINITY;
    q[6 * DIM + 2] = 1e12;
    check_qk(&args, "not finite");
}

static enum status run_kernel(int kernel, struct row_stat *ret, struct error *err)
{
    enum { N = 5, DIM = 4 };
    double x[N * N];
    struct row_span spans[N];
    struct row_entropy_args rows = {
        .weights = x, .spans = spans, .dtype = DTYPE_F64, .n_heads = 1, .n_rows = N, .n_cols = N};
    struct qk_entropy_args qk = {.q = x,
                                 .k = x,
                                 .spans = spans,
                                 .dtype = DTYPE_F64,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .n_rows = N,
                                 .n_cols = N,
                                 .dim = DIM,
                                 .scale = 0.5};

    cases_causal(spans, N, N, 0);
    for (size_t i = 0; i < N * N; i++)
        x[i] = cases_uniform(7, i);
    return kernel ? qk_entropy_harness(&qk, ret, err) : row_entropy_harness(&rows, ret, err);
}

/* Every call of the runtime fails once: a clear error, nothing written, nothing kept. */
Test(cuda_harness, a_failing_call_is_reported_with_its_place)
{
    struct row_stat ret[5];

    for (int kernel = 0; kernel < 2; kernel++) {
        int n_calls, n_failed = 0;

        harness_fail_call(0);
        cr_assert(eq(int, run_kernel(kernel, ret, NULL), OK));
        n_calls = harness_calls();
        for (int n = 1; n <= n_calls; n++) {
            struct error err = {0};

            ret[0].n_keys = 77;
            harness_fail_call(n);
            if (run_kernel(kernel, ret, &err) == OK)
                continue; /* cleaning up disregards errors */
            n_failed++;
            cr_assert(eq(int, (int)err.code, ERR_DEVICE), "call %d", n);
            cr_assert(strstr(err.message, "out of memory") != NULL, "%s", err.message);
            cr_assert(strstr(err.message, " at ") != NULL, "%s", err.message);
            cr_assert(eq(u32, ret[0].n_keys, 77), "a failure leaves the output alone");
            cr_assert(eq(int, harness_live_allocations(), 0));
        }
        cr_assert(n_failed >= n_calls - 3, "%d of %d", n_failed, n_calls); /* streams that are waited for in the end */
    }
    harness_fail_call(0);
}
