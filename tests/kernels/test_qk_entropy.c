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

/* A float score of size |y| is wrong by some 2^-24 |y|, and H by less than that; |y| is 30 here at most. */
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

struct shape {
    size_t heads, kv_heads, rows, cols, dim, window;
    double sd, offset, softcap;
};

static double *normals(size_t n, double sd, double offset, uint64_t seed)
{
    double *x = calloc(n + 1, sizeof *x);

    for (size_t i = 0; i < n; i++)
        x[i] = sd * cases_normal(seed, i) + offset;
    return x;
}

/* The log-sum-exp is as exact as a score; the reference keeps the score's own rounding out. */
static bool same_lse(const double *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!close_to(got[i], want[i], (struct tol){2e-6, 2e-6}))
            return false;
    return true;
}

/* Scores are off by some 2^-24 of themselves, which moves 2e-6 of the weight: of 100,000 keys and more the last few may
 * fall on either side of the 90 %. */
static void forgive_few_keys(struct row_stat *got, const struct row_stat *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs((double)got[i].k90 - (double)want[i].k90) <= floor(1e-5 * want[i].n_keys))
            got[i].k90 = want[i].k90;
}

struct outputs {
    struct row_stat *rows; /* a sentinel before and behind */
    uint64_t *profile;
    double *lse;
};

static struct outputs outputs_new(size_t n_heads, size_t n)
{
    return (struct outputs){calloc(n + 2, sizeof(struct row_stat)), calloc(n_heads * PROFILE_BUCKETS, sizeof(uint64_t)),
                            calloc(n, sizeof(double))};
}

static void outputs_free(struct outputs *o)
{
    free(o->rows);
    free(o->profile);
    free(o->lse);
}

static void check_args(struct qk_entropy_args *args, const char *what)
{
    size_t n = args->n_heads * args->n_rows, n_buckets = args->n_heads * PROFILE_BUCKETS;
    struct outputs want = outputs_new(args->n_heads, n), got = outputs_new(args->n_heads, n),
                   first = outputs_new(args->n_heads, n);
    bool has_first = false;
    char text[512];

    args->profile = want.profile;
    args->lse = want.lse;
    qk_entropy_ref(args, want.rows);
    args->profile = got.profile;
    args->lse = got.lse;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!use_isa(isas[i]))
            continue;
        memset(got.rows, 0x5a, (n + 2) * sizeof *got.rows);
        memset(got.profile, 0, n_buckets * sizeof *got.profile);
        cr_assert(eq(int, qk_entropy_cpu(args, got.rows + 1, NULL), OK));
        forgive_few_keys(got.rows + 1, want.rows, n);
        cr_assert(eq(sz, cases_compare_all(got.rows + 1, want.rows, n, BITS, REL, text), n), "%s, %s, %s: %s", what,
                  dtype_name(args->dtype), isas[i], text);
        cr_assert(
            eq(sz, cases_compare_profiles(got.profile, want.profile, args->n_heads, (double)args->n_rows), n_buckets),
            "%s, %s, %s: another profile", what, dtype_name(args->dtype), isas[i]);
        cr_assert(same_lse(got.lse, want.lse, n), "%s, %s, %s: another log-sum-exp", what, dtype_name(args->dtype),
                  isas[i]);
        cr_assert(got.rows[0].n_keys == 0x5a5a5a5a && got.rows[n + 1].n_keys == 0x5a5a5a5a,
                  "a sentinel was overwritten");
        if (has_first)
            cr_assert(cases_identical(got.rows + 1, first.rows + 1, n) &&
                          memcmp(got.profile, first.profile, n_buckets * sizeof *got.profile) == 0,
                      "%s: %s has other bits", what, isas[i]);
        memcpy(first.rows, got.rows, (n + 2) * sizeof *got.rows);
        memcpy(first.profile, got.profile, n_buckets * sizeof *got.profile);
        has_first = true;
    }
    args->profile = NULL;
    args->lse = NULL;
    outputs_free(&want);
    outputs_free(&got);
    outputs_free(&first);
}

