#include "core/gate/halves.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void run_free_cubes(struct run *r)
{
    size_t k;

    for (k = 0; r->cubes && k < r->n_cubes; k++)
        free(r->cubes[k].values);
    free(r->cubes);
    memset(r, 0, sizeof *r);
}

void halves_done(struct halves *h)
{
    run_free_cubes(&h->runs[0]);
    run_free_cubes(&h->runs[1]);
    free(h->order);
    memset(h, 0, sizeof *h);
}

static bool takes_part(const struct cube *c)
{
    return c->noise != NOISE_RUN && (c->axes & AXIS_BIT(AXIS_TASK));
}

static enum status take_run(struct run *to, const struct run *from, size_t n_tasks, struct error *err)
{
    size_t k;

    *to = *from;
    to->cubes = NULL;
    to->n_cubes = 0;
    to->axes.n[AXIS_TASK] = n_tasks;
    /* Of the run as a whole, not of a half of its tasks. */
    memset(&to->fingerprints, 0, sizeof to->fingerprints);
    to->exchanges = NULL;
    to->n_exchanges = 0;
    to->taskset_json = NULL;
    TRY(mem_new(from->n_cubes, sizeof *to->cubes, &to->cubes, err));
    for (k = 0; k < from->n_cubes; k++) {
        struct cube *c = &to->cubes[to->n_cubes];

        if (!takes_part(&from->cubes[k]))
            continue;
        *c = from->cubes[k];
        c->dim[AXIS_TASK] = n_tasks;
        c->values = NULL;
        to->n_cubes++;
        TRY(mem_new(cube_len(c), sizeof *c->values, &c->values, err));
    }
    return OK;
}

enum status halves_init(struct halves *h, const struct run *run, struct error *err)
{
    AUTO(halves) out = {.from = run, .n = run->axes.n[AXIS_TASK] / 2};
    size_t i;

    if (run->axes.n[AXIS_TASK] < HALVES_LEAST_TASKS)
        return error_set(err, ERR_USAGE,
                         "one run of %zu tasks without repeats shows no noise: measure the same version twice at least",
                         run->axes.n[AXIS_TASK]);
    TRY(mem_new(run->axes.n[AXIS_TASK], sizeof *out.order, &out.order, err));
    for (i = 0; i < 2; i++)
        TRY(take_run(&out.runs[i], run, out.n, err));
    *h = out;
    memset(&out, 0, sizeof out);
    return OK;
}

/* A random order of all tasks (Fisher and Yates). */
static void shuffle(struct halves *h, uint64_t seed, uint64_t draw)
{
    size_t n = h->from->axes.n[AXIS_TASK], i;
    uint64_t stream = rng_stream("halves");

    for (i = 0; i < n; i++)
        h->order[i] = i;
    for (i = n; i > 1; i--) {
        struct rng_block r = rng_at(seed, stream, draw * n + i - 1);
        size_t other = (size_t)(((uint64_t)r.word[0] * i) >> 32), kept = h->order[i - 1];

        h->order[i - 1] = h->order[other];
        h->order[other] = kept;
    }
}

/* What one of two tasks lacks, a turn above all, is no pair and no loss. */
static void match(struct cube *a, struct cube *b)
{
    size_t i;

    for (i = 0; i < cube_len(a); i++)
        if (isnan(a->values[i]) || isnan(b->values[i]))
            a->values[i] = b->values[i] = NAN;
}

void halves_draw(struct halves *h, uint64_t seed, uint64_t draw)
{
    size_t half, k, i;

    shuffle(h, seed, draw);
    for (half = 0; half < 2; half++)
        for (k = 0; k < h->runs[half].n_cubes; k++) {
            struct cube *to = &h->runs[half].cubes[k];
            const struct cube *from = run_cube(h->from, to->metric);
            size_t per_task = cube_len(to) / h->n;

            for (i = 0; i < h->n; i++)
                memcpy(to->values + i * per_task, from->values + h->order[half * h->n + i] * per_task,
                       per_task * sizeof *to->values);
        }
    for (k = 0; k < h->runs[0].n_cubes; k++)
        match(&h->runs[0].cubes[k], &h->runs[1].cubes[k]);
}
