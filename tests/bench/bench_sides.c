#include "tests/bench/bench_sides.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bench_give_up(const char *what, const struct error *err)
{
    fprintf(stderr, "attention_bench: %s: %s\n", what, err->message);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_measure(struct bench_side *sides, size_t n, int repeats)
{
    for (int round = -1; round < BENCH_ROUNDS; round++)
        for (size_t i = 0; i < n; i++) {
            double begin = bench_now();

            for (int r = 0; r < repeats; r++)
                sides[i].run(sides[i].arg);
            if (round >= 0)
                sides[i].seconds[round] = (bench_now() - begin) / repeats;
        }
    for (size_t i = 0; i < n; i++) {
        qsort(sides[i].seconds, BENCH_ROUNDS, sizeof(double), ascending);
        sides[i].median = sides[i].seconds[BENCH_ROUNDS / 2];
    }
}

void bench_judge(const char *what, double ratio, double aim)
{
    printf("  %-6s %6.2fx of %.2fx aimed at: %s\n", ratio >= aim ? "met" : "MISSED", ratio, aim, what);
}

bench_sgemm_function *bench_sgemm(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libblas.so.3"};
    bench_sgemm_function *found = NULL;
    void *library = NULL;

    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0); /* else its idle threads wait busily beside the other side */
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
