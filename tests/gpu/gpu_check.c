/* gpu_check.c - the CUDA kernels on a device against float64 and the CPU, and their speed; JSON on stdout. Run by
 * tests/gpu.sh, which also links it with the CPU harness.
 *   gpu_check device               what the device is; exit code 3 where none answers
 *   gpu_check correctness [small]  exit code 1 where a case fails
 *   gpu_check bandwidth [small]    rates, on random data */
#include "kernels/backend_cuda.h"
#include "kernels/device_time.h"
#include "tests/gpu/gpu_counts.h"
#include "tests/ref/ref.h"
#include "tests/support/kernel_cases.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As in tests/kernels: what the headers promise. From scores, k90 may miss by one where masses nearly tie. */
static const double BITS = 1e-5;
static const double REL = 1e-5;

enum { N_RUNS = 9 };

static bool is_small, is_first = true, has_failed;

static void give_up(const char *what, const struct error *err)
{
    fprintf(stderr, "gpu_check: %s: %s\n", what, err->message);
    exit(1);
}

static void *take(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);

    if (!p) {
        fprintf(stderr, "gpu_check: no memory\n");
        exit(1);
    }
    return p;
}

/* Rows of one case, of all that a kernel wrote. */
struct results {
    struct row_stat *rows;
    uint64_t *profile;
};

static struct results results_new(size_t n_heads, size_t n_rows)
{
    return (struct results){take(n_heads * n_rows, sizeof(struct row_stat)),
                            take(n_heads * PROFILE_BUCKETS, sizeof(uint64_t))};
}

static void results_done(struct results *r)
{
    free(r->rows);
    free(r->profile);
}

/* Whether all agree, and the largest error of an entropy. `k90_slack`: by how much k90 may miss. */
static bool agree(const struct results *got, const struct results *want, size_t n_heads, size_t n_rows,
                  uint32_t k90_slack, double *ret_max_error, char text[512])
{
    size_t n = n_heads * n_rows;

    *ret_max_error = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t a = got->rows[i].k90, b = want->rows[i].k90;

        if (got->rows[i].status == ROW_OK && want->rows[i].status == ROW_OK)
            *ret_max_error = fmax(*ret_max_error, fabs(got->rows[i].entropy_bits - want->rows[i].entropy_bits));
        if ((a > b ? a - b : b - a) <= k90_slack)
            got->rows[i].k90 = b;
    }
    if (cases_compare_all(got->rows, want->rows, n, BITS, REL, text) < n)
        return false;
    snprintf(text, 512, "another profile");
    if (cases_compare_profiles(got->profile, want->profile, n_heads, (double)n_rows) < n_heads * PROFILE_BUCKETS)
        return false;
    text[0] = 0;
    return true;
}

static void report(const char *name, double max_error, bool passes, const char *text)
{
    printf("%s\n    {\"name\": \"%s\", \"max_error_bits\": %.3g, \"tolerance_bits\": %.3g, \"pass\": %s%s%s%s}",
           is_first ? "" : ",", name, max_error, BITS, passes ? "true" : "false", text[0] ? ", \"why\": \"" : "", text,
           text[0] ? "\"" : "");
    is_first = false;
    has_failed |= !passes;
    fflush(stdout);
}

/* The same call twice gives the same bits, and both agree with float64. */
static void check_rows(const struct row_entropy_args *form, const char *name)
{
    struct row_entropy_args args = *form;
    struct results want = results_new(args.n_heads, args.n_rows), got = results_new(args.n_heads, args.n_rows);
    struct results again = results_new(args.n_heads, args.n_rows);
    size_t n = args.n_heads * args.n_rows;
    struct error err = {0};
    double max_error;
    char text[512];
    bool is_same, passes;

    args.profile = want.profile;
    row_entropy_ref(&args, want.rows);
    args.profile = got.profile;
    if (row_entropy_cuda(&args, got.rows, &err) != OK)
        give_up(name, &err);
    args.profile = again.profile;
    if (row_entropy_cuda(&args, again.rows, &err) != OK)
        give_up(name, &err);
    is_same = cases_identical(got.rows, again.rows, n) &&
              memcmp(got.profile, again.profile, args.n_heads * PROFILE_BUCKETS * sizeof(uint64_t)) == 0;
    passes = agree(&got, &want, args.n_heads, args.n_rows, args.kind == ROWS_SCORES, &max_error, text);
    report(name, max_error, passes && is_same, is_same ? text : "another run gave other bits");
    results_done(&want);
    results_done(&got);
    results_done(&again);
}

