/* attention_bench.c - how fast attention is measured, as ratios within one run: what else the machine does hits both
 * sides alike. Run by attention.sh.
 *   attention_bench kernels            rows in cache, one core, against a scalar log2f loop
 *   attention_bench scores             queries and keys against the score product alone, by OpenBLAS where it is found
 *   attention_bench file DUMP [TARE]   a dump in the page cache against what its container allows at best, and the
 *                                      program from its start to its end
 *   attention_bench peak DUMP TARE     the program's peak memory
 *   attention_bench once DUMP          seconds for one pass over a dump, for attention_peers.py */
#include "kernels/backend.h"
#include "kernels/cpu_isa.h"
#include "tests/bench/bench_file.h"
#include "tests/bench/bench_sides.h"
#include "tests/support/kernel_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDES = 16 };

static volatile double sink; /* what is computed is used */

/* Rows in cache. */

enum { ROW_KEYS = 4096, N_ROWS = 16 };

struct rows {
    struct row_entropy_args args;
    const char *isa;
    struct row_stat stats[N_ROWS];
};

static void run_rows(void *arg)
{
    struct rows *r = arg;
    struct error err = {0};

    if (backend_set_isa(r->isa, &err) != OK || row_entropy_cpu(&r->args, r->stats, &err) != OK)
        bench_give_up(r->isa, &err);
}

static void run_scalar(void *arg)
{
    const struct rows *r = arg;
    const float *p = r->args.weights;
    double total = 0;

    for (size_t i = 0; i < N_ROWS; i++) {
        float entropy = 0;

        for (size_t j = 0; j < ROW_KEYS; j++) {
            float w = p[i * ROW_KEYS + j];

            entropy -= w > 0 ? w * log2f(w) : 0;
        }
        total += (double)entropy;
    }
    sink = total;
}

static void bench_kernels(void)
{
    static const char *const isas[] = {"avx512", "avx2", "portable"};
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    static struct rows rows[MAX_SIDES];
    struct bench_side sides[MAX_SIDES] = {
        {.name = "scalar log2f, float32, entropy alone", .run = run_scalar, .arg = &rows[0]}};
    static char names[MAX_SIDES][64];
    static uint64_t profile[PROFILE_BUCKETS];
    struct row_span spans[N_ROWS];
    double *p = calloc((size_t)N_ROWS * ROW_KEYS, sizeof *p);
    size_t n = 1;

    backend_set_threads(1);
    for (size_t i = 0; i < N_ROWS; i++) {
        spans[i] = (struct row_span){0, ROW_KEYS};
        cases_softmax(p + i * ROW_KEYS, ROW_KEYS, 2, i);
    }
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        void *weights = cases_encode(p, (size_t)N_ROWS * ROW_KEYS, types[t]);

        for (size_t i = 0; i < 2 * sizeof isas / sizeof *isas; i++) {
            bool skip_k90 = i % 2 == 0;

            if (backend_set_isa(isas[i / 2], NULL) != OK || (skip_k90 && types[t] != DTYPE_F32))
                continue;
            rows[n - 1].args = (struct row_entropy_args){.weights = weights,
                                                         .spans = spans,
                                                         .dtype = types[t],
                                                         .n_heads = 1,
                                                         .n_rows = N_ROWS,
                                                         .n_cols = ROW_KEYS,
                                                         .query_col = ROW_KEYS - 1,
                                                         .skip_k90 = skip_k90,
                                                         .profile = profile};
            rows[n - 1].isa = isas[i / 2];
            snprintf(names[n], sizeof names[n], "%s, %s, %s", isas[i / 2], dtype_name(types[t]),
                     skip_k90 ? "all but k90" : "all statistics");
            sides[n] = (struct bench_side){.name = names[n], .run = run_rows, .arg = &rows[n - 1]};
            n++;
        }
    }
    bench_measure(sides, n, 8);
    printf("rows of %d keys in cache, one core, medians of %d:\n", ROW_KEYS, BENCH_ROUNDS);
    for (size_t i = 0; i < n; i++) {
        double per_s = (double)N_ROWS * ROW_KEYS / sides[i].median;
        size_t bytes = i ? dtype_bytes(rows[i - 1].args.dtype) : 4;

        printf("  %-42s %6.2f G el/s %6.2f GB/s  %5.1fx scalar\n", sides[i].name, per_s * 1e-9,
               per_s * (double)bytes * 1e-9, sides[0].median / sides[i].median);
    }
    free(p);
}