static void check(const struct shape *s, enum dtype type)
{
    double *q = normals(s->heads * s->rows * s->dim, s->sd, 0, 1);
    double *k = normals(s->kv_heads * s->cols * s->dim, 1, s->offset, 2);
    struct row_span *spans = calloc(s->rows + 1, sizeof *spans);
    bool is_integer = type == DTYPE_U8 || type == DTYPE_I8;
    void *q_typed = cases_encode(q, s->heads * s->rows * s->dim, type);
    void *k_typed = cases_encode(k, s->kv_heads * s->cols * s->dim, type);
    struct qk_entropy_args args = {.q = q_typed,
                                   .k = k_typed,
                                   .spans = spans,
                                   .dtype = type,
                                   .n_heads = s->heads,
                                   .n_kv_heads = s->kv_heads,
                                   .n_rows = s->rows,
                                   .n_cols = s->cols,
                                   .dim = s->dim,
                                   .scale = 1 / sqrt((double)s->dim) / (is_integer ? 127 * 127 : 1),
                                   .softcap = s->softcap,
                                   .query_col = (int64_t)s->cols - (int64_t)s->rows - (type == DTYPE_F16 ? 40 : 0),
                                   .sink_col = 1};
    char what[128];

    cases_causal(spans, s->rows, s->cols, s->window);
    snprintf(what, sizeof what, "%zu/%zu heads, %zu x %zu, dim %zu, offset %g, softcap %g", s->heads, s->kv_heads,
             s->rows, s->cols, s->dim, s->offset, s->softcap);
    check_args(&args, what);
    free(q);
    free(k);
    free(spans);
    free(q_typed);
    free(k_typed);
}

Test(qk_entropy, agrees_with_float64_for_every_shape_and_type)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 1, 1, 0, 1, 0, 0},        {2, 1, 13, 13, 3, 0, 2, 0, 0},      {4, 2, 45, 45, 64, 0, 3, 0, 0},
        {6, 2, 97, 300, 32, 0, 4, 0, 0},    {2, 2, 130, 600, 33, 100, 2, 0, 0}, {1, 1, 3, 1025, 128, 0, 5, 0, 0},
        {2, 1, 100, 257, 256, 64, 3, 0, 0}, {1, 1, 70, 70, 80, 0, 3, 0, 30},    {2, 2, 33, 512, 16, 0, 20, 0, 50},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int type = 0; type < N_DTYPES; type++)
            check(&shapes[i], (enum dtype)type);
}

/* Keys that share a large part shift all scores of a row alike, here by up to 1e4 and more. */
Test(qk_entropy, a_common_part_of_the_keys_costs_nothing)
{
    static const struct shape shapes[] = {
        {1, 1, 40, 300, 64, 0, 3, 1e3, 0},
        {2, 1, 40, 300, 128, 50, 3, 300, 0},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i], DTYPE_F32);
}

/* More keys than one packed block holds: at dim 4096, 512 keys. */
Test(qk_entropy, blocks_of_keys_merge)
{
    check(&(struct shape){1, 1, 9, 1200, 4096, 0, 2, 0, 0}, DTYPE_F32);
    check(&(struct shape){2, 1, 9, 1200, 4096, 700, 2, 0, 0}, DTYPE_BF16);
}

/* Scores near 1e4, and long rows. */
Test(qk_entropy, a_million_keys_at_an_offset_stay_within_the_promise)
{
    check(&(struct shape){2, 1, 2, 1 << 20, 4, 0, 2, 5e3, 0}, DTYPE_F32);
}

Test(qk_entropy, equal_keys_give_log2_of_their_number_exactly)
{
    enum { N = 300, DIM = 20 };
    double *q = normals(DIM, 1, 0, 3), *one = normals(DIM, 5, 2, 4);
    double *k = calloc(N * DIM, sizeof *k);

    for (size_t i = 0; i < N * DIM; i++)
        k[i] = (float)one[i % DIM];
    for (size_t i = 0; i < 3; i++)
        for (uint32_t n = 1; use_isa(isas[i]) && n <= 256; n *= 2) {
            struct row_span span = {7, 7 + n};
            struct qk_entropy_args args = {.q = q,
                                           .k = k,
                                           .spans = &span,
                                           .dtype = DTYPE_F64,
                                           .n_heads = 1,
                                           .n_kv_heads = 1,
                                           .n_rows = 1,
                                           .n_cols = N,
                                           .dim = DIM,
                                           .scale = 0.25};
            struct row_stat row;

            cr_assert(eq(int, qk_entropy_cpu(&args, &row, NULL), OK));
            cr_assert(row.entropy_bits == log2(n) && !signbit(row.entropy_bits), "%u keys: %g", n, row.entropy_bits);
            cr_assert(row.max_weight == 1.0 / n && row.sum == 1 && row.n_keys == n);
        }
    free(q);
    free(one);
    free(k);
}

