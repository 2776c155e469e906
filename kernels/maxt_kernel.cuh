/* maxt_kernel.cuh - draws on the GPU: a thread has a draw and goes over the cells, its largest sum so far with it. */
#ifndef KERNELS_MAXT_KERNEL_CUH
#define KERNELS_MAXT_KERNEL_CUH

#include "kernels/maxt_plan.h"
#include "kernels/reduce.cuh"

#include <math.h>

namespace
{

enum { DRAW_THREADS = 256, TILE_CELLS = 512, AT_ONCE = 4 };

/* What a float sum decides: it is a hit from `sure` on, and none below `open`; between them the sum in double tells. */
struct cell_limit {
    double limit;
    float open, sure;
};

/* Some draws by some cells. */
struct draw_tile {
    const float *sums; /* [n_cells][pitch], of the product */
    size_t pitch;
    const unsigned char *pattern; /* [group][pattern_pitch], from the first of these draws on */
    size_t pattern_pitch, n_draws, n_cells, n_tasks;
    const struct maxt_choice *tasks;
    const double *part; /* [row][n_cells] */
    const struct cell_limit *limits;
    double *max; /* [n_draws] the largest |sum| of the cells before, in double */
    double max_bound;
    unsigned long long *hits; /* [n_cells], then as many of the maxima */
};

__device__ __forceinline__ unsigned choice_of(const struct maxt_choice *c, unsigned pattern)
{
    return pattern / c->stride % c->n_options;
}

/* In the order of maxt_count_cpu(): the groups' sums, each that of its tasks. */
__device__ double sum_in_double(const struct draw_tile *t, size_t draw, size_t cell)
{
    double total = 0, of_group = 0;
    unsigned group = 0, pattern = t->pattern[draw];

    for (size_t i = 0; i < t->n_tasks; i++) {
        const struct maxt_choice *task = &t->tasks[i];

        if (task->group != group) {
            total += of_group;
            of_group = 0;
            group = task->group;
            pattern = t->pattern[group * t->pattern_pitch + draw];
        }
        of_group += t->part[(task->row + choice_of(task, pattern)) * t->n_cells + cell];
    }
    return fabs(total + of_group);
}

__device__ __forceinline__ float float_below(double x)
{
    float f = (float)x;

    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

/* A draw, and what of it was seen. */
struct draw {
    size_t index;
    bool is_real;
    double max;
    float may_be_max; /* from this float on a sum may be the largest so far */
};

/* Whether the sum, a float by now, reaches the limit. */
__device__ __forceinline__ bool is_hit(const struct draw_tile *t, struct draw *d, size_t cell,
                                       const struct cell_limit *limit, float sum)
{
    bool hit = sum >= limit->sure;

    if (!(sum >= d->may_be_max) && (hit || !(sum >= limit->open)))
        return hit;
    double z = sum_in_double(t, d->index, cell);

    if (z > d->max) {
        d->max = z;
        d->may_be_max = float_below(z - t->max_bound);
    }
    return z >= limit->limit;
}

__global__ void __launch_bounds__(DRAW_THREADS) count_draws(struct draw_tile t)
{
    __shared__ unsigned counts[2 * TILE_CELLS];
    unsigned lane = threadIdx.x % WARP_SIZE;
    struct draw d = {(size_t)blockIdx.x * blockDim.x + threadIdx.x, false, 0, 0};

    d.is_real = d.index < t.n_draws;
    d.max = d.is_real ? t.max[d.index] : 0;
    d.may_be_max = float_below(d.max - t.max_bound);
    for (unsigned i = threadIdx.x; i < 2 * TILE_CELLS; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    for (size_t first = 0; first < t.n_cells; first += AT_ONCE) {
        float sum[AT_ONCE];

#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum[i] = d.is_real && first + i < t.n_cells ? fabsf(t.sums[(first + i) * t.pitch + d.index]) : 0;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (first + i >= t.n_cells)
                break;
            struct cell_limit limit = t.limits[first + i];
            bool hit = d.is_real && is_hit(&t, &d, first + i, &limit, sum[i]);
            unsigned n = (unsigned)__popc(__ballot_sync(FULL_WARP, hit));
            unsigned n_max = (unsigned)__popc(__ballot_sync(FULL_WARP, d.is_real && d.max >= limit.limit));

            if (lane == 0 && n)
                atomicAdd(&counts[first + i], n);
            if (lane == 0 && n_max)
                atomicAdd(&counts[TILE_CELLS + first + i], n_max);
        }
    }
    if (d.is_real)
        t.max[d.index] = d.max;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < t.n_cells; i += blockDim.x) {
        atomicAdd(&t.hits[i], (unsigned long long)counts[i]);
        atomicAdd(&t.hits[t.n_cells + i], (unsigned long long)counts[TILE_CELLS + i]);
    }
}

/* to: [n_draws][depth], 1 where the column's row was chosen. */
__global__ void __launch_bounds__(DRAW_THREADS)
    expand_choices(float *to, const struct maxt_choice *columns, size_t depth, const unsigned char *pattern,
                   size_t pattern_pitch, size_t n_draws)
{
    size_t n = n_draws * depth, step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        struct maxt_choice c = columns[i % depth];

        to[i] = choice_of(&c, pattern[c.group * pattern_pitch + i / depth]) == c.option ? 1.0F : 0.0F;
    }
}

} /* namespace */

#endif
