/* Relabelled sums against those seen, on the GPU: the choices of the draws as ones and zeros times what each choice
 * adds, by cuBLAS in float, a tile of draws and cells at a time that stays in the L2 cache; a kernel then goes over the
 * tile's cells in ascending order of their limits. The choices of all draws stay on the device where they fit into half
 * of its share of memory; else blocks of draws follow each other.
 *
 * A float sum counts only where its error cannot matter (maxt_plan.h); otherwise, and where it may be the largest so
 * far, the kernel adds up in double, in the CPU's order: the counts are the CPU's. Counters are whole numbers: the
 * order of blocks does not show. */
#include "core/base/mem.h"
#include "kernels/device_memory.h"
#include "kernels/gemm.h"
#include "kernels/maxt_kernel.cuh"

#include <stdlib.h>

namespace
{

const size_t TILE_BYTES = (size_t)32 << 20;

enum { LEAST_DRAWS = 32, EXPAND_BLOCKS = 4096 };

struct maxt_job {
    const struct maxt_count_args *args;
    struct maxt_plan plan;
    size_t block_draws, tile_draws, tile_cells;
    struct devbuf tasks, columns, pattern, choices, max; /* of a block of draws   */
    struct devbuf part, factor, limits, hits, sums;      /* of a tile             */
    double *host_part;                                   /* owned; a tile's, as is what follows */
    float *host_factor;                                  /* owned */
    struct cell_limit *host_limits;                      /* owned */
    unsigned long long *host_hits;                       /* owned */
    int64_t *total, *total_max;                          /* owned: [n_cells] */
};

/* Called by AUTO alone, which nvcc does not see. */
[[maybe_unused]] void maxt_job_done(struct maxt_job *job)
{
    struct devbuf *buffers[] = {&job->tasks, &job->columns, &job->pattern, &job->choices, &job->max,
                                &job->part,  &job->factor,  &job->limits,  &job->hits,    &job->sums};

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        devbuf_done(buffers[i]);
    maxt_plan_done(&job->plan);
    free(job->host_part);
    free(job->host_factor);
    free(job->host_limits);
    free(job->host_hits);
    free(job->total);
    free(job->total_max);
}

size_t between(size_t least, size_t x, size_t most)
{
    x = x < least ? least : x;
    return x < most ? x : most;
}

/* Half of the memory for the draws, a quarter each for the cells and for the product. */
void cut(struct maxt_job *job)
{
    size_t memory = device_memory(), product = memory / 4 < TILE_BYTES ? memory / 4 : TILE_BYTES;
    size_t of_draw = job->plan.depth * sizeof(float) + job->args->n_groups + sizeof(double);
    size_t of_cell = job->plan.n_rows * sizeof(double) + job->plan.depth * sizeof(float);

    job->block_draws = between(LEAST_DRAWS, memory / 2 / of_draw, job->args->n_draws);
    job->tile_cells = between(1, memory / 4 / of_cell, between(0, job->args->n_cells, TILE_CELLS));
    job->tile_draws = between(LEAST_DRAWS, product / sizeof(float) / job->tile_cells, job->block_draws);
}

size_t pitch_of(size_t n_draws)
{
    return (n_draws + 3) / 4 * 4;
}

enum status take_device_memory(struct maxt_job *job, struct error *err)
{
    const struct maxt_plan *plan = &job->plan;

    TRY(devbuf_init(&job->tasks, job->args->n_tasks * sizeof *plan->tasks, err));
    TRY(devbuf_init(&job->columns, plan->depth * sizeof *plan->columns, err));
    TRY(devbuf_init(&job->pattern, job->args->n_groups * job->block_draws, err));
    TRY(devbuf_init(&job->choices, job->block_draws * plan->depth * sizeof(float), err));
    TRY(devbuf_init(&job->max, job->block_draws * sizeof(double), err));
    TRY(devbuf_init(&job->part, plan->n_rows * job->tile_cells * sizeof(double), err));
    TRY(devbuf_init(&job->factor, plan->depth * job->tile_cells * sizeof(float), err));
    TRY(devbuf_init(&job->limits, job->tile_cells * sizeof *job->host_limits, err));
    TRY(devbuf_init(&job->hits, 2 * job->tile_cells * sizeof *job->host_hits, err));
    return devbuf_init(&job->sums, pitch_of(job->tile_draws) * job->tile_cells * sizeof(float), err);
}

enum status maxt_job_init(struct maxt_job *job, struct error *err)
{
    const struct maxt_count_args *args = job->args;

    TRY(gemm_ready(err));
    TRY(maxt_plan_init(&job->plan, args, err));
    cut(job);
    TRY(mem_new(job->plan.n_rows * job->tile_cells, sizeof *job->host_part, &job->host_part, err));
    TRY(mem_new(job->plan.depth * job->tile_cells, sizeof *job->host_factor, &job->host_factor, err));
    TRY(mem_new(job->tile_cells, sizeof *job->host_limits, &job->host_limits, err));
    TRY(mem_new(2 * job->tile_cells, sizeof *job->host_hits, &job->host_hits, err));
    TRY(mem_new(args->n_cells, sizeof *job->total, &job->total, err));
    TRY(mem_new(args->n_cells, sizeof *job->total_max, &job->total_max, err));
    TRY(devbuf_keep_pool(err));
    TRY(take_device_memory(job, err));
    CUDA_TRY(
        cudaMemcpy(job->tasks.data, job->plan.tasks, args->n_tasks * sizeof *job->plan.tasks, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(job->columns.data, job->plan.columns, job->plan.depth * sizeof *job->plan.columns,
                        cudaMemcpyHostToDevice));
    return OK;
}

/* The patterns of n draws from `first` on, and their choices. */
enum status begin_block(const struct maxt_job *job, size_t first, size_t n, struct error *err)
{
    size_t blocks = (n * job->plan.depth + DRAW_THREADS - 1) / DRAW_THREADS;
    unsigned char *to = (unsigned char *)job->pattern.data;

