#include "tests/bench/bench_file.h"

#include "core/base/scope.h"
#include "core/io/dump.h"
#include "core/io/h5.h"
#include "core/metrics/compute.h"
#include "kernels/backend.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"
#include "tests/bench/bench_sides.h"
#include "tests/support/kernel_cases.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SIDES = 8, SUM_BLOCK = 1 << 20, N_SUMS = 4096 };

static volatile double sink; /* what is computed is used */

/* The file, read and added up. */

struct mapped {
    const char *path;
    double sums[N_SUMS];
    const char *data;
    size_t bytes;
};

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
    m->sums[item % N_SUMS] = (double)sum;
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

/* Its chunks, as they are stored, inflated by one core. */

struct chunks {
    unsigned char **raw;
    size_t *len, n, cap, plain_bytes;
    unsigned char *plain;
    struct libdeflate_decompressor *engine;
};

static void add_chunk(struct chunks *c, const struct h5 *ds, hsize_t index, hid_t space)
{
    hsize_t at[H5S_MAX_RANK], stored = 0;
    unsigned mask = 0;
    haddr_t address;

    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 1024;
        c->raw = realloc(c->raw, c->cap * sizeof *c->raw);
        c->len = realloc(c->len, c->cap * sizeof *c->len);
    }
    if (H5Dget_chunk_info(ds->id, space, index, at, &mask, &address, &stored) < 0 || mask)
        return;
    c->raw[c->n] = malloc((size_t)stored);
    c->len[c->n] = (size_t)stored;
    if (H5Dread_chunk(ds->id, H5P_DEFAULT, at, &mask, c->raw[c->n]) >= 0)
        c->n++;
}

static void add_dataset(struct chunks *c, const struct h5 *ds)
{
    AUTO(h5id) list = {.id = H5Dget_create_plist(ds->id)};
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    hsize_t chunk[H5S_MAX_RANK], n = 0;
    int rank;

    if (H5Pget_layout(list.id) != H5D_CHUNKED || H5Pget_nfilters(list.id) < 1)
        return;
    rank = H5Pget_chunk(list.id, H5S_MAX_RANK, chunk);
    c->plain_bytes = H5Tget_size(type.id);
    for (int i = 0; i < rank; i++)
        c->plain_bytes *= (size_t)chunk[i];
    H5Dget_num_chunks(ds->id, space.id, &n);
    for (hsize_t i = 0; i < n; i++)
        add_chunk(c, ds, i, space.id);
}

/* Finds none in a dump of another container, or one without compressed weights. */
static void find_chunks(struct chunks *c, const char *path)
{
    struct error err = {0};
    AUTO(arena) arena = {0};
    AUTO(h5) file = {0};
    AUTO(h5) layers = {0};
    char **names = NULL;
    size_t n = 0;

    if (h5_open(&file, path, &err) != OK || h5_group(&file, "layers", &layers, &err) != OK ||
        h5_names(&layers, &arena, &names, &n, &err) != OK)
        return;
    for (size_t i = 0; i < n; i++) {
        AUTO(h5) layer = {0};
        AUTO(h5) ds = {0};

        if (h5_group(&layers, names[i], &layer, &err) == OK && h5_dataset(&layer, "attn_weights", &ds, &err) == OK)
            add_dataset(c, &ds);
    }
    c->plain = malloc(c->plain_bytes ? c->plain_bytes : 1);
    c->engine = libdeflate_alloc_decompressor();
}

static void run_inflate(void *arg)
{
    struct chunks *c = arg;
    size_t n;

    for (size_t i = 0; i < c->n; i++)
        if (libdeflate_zlib_decompress(c->engine, c->raw[i], c->len[i], c->plain, c->plain_bytes, &n) !=
            LIBDEFLATE_SUCCESS)
            exit(1);
    sink = c->plain[0];
}

/* The product of all queries and keys, masked or not. */

struct product {
    const struct dump *dump;
    bench_sgemm_function *sgemm;
    float *q, *k, *out;
};

static void run_product(void *arg)
{
    struct product *p = arg;

    for (size_t i = 0; i < p->dump->n_layers; i++) {
        const struct dump_layer *l = &p->dump->layers[i];

        for (size_t h = 0; h < l->n_heads * p->dump->n_samples; h++) /* row-major, B transposed */
            p->sgemm(101, 111, 112, (int)l->n_rows, (int)l->n_cols, (int)l->dim, 1.0F, p->q, (int)l->dim, p->k,
                     (int)l->dim, 0, p->out, (int)l->n_cols);
    }
    sink = (double)p->out[0];
}

static bool prepare_product(struct product *p, const struct dump *d)
{
    size_t n_q = 0, n_k = 0, n_out = 0;

    p->dump = d;
    p->sgemm = bench_sgemm();
    for (size_t i = 0; i < d->n_layers; i++) {
        const struct dump_layer *l = &d->layers[i];

        if (l->kind != DUMP_QK)
            return false;
        n_q = n_q > l->n_rows * l->dim ? n_q : l->n_rows * l->dim;
        n_k = n_k > l->n_cols * l->dim ? n_k : l->n_cols * l->dim;
        n_out = n_out > l->n_rows * l->n_cols ? n_out : l->n_rows * l->n_cols;
    }
    p->q = malloc(n_q * sizeof *p->q);
    p->k = malloc(n_k * sizeof *p->k);
    p->out = malloc(n_out * sizeof *p->out);
    for (size_t i = 0; i < n_q; i++)
        p->q[i] = (float)cases_normal(1, i);
    for (size_t i = 0; i < n_k; i++)
        p->k[i] = (float)cases_normal(2, i);
    return true;
}

