/* A table of all sums that a group's tasks can give turns several additions into one look-up: a row of the table has
 * the sums of BLOCK cells. LANES draws are taken together, so that the largest of each is found side by side. */
#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/each_cpu.h"
#include "kernels/maxt_count.h"
#include "kernels/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, LANES = 8, LINE = 8 };

/* A row is added up in vectors; they may stand in any place that a double may. */
typedef double row_part __attribute__((vector_size(LINE * sizeof(double)), aligned(sizeof(double))));

/* What one call works with. */
struct work {
    const struct maxt_count_args *args; /* borrowed */
    size_t *row;                        /* owned: [n_tasks] the first of a task's rows    */
    size_t *at;                         /* owned: [n_groups] where a group's table begins */
    size_t n_table;
    struct chunk *chunks; /* owned */
    size_t n_chunks;
};

/* Some of the draws, counted by one thread. */
struct chunk {
    size_t first, n;          /* draws                                              */
    double *max;              /* owned: [n rounded up to LANES] largest z so far    */
    void *memory;             /* owned: holds the table                             */
    double *table;            /* n_table, at the beginning of a cache line          */
    int64_t *hits, *hits_max; /* owned: [n_cells] */
};

static void chunk_done(struct chunk *c)
{
    free(c->max);
    free(c->memory);
    free(c->hits);
    free(c->hits_max);
}

static void work_done(struct work *w)
{
    size_t i;

    for (i = 0; w->chunks && i < w->n_chunks; i++)
        chunk_done(&w->chunks[i]);
    free(w->chunks);
    free(w->row);
    free(w->at);
    memset(w, 0, sizeof *w);
}

size_t maxt_count_patterns(const struct maxt_count_args *args, size_t group)
{
    size_t i, n = 1;

    for (i = args->first[group]; i < args->first[group + 1]; i++)
        n *= args->n_options[i];
    return n;
}

static enum status work_init(struct work *w, struct error *err)
{
    const struct maxt_count_args *a = w->args;
    size_t i, rows = 0, patterns = 0;

    TRY(mem_new(a->n_tasks, sizeof *w->row, &w->row, err));
    TRY(mem_new(a->n_groups, sizeof *w->at, &w->at, err));
    for (i = 0; i < a->n_tasks; i++) {
        w->row[i] = rows;
        rows += a->n_options[i];
    }
    for (i = 0; i < a->n_groups; i++) {
        w->at[i] = patterns * BLOCK;
        patterns += maxt_count_patterns(a, i);
    }
    w->n_table = patterns * BLOCK;
    return OK;
}

static enum status chunk_init(struct chunk *c, const struct work *w, size_t first, size_t n, struct error *err)
{
    enum { CACHE_LINE = 64 };
    size_t room;