/* A NaN or an infinity in a key spoils the rows that see it and no other; in a query, that row. */
Test(qk_entropy, what_is_not_finite_spoils_the_rows_that_see_it)
{
    enum { N = 90, DIM = 24 };
    double *q = normals(N * DIM, 1, 0, 5), *k = normals(N * DIM, 1, 0, 6);
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
                                   .scale = 0.2};
    struct row_stat rows[N];

    cases_causal(spans, N, N, 30);
    spans[10] = (struct row_span){0, 0};
    k[40 * DIM + 3] = NAN;
    k[41 * DIM + 3] = INFINITY;
    k[89 * DIM + 23] = -INFINITY;
    q[5 * DIM] = NAN;
    q[6 * DIM] = INFINITY;
    check_args(&args, "not finite");
    cr_assert(eq(int, qk_entropy_cpu(&args, rows, NULL), OK));
    for (size_t i = 0; i < N; i++) {
        bool is_bad = i == 5 || i == 6 || (i >= 40 && i < 71) || i == 89;

        cr_assert(eq(u32, rows[i].status, i == 10 ? ROW_EMPTY : is_bad ? ROW_NAN : ROW_OK), "row %zu", i);
    }
    free(q);
    free(k);
}

/* Scores beyond float: in double they are plain one-hot rows. */
Test(qk_entropy, vectors_too_long_for_float_are_summed_in_double)
{
    enum { N = 40, DIM = 8 };
    double *q = normals(N * DIM, 1e25, 0, 7), *k = normals(N * DIM, 1e25, 0, 8);
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
                                   .scale = 1e-50,
                                   .skip_k90 = true};
    struct row_stat row;

    cases_causal(spans, N, N, 0);
    check_args(&args, "long vectors, small scale");
    args.scale = 1;
    check_args(&args, "long vectors");
    for (size_t i = 0; i < N * DIM; i++)
        q[i] = k[i] = 1e200;
    args.n_rows = 1;
    cr_assert(eq(int, qk_entropy_cpu(&args, &row, NULL), OK));
    cr_assert(eq(u32, row.status, ROW_OK), "equal keys are centred away");
    free(q);
    free(k);
}

Test(qk_entropy, the_number_of_threads_changes_no_bit)
{
    enum { HEADS = 4, N = 210, DIM = 40 };
    double *q = normals(HEADS * N * DIM, 3, 0, 9), *k = normals(2 * N * DIM, 1, 0.5, 10);
    struct row_span spans[N];
    struct qk_entropy_args args = {.q = q,
                                   .k = k,
                                   .spans = spans,
                                   .dtype = DTYPE_F64,
                                   .n_heads = HEADS,
                                   .n_kv_heads = 2,
                                   .n_rows = N,
                                   .n_cols = N,
                                   .dim = DIM,
                                   .scale = 0.15};
    struct row_stat *got[3];

    cases_causal(spans, N, N, 0);
    for (int t = 0; t < 3; t++) {
        got[t] = calloc(HEADS * N, sizeof **got);
        backend_set_threads(t + 1);
        cr_assert(eq(int, qk_entropy_cpu(&args, got[t], NULL), OK));
        cr_assert(cases_identical(got[t], got[0], HEADS * N), "%d threads", t + 1);
    }
    for (int t = 0; t < 3; t++)
        free(got[t]);
    free(q);
    free(k);
}

Test(qk_entropy, refuses_what_makes_no_sense)
{
    static const struct {
        size_t heads, kv_heads, cols, dim;
        double scale, softcap;
        enum status status;
    } bad[] = {
        {3, 2, 4, 1, 1, 0, ERR_FORMAT},
        {1, 0, 4, 1, 1, 0, ERR_FORMAT},
        {1, 1, 4, 0, 1, 0, ERR_FORMAT},
        {1, 1, 4, 1, NAN, 0, ERR_FORMAT},
        {1, 1, 4, 1, 1, -1, ERR_FORMAT},
        {1, 1, 4, 1, 1, INFINITY, ERR_FORMAT},
        {1, 1, 2, 1, 1, 0, ERR_LIMIT},
        {1, 1, 4, 1 << 20, 1, 0, ERR_LIMIT},
        {1, 1, SIZE_MAX / 2, 64, 1, 0, ERR_LIMIT},
    };
    struct row_span span = {0, 3};
    double data[4] = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qk_entropy_args args = {.q = data,
                                       .k = data,
                                       .spans = &span,
                                       .dtype = DTYPE_F64,
                                       .n_heads = bad[i].heads,
                                       .n_kv_heads = bad[i].kv_heads,
                                       .n_rows = 1,
                                       .n_cols = bad[i].cols,
                                       .dim = bad[i].dim,
                                       .scale = bad[i].scale,
                                       .softcap = bad[i].softcap};
        struct row_stat row = {.n_keys = 77};
        struct error err = {0};

        cr_assert(eq(int, qk_entropy_cpu(&args, &row, &err), bad[i].status), "case %zu: %s", i, err.message);
        cr_assert(eq(u32, row.n_keys, 77), "a failure leaves the output alone");
    }
}
