/* The counts of the permutation test: the CUDA source on the CPU harness gives those of the CPU, whatever the product's
 * rounding, the order of threads and the memory of the device. */
#include "core/base/rng.h"
#include "core/stats/maxt.h"
#include "kernels/device_memory.h"
#include "kernels/maxt_count.h"
#include "tests/support/cuda_harness_control.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum values { CONTINUOUS, THIRDS, ALIKE, WIDE, LAST_BIT, N_VALUES };

struct shape {
    size_t n_tasks, n_cells, n_draws, most_options; /* of a task; each has from 2, or from 1, to so many */
};

/* Everything that a call needs. */
struct set {
    struct maxt_count_args args;
    size_t *n_options, *first, *column;
    uint8_t *pattern;
    double *part, *limit;
};

static double uniform(uint64_t stream, uint64_t index)
{
    return rng_at(9, stream, index).word[0] / 4294967296.0 - 0.5;
}

static double value(enum values kind, size_t row, size_t cell)
{
    double x = uniform(row, cell);

    switch (kind) {
    case THIRDS:
        return floor(4 * x) / 3;
    case ALIKE: /* the same in all cells: every one may be the largest */
        return uniform(row, 0);
    case WIDE:
        return x * pow(10, -40 * fabs(uniform(cell, row)));
    case LAST_BIT: /* cells that only the last bits of a double tell apart */
        return floor(4 * uniform(row, 0)) / 3 * (1 + (double)cell * 0x1p-52);
    default:
        return x;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Limits of the size that sums have, and, where ties should meet them, the sums of draws themselves. */
static void make_limits(struct set *s, enum values kind)
{
    struct maxt_count_args *a = &s->args;

    for (size_t k = 0; k < a->n_cells; k++) {
        double sum = 0;

        for (size_t i = 0, row = 0; i < a->n_tasks; row += s->n_options[i++])
            sum += s->part[(row + (k * 7 + i) % s->n_options[i]) * a->n_columns + s->column[k]];
        s->limit[k] = fabs(sum) - (kind == CONTINUOUS ? 1e-9 : k % 3 ? 0 : 1e-9);
    }
    qsort(s->limit, a->n_cells, sizeof *s->limit, ascending);
}

static struct set set_new(const struct shape *shape, enum values kind)
{
    size_t n = shape->n_tasks, n_columns = shape->n_cells + 3, rows = 0;
    struct set s = {
        .args = {.n_tasks = n, .n_draws = shape->n_draws, .n_columns = n_columns, .n_cells = shape->n_cells}};

    s.n_options = calloc(n + 1, sizeof *s.n_options);
    s.first = calloc(n + 1, sizeof *s.first);
    s.column = calloc(shape->n_cells + 1, sizeof *s.column);
    s.limit = calloc(shape->n_cells + 1, sizeof *s.limit);
    for (size_t i = 0; i < n; i++) {
        s.n_options[i] = shape->most_options == 2 ? 2 : 1 + i % shape->most_options;
        rows += s.n_options[i];
    }
    s.args.n_groups = maxt_groups(s.n_options, n, s.first);
    s.args.n_options = s.n_options;
    s.args.first = s.first;
    s.part = calloc(rows * n_columns + 1, sizeof *s.part);
    for (size_t i = 0; i < rows * n_columns; i++)
        s.part[i] = shape->most_options == 2 && i / n_columns % 2 ? -s.part[i - n_columns]
                                                                  : value(kind, i / n_columns, i % n_columns);
    s.pattern = calloc(s.args.n_groups * shape->n_draws + 1, 1);
    s.args.part = s.part;
    for (size_t g = 0; g < s.args.n_groups; g++)
        for (size_t f = 0; f < shape->n_draws; f++)
            s.pattern[g * shape->n_draws + f] = (uint8_t)(rng_at(3, g, f).word[0] % maxt_count_patterns(&s.args, g));
    for (size_t k = 0; k < shape->n_cells; k++)
        s.column[k] = n_columns - 1 - k;
    s.args.pattern = s.pattern;
    s.args.column = s.column;
    s.args.limit = s.limit;
    make_limits(&s, kind);
    return s;
}

static void set_done(struct set *s)
{
    free(s->n_options);
    free(s->first);
    free(s->column);
    free(s->limit);
    free(s->part);
    free(s->pattern);
}

/* The definition, draw by draw. */
static void count_plainly(const struct maxt_count_args *a, int64_t *hits, int64_t *hits_max)
{
    for (size_t f = 0; f < a->n_draws; f++) {
        double largest = 0;

        for (size_t k = 0; k < a->n_cells; k++) {
            double total = 0;
            size_t row = 0;

            for (size_t g = 0; g < a->n_groups; g++) {
                size_t rest = a->pattern[g * a->n_draws + f];
                double sum = 0;

                for (size_t i = a->first[g]; i < a->first[g + 1]; rest /= a->n_options[i], row += a->n_options[i++])
                    sum += a->part[(row + rest % a->n_options[i]) * a->n_columns + a->column[k]];
                total += sum;
            }
            largest = fmax(largest, fabs(total));
            hits[k] += fabs(total) >= a->limit[k];
            hits_max[k] += largest >= a->limit[k];
        }
    }
}

static void check(const struct shape *shape, enum values kind)
{
    struct set s = set_new(shape, kind);
    size_t n = shape->n_cells;
    int64_t *want = calloc(6 * n + 1, sizeof *want), *cpu = want + 2 * n, *got = want + 4 * n;

    count_plainly(&s.args, want, want + n);
    cr_assert(eq(int, maxt_count_cpu(&s.args, cpu, cpu + n, NULL), OK));
    cr_assert(memcmp(cpu, want, 2 * n * sizeof *want) == 0, "cpu: %zu tasks, %zu cells, values %d", shape->n_tasks, n,
              (int)kind);
    for (uint64_t seed = 0; seed < 4; seed++) {
        harness_seed(seed);
        harness_coarse_products(seed % 2);
        device_memory_set(seed < 2 ? 0 : 1);
        memset(got, 0x5a, 2 * n * sizeof *got);
        cr_assert(eq(int, maxt_count_harness(&s.args, got, got + n, NULL), OK));
        for (size_t k = 0; k < 2 * n; k++)
            cr_assert(got[k] == want[k], "%zu tasks, %zu options, values %d, seed %d, count %zu of %zu: %ld, not %ld",
                      shape->n_tasks, shape->most_options, (int)kind, (int)seed, k, n, (long)got[k], (long)want[k]);
    }
    cr_assert(eq(int, harness_live_allocations(), 0));
    free(want);
    set_done(&s);
}

Test(maxt_count, the_gpu_counts_what_the_cpu_counts)
{
    static const struct shape shapes[] = {{1, 1, 1, 2},    {2, 3, 4, 2},     {5, 33, 257, 2}, {40, 70, 300, 2},
                                          {7, 1, 100, 5},  {23, 37, 500, 4}, {3, 600, 70, 9}, {1, 2, 40, 40},
                                          {300, 5, 90, 2}, {12, 8, 4096, 2}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int kind = 0; kind < N_VALUES; kind++)
            check(&shapes[i], (enum values)kind);
}

/* So little memory that draws come in blocks, and cells in tiles of few: 1 MiB of device memory, 3,000 tasks. */
Test(maxt_count, draws_and_cells_are_cut_to_the_memory)
{
    static const struct shape shape = {3000, 40, 150, 2};

    check(&shape, THIRDS);
}

Test(maxt_count, whatever_fails_is_an_error_and_gives_all_memory_back)
{
    static const struct shape shape = {6, 5, 40, 3};
    struct set s = set_new(&shape, CONTINUOUS);
    int64_t hits[10] = {-7, -7, -7};
    int n_calls;

    harness_fail_call(0);
    cr_assert(eq(int, maxt_count_harness(&s.args, hits, hits + 5, NULL), OK));
    n_calls = harness_calls();
    hits[0] = -7;
    for (int i = 1; i <= n_calls; i++) {
        struct error err = {0};

        harness_fail_call(i);
        cr_assert(eq(int, maxt_count_harness(&s.args, hits, hits + 5, &err), ERR_DEVICE), "call %d", i);
        cr_assert(hits[0] == -7 && strstr(err.message, "device cpu"), "%s", err.message);
        cr_assert(eq(int, harness_live_allocations(), 0), "call %d", i);
    }
    harness_fail_call(0);
    set_done(&s);
}

Test(maxt_count, nothing_to_count_is_a_defined_case)
{
    struct maxt_count_args none = {0};

    cr_assert(eq(int, maxt_count_cpu(&none, NULL, NULL, NULL), OK));
    cr_assert(eq(int, maxt_count_harness(&none, NULL, NULL, NULL), OK));
}
