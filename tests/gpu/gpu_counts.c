#include "tests/gpu/gpu_counts.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "kernels/maxt_count.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP = 4 };

struct set {
    struct maxt_count_args args;
    size_t *n_options, *first, *column;
    uint8_t *pattern;
    double *part, *limit;
    int64_t *cpu, *device; /* [n_cells] and as many of the maxima */
};

static void set_done(struct set *s)
{
    free(s->n_options);
    free(s->first);
    free(s->column);
    free(s->pattern);
    free(s->part);
    free(s->limit);
    free(s->cpu);
    free(s->device);
    memset(s, 0, sizeof *s);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Differences and their opposites, and |sum| as seen for a limit. */
static void fill_values(struct set *s, bool is_tied)
{
    const struct maxt_count_args *a = &s->args;
    size_t i, k;

    for (i = 0; i < a->n_tasks; i++)
        for (k = 0; k < a->n_cells; k++) {
            double x = rng_at(1, i, k).word[0] / 4294967296.0 - 0.5 + rng_at(1, i, a->n_cells).word[0] / 8589934592.0;

            x = (is_tied ? floor(4 * x) / 3 : x) / sqrt((double)a->n_tasks);
            s->part[2 * i * a->n_cells + k] = x;
            s->part[(2 * i + 1) * a->n_cells + k] = -x;
            s->limit[k] += i % 3 ? x : -x;
        }
    for (k = 0; k < a->n_cells; k++) {
        s->limit[k] = fabs(s->limit[k]) - 1e-9;
        s->column[k] = k;
    }
    qsort(s->limit, a->n_cells, sizeof *s->limit, ascending);
}

static void fill_draws(struct set *s)
{
    struct maxt_count_args *a = &s->args;
    size_t g, i, f;

    for (i = 0; i < a->n_tasks; i++)
        s->n_options[i] = 2;
    for (g = 0; g < a->n_groups; g++) {
        size_t n = a->n_tasks - g * GROUP < GROUP ? a->n_tasks - g * GROUP : GROUP;

        s->first[g] = g * GROUP;
        for (f = 0; f < a->n_draws; f++)
            s->pattern[g * a->n_draws + f] = (uint8_t)(rng_at(2, g, f).word[0] & ((1U << n) - 1));
    }
    s->first[a->n_groups] = a->n_tasks;
}

static enum status set_init(struct set *s, struct error *err)
{
    struct maxt_count_args *a = &s->args;

    a->n_groups = (a->n_tasks + GROUP - 1) / GROUP;
    a->n_columns = a->n_cells;
    TRY(mem_new(a->n_tasks, sizeof *s->n_options, &s->n_options, err));
    TRY(mem_new(a->n_groups + 1, sizeof *s->first, &s->first, err));
    TRY(mem_new(a->n_cells, sizeof *s->column, &s->column, err));
    TRY(mem_new(a->n_groups * a->n_draws, 1, &s->pattern, err));
    TRY(mem_new(2 * a->n_tasks * a->n_cells, sizeof *s->part, &s->part, err));
    TRY(mem_new(a->n_cells, sizeof *s->limit, &s->limit, err));
    TRY(mem_new(2 * a->n_cells, sizeof *s->cpu, &s->cpu, err));
    TRY(mem_new(2 * a->n_cells, sizeof *s->device, &s->device, err));
    a->n_options = s->n_options;
    a->first = s->first;
    a->column = s->column;
    a->pattern = s->pattern;
    a->part = s->part;
    a->limit = s->limit;
    return OK;
}

enum status gpu_counts(size_t n_tasks, size_t n_cells, size_t n_draws, bool is_tied, int n_runs,
                       struct counts_result *ret, struct error *err)
{
    struct counts_result r = {false, INFINITY, INFINITY, n_tasks, n_cells, n_draws};
    AUTO(set) s = {.args = {.n_tasks = n_tasks, .n_cells = n_cells, .n_draws = n_draws}};
    int i;

    TRY(set_init(&s, err));
    fill_values(&s, is_tied);
    fill_draws(&s);
    for (i = 0; i < n_runs; i++) {
        double begin = now(), middle;

        TRY(maxt_count_cpu(&s.args, s.cpu, s.cpu + n_cells, err));
        middle = now();
        TRY(maxt_count_cuda(&s.args, s.device, s.device + n_cells, err));
        r.cpu_s = fmin(r.cpu_s, middle - begin);
        r.device_s = fmin(r.device_s, now() - middle);
    }
    r.is_same = memcmp(s.cpu, s.device, 2 * n_cells * sizeof *s.cpu) == 0;
    *ret = r;
    return OK;
}
