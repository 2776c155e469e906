/* attention_bench.c - how fast attention is measured, as ratios within one run: what else the machine does hits both
 * sides alike. Run by attention.sh.
 *   attention_bench kernels        rows in cache, one core, against a scalar log2f loop
 *   attention_bench scores         queries and keys against the score product alone, by OpenBLAS where it is found
 *   attention_bench file DUMP      a dump in the page cache against reading and adding up the same mapped file
 *   attention_bench once DUMP      seconds for one pass over a dump, for attention_peers.py */
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "core/metrics/compute.h"
#include "kernels/backend.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "tests/support/kernel_cases.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, MAX_SIDES = 16 };

static volatile double sink; /* what is computed is used */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void give_up(const char *what, const struct error *err)
{
    fprintf(stderr, "attention_bench: %s: %s\n", what, err->message);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct side {
    const char *name;
    void (*run)(void *arg);
    void *arg;
    double seconds[ROUNDS], median;
};

/* Takes turns, so that a slow moment hits all sides. */
static void measure(struct side *sides, size_t n, int repeats)
{
    for (int round = -1; round < ROUNDS; round++) /* the first is to warm up */
        for (size_t i = 0; i < n; i++) {
            double begin = now();

            for (int r = 0; r < repeats; r++)
                sides[i].run(sides[i].arg);
            if (round >= 0)
                sides[i].seconds[round] = (now() - begin) / repeats;
        }
    for (size_t i = 0; i < n; i++) {
        qsort(sides[i].seconds, ROUNDS, sizeof(double), ascending);
        sides[i].median = sides[i].seconds[ROUNDS / 2];
    }
}

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
        give_up(r->isa, &err);
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
    struct side sides[MAX_SIDES] = {
        {.name = "scalar log2f, float32, entropy alone", .run = run_scalar, .arg = &rows[0]}};
    static char names[MAX_SIDES][64];
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

        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (backend_set_isa(isas[i], NULL) != OK)
                continue;
            rows[n - 1].args = (struct row_entropy_args){.weights = weights,
                                                         .spans = spans,
                                                         .dtype = types[t],
                                                         .n_heads = 1,
                                                         .n_rows = N_ROWS,
                                                         .n_cols = ROW_KEYS,
                                                         .query_col = ROW_KEYS - 1};
            rows[n - 1].isa = isas[i];
            snprintf(names[n], sizeof names[n], "%s, %s, all statistics", isas[i], dtype_name(types[t]));
            sides[n] = (struct side){.name = names[n], .run = run_rows, .arg = &rows[n - 1]};
            n++;
        }
    }
    measure(sides, n, 8);
    printf("rows of %d keys in cache, one core, medians of %d:\n", ROW_KEYS, ROUNDS);
    for (size_t i = 0; i < n; i++) {
        double per_s = (double)N_ROWS * ROW_KEYS / sides[i].median;
        size_t bytes = i ? dtype_bytes(rows[i - 1].args.dtype) : 4;

        printf("  %-42s %6.2f G el/s %6.2f GB/s  %5.1fx scalar\n", sides[i].name, per_s * 1e-9,
               per_s * (double)bytes * 1e-9, sides[0].median / sides[i].median);
    }
    free(p);
}

/* Queries and keys. */

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);

enum { QK_HEADS = 4, QK_ROWS = 1510, QK_DIM = 256 };

struct scores {
    struct qk_entropy_args args;
    struct row_stat *stats;
    sgemm_function *sgemm;
    float *out;
};

static void run_qk(void *arg)
{
    struct scores *s = arg;
    struct error err = {0};

    if (qk_entropy_cpu(&s->args, s->stats, &err) != OK)
        give_up("queries and keys", &err);
}

static void run_sgemm(void *arg)
{
    struct scores *s = arg;
    const float *q = s->args.q;

    for (size_t h = 0; h < QK_HEADS; h++) /* row-major, B transposed */
        s->sgemm(101, 111, 112, QK_ROWS, QK_ROWS, QK_DIM, 1.0F, q + h * QK_ROWS * QK_DIM, QK_DIM, s->args.k, QK_DIM, 0,
                 s->out, QK_ROWS);
}