static void rows_case(enum row_kind kind, enum dtype type, size_t n)
{
    enum { HEADS = 2, ROWS = 3 };
    double *values = take(HEADS * ROWS * n, sizeof *values);
    struct row_span spans[ROWS] = {{0, (uint32_t)n}, {(uint32_t)(n / 3), (uint32_t)n}, {0, (uint32_t)(n / 2 + 1)}};
    double offset = type == DTYPE_F32 || type == DTYPE_F64 ? 10000 : 0;
    struct row_entropy_args args = {.spans = spans,
                                    .dtype = type,
                                    .n_heads = HEADS,
                                    .n_rows = ROWS,
                                    .n_cols = n,
                                    .query_col = (int64_t)n - ROWS,
                                    .kind = kind,
                                    .check_mask = true};
    char name[128];
    void *typed;

    for (size_t r = 0; r < HEADS * ROWS; r++) {
        cases_softmax(values + r * n, n, 1 + (double)r, n + r);
        for (size_t j = 0; kind == ROWS_SCORES && j < n; j++)
            values[r * n + j] = 2 * cases_normal(r, j) + offset;
    }
    args.weights = typed = cases_encode(values, HEADS * ROWS * n, type);
    snprintf(name, sizeof name, "%s, %s, %zu keys", kind == ROWS_SCORES ? "scores" : "weights", dtype_name(type), n);
    check_rows(&args, name);
    free(values);
    free(typed);
}

struct shape {
    size_t heads, kv_heads, rows, cols, dim, window;
    double offset, softcap;
};

/* Random queries and keys of a shape, in new memory that *ret_q and *ret_k hold. */
static struct qk_entropy_args make_qk(const struct shape *s, enum dtype type, struct row_span *spans, void **ret_q,
                                      void **ret_k)
{
    size_t n_q = s->heads * s->rows * s->dim, n_k = s->kv_heads * s->cols * s->dim;
    double *q = take(n_q, sizeof *q), *k = take(n_k, sizeof *k), scale = 1 / sqrt((double)s->dim);

    for (size_t i = 0; i < n_q; i++)
        q[i] = 2 * cases_normal(1, i);
    for (size_t i = 0; i < n_k; i++)
        k[i] = cases_normal(2, i) + s->offset;
    *ret_q = cases_encode(q, n_q, type);
    *ret_k = cases_encode(k, n_k, type);
    free(q);
    free(k);
    cases_causal(spans, s->rows, s->cols, s->window);
    if (type == DTYPE_U8 || type == DTYPE_I8) /* stored 127 times and more as large */
        scale /= 127 * 127;
    return (struct qk_entropy_args){.q = *ret_q,
                                    .k = *ret_k,
                                    .spans = spans,
                                    .dtype = type,
                                    .n_heads = s->heads,
                                    .n_kv_heads = s->kv_heads,
                                    .n_rows = s->rows,
                                    .n_cols = s->cols,
                                    .dim = s->dim,
                                    .scale = scale,
                                    .softcap = s->softcap,
                                    .skip_k90 = true,
                                    .query_col = (int64_t)(s->cols - s->rows)};
}