    for (size_t g = 0; g < job->args->n_groups && n < job->args->n_draws; g++)
        CUDA_TRY(
            cudaMemcpy(to + g * n, job->args->pattern + g * job->args->n_draws + first, n, cudaMemcpyHostToDevice));
    if (n == job->args->n_draws)
        CUDA_TRY(cudaMemcpy(to, job->args->pattern, job->args->n_groups * n, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(job->max.data, 0, n * sizeof(double)));
    LAUNCH(expand_choices, (unsigned)between(1, blocks, EXPAND_BLOCKS), DRAW_THREADS, 0, NULL,
           (float *)job->choices.data, (const struct maxt_choice *)job->columns.data, job->plan.depth, to, n, n);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

/* Rounded down, and up. */
float float_at_most(double x)
{
    float f = (float)x;

    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

float float_at_least(double x)
{
    return -float_at_most(-x);
}

enum status send_cells(const struct maxt_job *job, size_t first, size_t n, struct error *err)
{
    size_t n_part = job->plan.n_rows * n, n_factor = job->plan.depth * n;

    maxt_plan_cells(&job->plan, job->args, first, n, job->host_part, job->host_factor);
    for (size_t k = 0; k < n; k++) {
        double limit = job->args->limit[first + k], bound = job->plan.bound[first + k];

        job->host_limits[k] = {limit, float_at_most(limit - bound), float_at_least(limit + bound)};
    }
    CUDA_TRY(cudaMemcpy(job->part.data, job->host_part, n_part * sizeof *job->host_part, cudaMemcpyHostToDevice));
    CUDA_TRY(
        cudaMemcpy(job->factor.data, job->host_factor, n_factor * sizeof *job->host_factor, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(job->limits.data, job->host_limits, n * sizeof *job->host_limits, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(job->hits.data, 0, 2 * n * sizeof *job->host_hits));
    return OK;
}

/* Products and counts of n_draws from draw `at` of the block on, which has block_draws of them. */
enum status count_tile(const struct maxt_job *job, size_t block_draws, size_t at, size_t n_draws, size_t n_cells,
                       struct error *err)
{
    struct gemm_tile product = {};
    struct draw_tile t = {};

    product.q = job->factor.data;
    product.k = (const float *)job->choices.data + at * job->plan.depth;
    product.scores = (float *)job->sums.data;
    product.type = GEMM_F32;
    product.n_heads = 1;
    product.n_rows = n_cells;
    product.n_keys = n_draws;
    product.depth = job->plan.depth;
    product.pitch = pitch_of(n_draws);
    TRY(gemm_start(&product, 0, NULL, err));
    t.sums = product.scores;
    t.pitch = product.pitch;
    t.pattern = (const unsigned char *)job->pattern.data + at;
    t.pattern_pitch = block_draws;
    t.n_draws = n_draws;
    t.n_cells = n_cells;
    t.n_tasks = job->args->n_tasks;
    t.tasks = (const struct maxt_choice *)job->tasks.data;
    t.part = (const double *)job->part.data;
    t.limits = (const struct cell_limit *)job->limits.data;
    t.max = (double *)job->max.data + at;
    t.max_bound = job->plan.max_bound;
    t.hits = (unsigned long long *)job->hits.data;
    LAUNCH(count_draws, (unsigned)((n_draws + DRAW_THREADS - 1) / DRAW_THREADS), DRAW_THREADS, 0, NULL, t);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

enum status count_cells(const struct maxt_job *job, size_t block_draws, size_t first, size_t n, struct error *err)
{
    TRY(send_cells(job, first, n, err));
    for (size_t at = 0; at < block_draws; at += job->tile_draws)
        TRY(count_tile(job, block_draws, at, between(0, block_draws - at, job->tile_draws), n, err));
    CUDA_TRY(cudaMemcpy(job->host_hits, job->hits.data, 2 * n * sizeof *job->host_hits, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < n; k++) {
        job->total[first + k] += (int64_t)job->host_hits[k];
        job->total_max[first + k] += (int64_t)job->host_hits[n + k];
    }
    return OK;
}

} /* namespace */

enum status maxt_count_cuda(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                            struct error *err)
{
    AUTO(maxt_job) job = {};

    if (args->n_cells == 0 || args->n_draws == 0 || args->n_tasks == 0)
        return maxt_count_cpu(args, ret_hits, ret_hits_max, err);
    job.args = args;
    TRY(maxt_job_init(&job, err));
    for (size_t first = 0; first < args->n_draws; first += job.block_draws) {
        size_t n_draws = between(0, args->n_draws - first, job.block_draws);

        TRY(begin_block(&job, first, n_draws, err));
        for (size_t cell = 0; cell < args->n_cells; cell += job.tile_cells)
            TRY(count_cells(&job, n_draws, cell, between(0, args->n_cells - cell, job.tile_cells), err));
    }
    memcpy(ret_hits, job.total, args->n_cells * sizeof *ret_hits);
    memcpy(ret_hits_max, job.total_max, args->n_cells * sizeof *ret_hits_max);
    return OK;
}