static sgemm_function *find_sgemm(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libblas.so.3"};
    sgemm_function *found = NULL;
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (getenv("BENCH_BLAS"))
        library = dlopen(getenv("BENCH_BLAS"), RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&found = dlsym(library, "cblas_sgemm");
    if (library && !found)
        *(void **)&found = dlsym(library, "scipy_cblas_sgemm");
    return found;
}

static void bench_scores(void)
{
    struct scores s = {.sgemm = find_sgemm()};
    struct side sides[] = {{.name = "queries and keys, causal, all statistics", .run = run_qk, .arg = &s},
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
    measure(sides, n, 1);
    printf("%d heads of %d queries and keys, head size %d, float32, %d threads, medians of %d:\n", (int)QK_HEADS,
           (int)QK_ROWS, (int)QK_DIM, cpu_threads(), (int)ROUNDS);
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

/* A file in the page cache. */

struct mapped {
    const char *path;
    double sums[4096];
    const char *data;
    size_t bytes;
};

enum { SUM_BLOCK = 1 << 20 };

static void sum_block(void *context, size_t item, int thread)
{
    struct mapped *m = context;
    size_t first = item * SUM_BLOCK, last = first + SUM_BLOCK < m->bytes ? first + SUM_BLOCK : m->bytes;
    uint64_t sum = 0;

    (void)thread;
    for (size_t i = first; i + 8 <= last; i += 8) {
        uint64_t word;

        memcpy(&word, m->data + i, 8);
        sum += word;
    }
    m->sums[item % 4096] = (double)sum;
}

static void run_sum(void *arg)
{
    struct mapped *m = arg;
    int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    struct stat sb;
    void *map;

    if (fd < 0 || fstat(fd, &sb)) {
        perror(m->path);
        exit(1);
    }
    m->bytes = (size_t)sb.st_size;
    map = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        perror(m->path);
        exit(1);
    }
    m->data = map;
    parallel_for(m->bytes / SUM_BLOCK + 1, cpu_threads(), sum_block, m);
    munmap(map, m->bytes);
    sink = m->sums[0];
}

struct opened {
    const char *path;
    struct dump dump;
};

static void measure_dump(struct dump *dump)
{
    const struct attention_options options = attention_options_default();
    const struct backend *backend = NULL;
    AUTO(run) run = {0};
    struct error err = {0};

    if (backend_choose("cpu", &backend, &err) != OK || run_init(&run, &err) != OK ||
        compute_axes(&run, NULL, &dump, 1, &err) != OK ||
        compute_attention(&run, &dump, 1, &options, backend, (size_t)256 << 20, &err) != OK)
        give_up(dump->path, &err);
}

/* Every row of the dump that was opened before, and its metrics; without the hash of the file. */
static void run_rows_of_file(void *arg)
{
    struct opened *o = arg;

    measure_dump(&o->dump);
}

/* From the path to the metrics, the hash beside it. */
static void run_whole(void *arg)
{
    struct opened *o = arg;
    AUTO(dump) dump = {0};
    struct error err = {0};

    if (dump_begin(&dump, o->path, NULL, &err) != OK)
        give_up(o->path, &err);
    measure_dump(&dump);
    if (dump_settle(&dump, &err) != OK)
        give_up(o->path, &err);
}

static void run_hash(void *arg)
{
    struct opened *o = arg;
    struct sha256 hash;
    struct error err = {0};

    if (sha256_file(&hash, o->path, &err) != OK)
        give_up(o->path, &err);
}

static void bench_file(const char *path)
{
    static struct mapped mapped;
    struct opened opened = {.path = path};
    struct side sides[] = {{.name = "map, read and add up every byte", .run = run_sum, .arg = &mapped},
                           {.name = "all rows to metrics (visible keys read)", .run = run_rows_of_file, .arg = &opened},
                           {.name = "SHA-256 of the file, one thread", .run = run_hash, .arg = &opened},
                           {.name = "open, metrics, hash beside them", .run = run_whole, .arg = &opened}};
    struct error err = {0};

    mapped.path = path;
    if (dump_open(&opened.dump, path, &err) != OK)
        give_up(path, &err);
    measure(sides, sizeof sides / sizeof *sides, 1);
    printf("%s, %.1f MB, %d threads, %s, medians of %d:\n", path, (double)mapped.bytes * 1e-6, cpu_threads(),
           backend_isa(), (int)ROUNDS);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        printf("  %-42s %7.1f ms %6.2f GB/s  %5.0f %% of reading\n", sides[i].name, sides[i].median * 1e3,
               (double)mapped.bytes / sides[i].median * 1e-9, 100 * sides[0].median / sides[i].median);
    dump_done(&opened.dump);
}

static void once(const char *path)
{
    struct opened opened = {.path = path};
    struct error err = {0};
    double begin;

    if (dump_open(&opened.dump, path, &err) != OK)
        give_up(path, &err);
    begin = now();
    run_rows_of_file(&opened);
    printf("%.6f\n", now() - begin);
    dump_done(&opened.dump);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "kernels") == 0) {
        bench_kernels();
    } else if (argc == 2 && strcmp(argv[1], "scores") == 0) {
        bench_scores();
    } else if (argc == 3 && strcmp(argv[1], "file") == 0) {
        bench_file(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "once") == 0) {
        once(argv[2]);
    } else {
        fputs("usage: attention_bench kernels | scores | file DUMP | once DUMP\n", stderr);
        return 2;
    }
    return 0;
}