/* Queries and keys. */

enum { QK_HEADS = 4, QK_ROWS = 1510, QK_DIM = 256 };

struct scores {
    struct qk_entropy_args args;
    struct row_stat *stats;
    bench_sgemm_function *sgemm;
    float *out;
};

static void run_qk(void *arg)
{
    struct scores *s = arg;
    struct error err = {0};

    if (qk_entropy_cpu(&s->args, s->stats, &err) != OK)
        bench_give_up("queries and keys", &err);
}

static void run_sgemm(void *arg)
{
    struct scores *s = arg;
    const float *q = s->args.q;

    for (size_t h = 0; h < QK_HEADS; h++) /* row-major, B transposed */
        s->sgemm(101, 111, 112, QK_ROWS, QK_ROWS, QK_DIM, 1.0F, q + h * QK_ROWS * QK_DIM, QK_DIM, s->args.k, QK_DIM, 0,
                 s->out, QK_ROWS);
}

static void bench_scores(void)
{
    struct scores s = {.sgemm = bench_sgemm()};
    struct bench_side sides[] = {{.name = "queries and keys, causal, all statistics", .run = run_qk, .arg = &s},
                                 {.name = "OpenBLAS sgemm, every score, nothing else", .run = run_sgemm, .arg = &s}};
    size_t n_q = (size_t)QK_HEADS * QK_ROWS * QK_DIM, n_k = (size_t)QK_ROWS * QK_DIM, n = s.sgemm ? 2 : 1;
    double pairs = (double)QK_HEADS * QK_ROWS * (QK_ROWS + 1) / 2;
    struct row_span *spans = calloc(QK_ROWS, sizeof *spans);
    float *q = calloc(n_q, sizeof *q), *k = calloc(n_k, sizeof *k);

    for (size_t i = 0; i < n_q; i++)
        q[i] = (float)cases_normal(1, i);
    for (size_t i = 0; i < n_k; i++)
        k[i] = (float)cases_normal(2, i);
    cases_causal(spans, QK_ROWS, QK_ROWS, 0);
    s.args = (struct qk_entropy_args){.q = q,
                                      .k = k,
                                      .spans = spans,
                                      .dtype = DTYPE_F32,
                                      .n_heads = QK_HEADS,
                                      .n_kv_heads = 1,
                                      .n_rows = QK_ROWS,
                                      .n_cols = QK_ROWS,
                                      .dim = QK_DIM,
                                      .scale = 0.0625};
    s.stats = calloc((size_t)QK_HEADS * QK_ROWS, sizeof *s.stats);
    s.out = calloc((size_t)QK_ROWS * QK_ROWS, sizeof *s.out);
    bench_measure(sides, n, 1);
    printf("%d heads of %d queries and keys, head size %d, float32, %d threads, medians of %d:\n", (int)QK_HEADS,
           (int)QK_ROWS, (int)QK_DIM, cpu_threads(), (int)BENCH_ROUNDS);
    for (size_t i = 0; i < n; i++)
        printf("  %-42s %7.1f ms %6.1f GFLOP/s on visible pairs\n", sides[i].name, sides[i].median * 1e3,
               2 * QK_DIM * pairs / sides[i].median * 1e-9);
    if (n == 2)
        printf("  %.2fx as fast as the product alone\n", sides[1].median / sides[0].median);
    else
        printf("  no OpenBLAS: install libopenblas0, or name a library in BENCH_BLAS\n");
    free(q);
    free(k);
    free(spans);
    free(s.stats);
    free(s.out);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "kernels") == 0) {
        bench_kernels();
    } else if (argc == 2 && strcmp(argv[1], "scores") == 0) {
        bench_scores();
    } else if ((argc == 3 || argc == 4) && strcmp(argv[1], "file") == 0) {
        bench_file(argv[2], argv[3]);
    } else if (argc == 4 && strcmp(argv[1], "peak") == 0) {
        bench_peak(argv[2], argv[3]);
    } else if (argc == 3 && strcmp(argv[1], "once") == 0) {
        bench_once(argv[2]);
    } else {
        fputs("usage: attention_bench kernels | scores | file DUMP [TARE] | peak DUMP TARE | once DUMP\n", stderr);
        return 2;
    }
    return 0;
}