static void qk_case(const struct shape *s, enum dtype type)
{
    struct results want = results_new(s->heads, s->rows), got = results_new(s->heads, s->rows);
    struct row_span *spans = take(s->rows, sizeof *spans);
    struct error err = {0};
    double max_error;
    char name[160], text[512];
    void *q, *k;
    struct qk_entropy_args args = make_qk(s, type, spans, &q, &k);
    bool passes;

    snprintf(name, sizeof name, "q and k, %s, %zu/%zu heads, %zu x %zu, dim %zu, window %zu, offset %g, softcap %g",
             dtype_name(type), s->heads, s->kv_heads, s->rows, s->cols, s->dim, s->window, s->offset, s->softcap);
    args.profile = want.profile;
    qk_entropy_ref(&args, want.rows);
    args.profile = got.profile;
    if (qk_entropy_cuda(&args, got.rows, &err) != OK)
        give_up(name, &err);
    passes = agree(&got, &want, s->heads, s->rows, 0, &max_error, text);
    report(name, max_error, passes, text);
    results_done(&want);
    results_done(&got);
    free(spans);
    free(q);
    free(k);
}

static void counts_case(size_t n_tasks, size_t n_cells, size_t n_draws, bool is_tied)
{
    struct counts_result r;
    struct error err = {0};
    char name[128];

    snprintf(name, sizeof name, "counts%s, %zu tasks, %zu cells, %zu draws", is_tied ? " of ties" : "", n_tasks,
             n_cells, n_draws);
    if (gpu_counts(n_tasks, n_cells, n_draws, is_tied, 1, &r, &err) != OK)
        give_up(name, &err);
    report(name, 0, r.is_same, r.is_same ? "" : "other counts than the CPU");
}

static void correctness(void)
{
    static const size_t lengths[] = {1, 31, 32, 33, 257, 1023, 1025, 2049, 4097, 17001, 70001, 200003};
    static const struct shape shapes[] = {
        {1, 1, 1, 1, 1, 0, 0, 0},        {4, 2, 45, 70, 40, 0, 0, 0},       {2, 2, 70, 150, 33, 30, 50, 0},
        {2, 1, 20, 66, 16, 0, 0, 30},    {1, 1, 65, 129, 64, 0, 300, 0},    {8, 2, 300, 1510, 128, 0, 0, 0},
        {4, 1, 200, 9000, 64, 0, 20, 0}, {2, 2, 257, 4200, 256, 700, 0, 0},
    };
    size_t n_lengths = sizeof lengths / sizeof *lengths - (is_small ? 5 : 0);
    size_t n_shapes = sizeof shapes / sizeof *shapes - (is_small ? 3 : 0);

    printf("[");
    for (int kind = ROWS_WEIGHTS; kind <= ROWS_SCORES; kind++)
        for (int type = 0; type < N_DTYPES; type++)
            for (size_t i = 0; i < n_lengths; i++)
                rows_case((enum row_kind)kind, (enum dtype)type, lengths[i]);
    for (size_t i = 0; i < n_shapes; i++)
        for (int type = 0; type < N_DTYPES; type++)
            qk_case(&shapes[i], (enum dtype)type);
    for (int is_tied = 0; is_tied < 2; is_tied++) {
        counts_case(7, 3, 64, is_tied);
        counts_case(33, 600, is_small ? 300 : 10000, is_tied);
        if (!is_small)
            counts_case(200, 1024, 20000, is_tied);
    }
    printf("\n  ]\n");
}

/* Speed. */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Random weights about 1/n_cols in every element: rows sum to about 1. */
static void *random_weights(size_t n, size_t n_cols, enum dtype type)
{
    enum { PERIOD = 999983 }; /* drawn once, then repeated out of step with the rows */
    size_t bytes = dtype_bytes(type);
    double *values = take(PERIOD, sizeof *values);
    char *typed, *all = take(n, bytes);

    for (size_t i = 0; i < PERIOD; i++)
        values[i] = (0.5 + cases_uniform(11, i)) / (double)n_cols;
    typed = cases_encode(values, PERIOD, type);
    for (size_t i = 0; i < n; i += PERIOD)
        memcpy(all + i * bytes, typed, (n - i < PERIOD ? n - i : PERIOD) * bytes);
    free(typed);
    free(values);
    return all;
}