    c->first = first;
    c->n = n;
    if (!size_add(w->n_table, CACHE_LINE / sizeof *c->table, &room))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many to compare", w->args->n_tasks);
    TRY(mem_new(room, sizeof *c->table, &c->memory, err));
    c->table = (double *)(((uintptr_t)c->memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    TRY(mem_new(n + LANES, sizeof *c->max, &c->max, err));
    TRY(mem_new(w->args->n_cells, sizeof *c->hits, &c->hits, err));
    return mem_new(w->args->n_cells, sizeof *c->hits_max, &c->hits_max, err);
}

/* The draws in as many pieces as threads are worth their start. */
static enum status cut_draws(struct work *w, struct error *err)
{
    static const size_t worth = 1 << 24; /* additions */
    size_t all = w->args->n_draws, threads = (size_t)cpu_threads(), i;

    while (threads > 1 && all / threads * (w->args->n_groups + 1) < worth / (w->args->n_cells + 1))
        threads--;
    TRY(mem_new(threads, sizeof *w->chunks, &w->chunks, err));
    w->n_chunks = threads;
    for (i = 0; i < threads; i++) {
        size_t first = all * i / threads;

        TRY(chunk_init(&w->chunks[i], w, first, all * (i + 1) / threads - first, err));
    }
    return OK;
}

/* Adds one task's choices to the rows of its group: `stride` patterns on, the task takes its next choice. */
static void add_task(double *rows, size_t patterns, size_t stride, size_t n_options, const double *part, size_t n_cells,
                     const size_t *cell, size_t n)
{
    size_t p, k;

    for (p = 0; p < patterns; p++) {
        const double *choice = part + p / stride % n_options * n_cells;

        for (k = 0; k < n; k++)
            rows[p * BLOCK + k] += choice[cell[k]];
    }
}

/* The sums of each group for the cells [first, first + n). */
static void make_tables(const struct work *w, double *table, size_t first, size_t n)
{
    const struct maxt_count_args *a = w->args;
    size_t g, i;

    for (i = 0; i < w->n_table; i++)
        table[i] = 0;
    for (g = 0; g < a->n_groups; g++) {
        size_t patterns = maxt_count_patterns(a, g), stride = 1;

        for (i = a->first[g]; i < a->first[g + 1]; i++) {
            add_task(table + w->at[g], patterns, stride, a->n_options[i], a->part + w->row[i] * a->n_columns,
                     a->n_columns, a->column + first, n);
            stride *= a->n_options[i];
        }
    }
}

/* LANES draws of a block: their sums, cell by cell, into sums [BLOCK][LANES]. Draws behind the last repeat it. */
FOR_EACH_CPU static void add_up(const struct work *w, const double *table, const size_t draw[LANES], double *sums)
{
    const struct maxt_count_args *args = w->args;
    size_t lane, g, k;

    for (lane = 0; lane < LANES; lane++) {
        const uint8_t *pattern = args->pattern + draw[lane];
        row_part a = {0}, b = {0}, c = {0}, d = {0};
        double *to = sums + lane;

        for (g = 0; g < args->n_groups; g++) {
            const row_part *row = (const row_part *)(table + w->at[g] + (size_t)pattern[g * args->n_draws] * BLOCK);

            a += row[0];
            b += row[1];
            c += row[2];
            d += row[3];
        }
        for (k = 0; k < LINE; k++) {
            to[k * LANES] = a[k];
            to[(LINE + k) * LANES] = b[k];
            to[((size_t)2 * LINE + k) * LANES] = c[k];
            to[((size_t)3 * LINE + k) * LANES] = d[k];
        }
    }
}

/* hits, hits_max: [n][LANES] */
FOR_EACH_CPU static void compare(const double *sums, const double *limit, size_t n, double max[LANES], int64_t *hits,
                                 int64_t *hits_max)
{
    size_t k, lane;

    for (k = 0; k < n; k++)
        for (lane = 0; lane < LANES; lane++) {
            double z = fabs(sums[k * LANES + lane]);

            max[lane] = z > max[lane] ? z : max[lane];
            hits[k * LANES + lane] += z >= limit[k];
            hits_max[k * LANES + lane] += max[lane] >= limit[k];
        }
}

/* What is no draw of its own must hit nothing. */
static void silence(double *sums, double *max, size_t lane)
{
    size_t k;

    max[lane] = -INFINITY;
    for (k = 0; k < BLOCK; k++)
        sums[k * LANES + lane] = NAN;
}

/* Adds the chunk's hits for the n cells from `first` on. */
static void count_block(const struct work *w, struct chunk *c, size_t first, size_t n)
{
    int64_t hits[BLOCK * LANES] = {0}, hits_max[BLOCK * LANES] = {0};
    double limit[BLOCK], sums[BLOCK * LANES];
    size_t f, k, lane;

    for (k = 0; k < n; k++)
        limit[k] = w->args->limit[first + k];
    make_tables(w, c->table, first, n);
    for (f = 0; f < c->n; f += LANES) {
        size_t draw[LANES], real = c->n - f < LANES ? c->n - f : LANES;

        for (lane = 0; lane < LANES; lane++)
            draw[lane] = c->first + (lane < real ? f + lane : f);
        add_up(w, c->table, draw, sums);
        for (lane = real; lane < LANES; lane++)
            silence(sums, c->max + f, lane);
        compare(sums, limit, n, c->max + f, hits, hits_max);
    }
    for (k = 0; k < n * LANES; k++) {
        c->hits[first + k / LANES] += hits[k];
        c->hits_max[first + k / LANES] += hits_max[k];
    }
}

static void count_chunk(void *context, size_t item, int thread)
{
    const struct work *w = context;
    size_t first;

    (void)thread;
    for (first = 0; first < w->args->n_cells; first += BLOCK)
        count_block(w, &w->chunks[item], first, w->args->n_cells - first < BLOCK ? w->args->n_cells - first : BLOCK);
}

enum status maxt_count_cpu(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                           struct error *err)
{
    AUTO(work) w = {.args = args};
    size_t i, k;

    TRY(work_init(&w, err));
    TRY(cut_draws(&w, err));
    parallel_for(w.n_chunks, (int)w.n_chunks, count_chunk, &w);
    for (k = 0; k < args->n_cells; k++) {
        ret_hits[k] = ret_hits_max[k] = 0;
        for (i = 0; i < w.n_chunks; i++) {
            ret_hits[k] += w.chunks[i].hits[k];
            ret_hits_max[k] += w.chunks[i].hits_max[k];
        }
    }
    return OK;
}