/* Ours. */

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
        bench_give_up(dump->path, &err);
}

/* Every row of the dump that was opened before, and its metrics. */
static void run_rows(void *arg)
{
    struct opened *o = arg;

    measure_dump(&o->dump);
}

struct process {
    const char *tare, *path;
    char out[64];
    struct rusage usage;
};

/* `tare run` from its start to its end, a run file written. */
static void run_process(void *arg)
{
    extern char **environ;
    struct process *p = arg;
    char *argv[] = {"tare", "run", "-q", "--dump", (char *)p->path, "-o", p->out, NULL};
    int state = 0;
    pid_t child;

    if (posix_spawn(&child, p->tare, NULL, NULL, argv, environ) || wait4(child, &state, 0, &p->usage) != child ||
        state) {
        fprintf(stderr, "attention_bench: '%s run --dump %s' fails\n", p->tare, p->path);
        exit(1);
    }
}

static const struct bench_side *find(const struct bench_side *sides, size_t n, void (*run)(void *))
{
    for (size_t i = 0; i < n; i++)
        if (sides[i].run == run)
            return &sides[i];
    return NULL;
}

static void judge(const struct bench_side *sides, size_t n, bool is_qk)
{
    const struct bench_side *ours = find(sides, n, run_rows), *inflate = find(sides, n, run_inflate),
                            *product = find(sides, n, run_product);

    if (inflate)
        bench_judge("one libdeflate core, inflating the same chunks", inflate->median / ours->median, 1.8);
    else if (product)
        bench_judge("the product of every query and key alone", product->median / ours->median, 1.5);
    else if (is_qk)
        puts("  no OpenBLAS to compare with: install libopenblas0, or name a library in BENCH_BLAS");
    else
        bench_judge("reading and adding up the same file", find(sides, n, run_sum)->median / ours->median, 0.8);
}

void bench_file(const char *path, const char *tare)
{
    static struct mapped mapped;
    struct opened opened = {.path = path};
    struct chunks chunks = {0};
    struct product product = {0};
    struct process process = {.tare = tare, .path = path};
    struct bench_side sides[MAX_SIDES] = {
        {.name = "map, read and add up every byte", .run = run_sum, .arg = &mapped},
        {.name = "open dump to all metrics (what masks hide is left out)", .run = run_rows, .arg = &opened}};
    struct error err = {0};
    bool is_qk;
    size_t n = 2;

    mapped.path = path;
    snprintf(process.out, sizeof process.out, "/tmp/attention_bench.%ld.h5", (long)getpid());
    if (dump_open(&opened.dump, path, &err) != OK)
        bench_give_up(path, &err);
    is_qk = prepare_product(&product, &opened.dump);
    find_chunks(&chunks, path);
    if (chunks.n)
        sides[n++] =
            (struct bench_side){.name = "inflate the chunks, one libdeflate core", .run = run_inflate, .arg = &chunks};
    if (is_qk && product.sgemm)
        sides[n++] = (struct bench_side){
            .name = "product of every query and key, OpenBLAS", .run = run_product, .arg = &product};
    if (tare)
        sides[n++] = (struct bench_side){.name = "tare run, the whole process", .run = run_process, .arg = &process};
    bench_measure(sides, n, 1);
    printf("%s, %.1f MB, %d threads, %s, medians of %d:\n", path, (double)mapped.bytes * 1e-6, cpu_threads(),
           backend_isa(), (int)BENCH_ROUNDS);
    for (size_t i = 0; i < n; i++)
        printf("  %-56s %7.1f ms %6.2f GB/s\n", sides[i].name, sides[i].median * 1e3,
               (double)mapped.bytes / sides[i].median * 1e-9);
    judge(sides, n, is_qk);
    unlink(process.out);
    dump_done(&opened.dump);
}

void bench_peak(const char *path, const char *tare)
{
    struct process process = {.tare = tare, .path = path};
    double megabytes;

    snprintf(process.out, sizeof process.out, "/tmp/attention_bench.%ld.h5", (long)getpid());
    run_process(&process);
    unlink(process.out);
    megabytes = (double)process.usage.ru_maxrss * 1.024e-3;
    printf("%s: the process takes %.1f MB at its peak\n", path, megabytes);
    bench_judge("150 MB, over its peak memory", 150 / megabytes, 1);
}

void bench_once(const char *path)
{
    struct opened opened = {.path = path};
    struct error err = {0};
    double begin;

    if (dump_open(&opened.dump, path, &err) != OK)
        bench_give_up(path, &err);
    run_rows(&opened); /* to warm up */
    begin = bench_now();
    run_rows(&opened);
    printf("%.6f\n", bench_now() - begin);
    dump_done(&opened.dump);
}