static void rows_speed(enum dtype type, size_t n_cols, double copy_tbs)
{
    size_t total = is_small ? (size_t)1 << 16 : (size_t)1 << 30, n_rows = total / dtype_bytes(type) / n_cols;
    struct row_span *spans = take(n_rows, sizeof *spans);
    uint64_t profile[PROFILE_BUCKETS] = {0};
    struct row_entropy_args args = {
        .spans = spans, .dtype = type, .n_heads = 1, .n_rows = n_rows, .n_cols = n_cols, .profile = profile};
    double tera = (double)(n_rows * n_cols * dtype_bytes(type)) * 1e-12, sums, all;
    struct error err = {0};
    void *weights;

    for (size_t i = 0; i < n_rows; i++)
        spans[i] = (struct row_span){0, (uint32_t)n_cols};
    args.weights = weights = random_weights(n_rows * n_cols, n_cols, type);
    args.query_col = (int64_t)n_cols;
    if (row_entropy_time(&args, false, N_RUNS, &sums, &err) != OK ||
        row_entropy_time(&args, true, N_RUNS, &all, &err) != OK)
        give_up("speed of rows", &err);
    printf("%s\n      {\"type\": \"%s\", \"keys\": %zu, \"sums_tb_s\": %.4g, \"sums_of_copy\": %.3g, "
           "\"with_k90_and_profile_tb_s\": %.4g, \"with_k90_and_profile_of_copy\": %.3g}",
           is_first ? "" : ",", dtype_name(type), n_cols, tera / sums, tera / sums / copy_tbs, tera / all,
           tera / all / copy_tbs);
    is_first = false;
    free(weights);
    free(spans);
}

static void qk_speed(const struct shape *s, enum dtype type)
{
    struct row_span *spans = take(s->rows, sizeof *spans);
    struct row_stat *rows = take(s->heads * s->rows, sizeof *rows);
    struct error err = {0};
    double pairs = 0, kernel, begin, whole;
    void *q, *k;
    struct qk_entropy_args args = make_qk(s, type, spans, &q, &k);

    for (size_t i = 0; i < s->rows; i++)
        pairs += (double)(spans[i].hi - spans[i].lo) * (double)s->heads;
    if (qk_entropy_time(&args, N_RUNS, &kernel, &err) != OK || qk_entropy_cuda(&args, rows, &err) != OK)
        give_up("speed of q and k", &err);
    begin = now();
    if (qk_entropy_cuda(&args, rows, &err) != OK)
        give_up("speed of q and k", &err);
    whole = now() - begin;
    printf("%s\n      {\"type\": \"%s\", \"heads\": %zu, \"tokens\": %zu, \"dim\": %zu, \"kernel_tflop_s\": %.4g, "
           "\"from_host_tflop_s\": %.4g}",
           is_first ? "" : ",", dtype_name(type), s->heads, s->cols, s->dim, 2e-12 * (double)s->dim * pairs / kernel,
           2e-12 * (double)s->dim * pairs / whole);
    is_first = false;
    free(q);
    free(k);
    free(rows);
    free(spans);
}

