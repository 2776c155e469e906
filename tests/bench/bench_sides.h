/* bench_sides.h - several ways to do the same, timed in turns. */
#ifndef TESTS_BENCH_BENCH_SIDES_H
#define TESTS_BENCH_BENCH_SIDES_H

#include "core/base/error.h"

#include <stddef.h>

enum { BENCH_ROUNDS = 9 };

struct bench_side {
    const char *name;
    void (*run)(void *arg);
    void *arg;
    double seconds[BENCH_ROUNDS], median;
};

double bench_now(void);

/* Takes turns, so that a slow moment hits all sides; the first round is to warm up. */
void bench_measure(struct bench_side *sides, size_t n, int repeats);

/* Prints whether a ratio that was aimed at is reached. */
void bench_judge(const char *what, double ratio, double aim);

_Noreturn void bench_give_up(const char *what, const struct error *err);

typedef void bench_sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                                  int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* cblas_sgemm of OpenBLAS, or of the library in BENCH_BLAS; NULL where there is none. */
bench_sgemm_function *bench_sgemm(void);

#endif