/* From pinned host memory to statistics on the host. */
static void host_speed(void)
{
    size_t n_cols = 4096, total = is_small ? (size_t)1 << 18 : (size_t)1 << 30, n_rows = total / 2 / n_cols;
    struct row_span *spans = take(n_rows, sizeof *spans);
    struct row_stat *rows = take(n_rows, sizeof *rows);
    struct row_entropy_args args = {
        .spans = spans, .dtype = DTYPE_F16, .n_heads = 1, .n_rows = n_rows, .n_cols = n_cols};
    void *weights = random_weights(n_rows * n_cols, n_cols, DTYPE_F16), *pinned = backend_cuda_host_alloc(total);
    double upload = INFINITY, whole = INFINITY;
    struct error err = {0};

    if (!pinned)
        give_up("pinned memory", &err);
    memcpy(pinned, weights, n_rows * n_cols * 2);
    args.weights = pinned;
    for (size_t i = 0; i < n_rows; i++)
        spans[i] = (struct row_span){0, (uint32_t)n_cols};
    if (device_upload_time(pinned, total, N_RUNS, &upload, &err) != OK)
        give_up("upload", &err);
    for (int i = 0; i < 4; i++) {
        double begin = now();

        if (row_entropy_cuda(&args, rows, &err) != OK)
            give_up("rows from the host", &err);
        whole = fmin(whole, now() - begin);
    }
    printf("    \"pinned_upload_gb_s\": %.4g,\n    \"float16_weights_from_host_gb_s\": %.4g\n",
           (double)total * 1e-9 / upload, (double)total * 1e-9 / whole);
    backend_cuda_host_free(pinned);
    free(weights);
    free(rows);
    free(spans);
}

/* The permutation test from host memory to counts on the host. */
static void counts_speed(void)
{
    struct counts_result r;
    struct error err = {0};

    if ((is_small ? gpu_counts(20, 40, 200, false, 2, &r, &err) : gpu_counts(200, 4096, 100000, false, 3, &r, &err)) !=
        OK)
        give_up("counts", &err);
    printf("    \"counts\": {\"tasks\": %zu, \"cells\": %zu, \"draws\": %zu, \"cpu_s\": %.4g, \"device_s\": %.4g, "
           "\"same\": %s},\n",
           r.n_tasks, r.n_cells, r.n_draws, r.cpu_s, r.device_s, r.is_same ? "true" : "false");
    has_failed |= !r.is_same;
}

static void bandwidth(void)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F8_E4M3};
    static const size_t lengths[] = {1024, 4096, 32768};
    static const enum dtype qk_types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32};
    static const struct shape small = {2, 1, 40, 40, 16, 0, 0, 0},
                              large[] = {{8, 8, 8192, 8192, 128, 0, 0, 0}, {32, 8, 2048, 2048, 128, 0, 0, 0}};
    size_t bytes = is_small ? (size_t)1 << 16 : (size_t)2 << 30;
    struct error err = {0};
    double copy;

    if (device_copy_time(bytes, N_RUNS, &copy, &err) != OK)
        give_up("copy", &err);
    copy = 2e-12 * (double)bytes / copy;
    printf("{\n    \"copy_tb_s\": %.4g,\n    \"weights\": [", copy);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < (is_small ? 1 : sizeof lengths / sizeof *lengths); i++)
            rows_speed(types[t], lengths[i], copy);
    printf("\n    ],\n    \"q_and_k\": [");
    is_first = true;
    for (size_t t = 0; t < sizeof qk_types / sizeof *qk_types; t++)
        for (size_t i = 0; i < (is_small ? 1 : sizeof large / sizeof *large); i++)
            qk_speed(is_small ? &small : &large[i], qk_types[t]);
    printf("\n    ],\n");
    counts_speed();
    host_speed();
    printf("  }\n");
}

int main(int argc, char **argv)
{
    char text[256];
    bool is_there = backend_cuda_describe(text, sizeof text);

    is_small = argc > 2 && strcmp(argv[2], "small") == 0;
    if (argc < 2) {
        fprintf(stderr, "usage: gpu_check device|correctness|bandwidth [small]\n");
        return 2;
    }
    if (strcmp(argv[1], "device") == 0)
        printf("\"%s\"\n", text);
    if (!is_there)
        return 3;
    if (strcmp(argv[1], "correctness") == 0)
        correctness();
    if (strcmp(argv[1], "bandwidth") == 0)
        bandwidth();
    return has_failed ? 1 : 0;
}
