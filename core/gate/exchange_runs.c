#include "core/gate/exchange_runs.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 100 };

static bool same_axes(const struct axes *a, const struct axes *b)
{
    size_t axis, i;

    for (axis = 0; axis < N_AXES; axis++) {
        if (a->n[axis] != b->n[axis])
            return false;
        for (i = 0; i < a->n[axis]; i++)
            if (axis == AXIS_TASK ? strcmp(a->task[i], b->task[i]) != 0 : a->number[axis][i] != b->number[axis][i])
                return false;
    }
    return true;
}

static bool same_cubes(const struct run *a, const struct run *b)
{
    size_t i;

    if (a->n_cubes != b->n_cubes)
        return false;
    for (i = 0; i < a->n_cubes; i++) {
        const struct cube *other = run_cube(b, a->cubes[i].metric);

        if (!other || other->axes != a->cubes[i].axes || cube_len(other) != cube_len(&a->cubes[i]))
            return false;
    }
    return true;
}

bool exchanged_can(const struct run *runs, size_t n)
{
    size_t i;

    for (i = 1; i < n; i++)
        if (!same_axes(&runs[0].axes, &runs[i].axes) || !same_cubes(&runs[0], &runs[i]))
            return false;
    return n > 1 && n <= MAX_RUNS;
}

void exchanged_done(struct exchanged *x)
{
    size_t i, k;

    for (i = 0; x->runs && i < x->n; i++) {
        for (k = 0; x->runs[i].cubes && k < x->runs[i].n_cubes; k++)
            free(x->runs[i].cubes[k].values);
        free(x->runs[i].cubes);
    }
    free(x->runs);
    memset(x, 0, sizeof *x);
}

/* The cubes in the order of the first run, with room for values of their own. */
static enum status copy_cubes(struct run *ret, const struct run *first, struct error *err)
{
    size_t k;

    ret->n_cubes = 0;
    ret->cubes = NULL;
    TRY(mem_new(first->n_cubes, sizeof *ret->cubes, &ret->cubes, err));
    for (k = 0; k < first->n_cubes; k++) {
        ret->cubes[k] = first->cubes[k];
        ret->cubes[k].values = NULL;
        ret->n_cubes++;
        TRY(mem_new(cube_len(&first->cubes[k]), sizeof *ret->cubes[k].values, &ret->cubes[k].values, err));
    }
    return OK;
}

enum status exchanged_init(struct exchanged *x, const struct run *runs, size_t n, struct error *err)
{
    AUTO(exchanged) out = {.from = runs};
    size_t i;

    assert(exchanged_can(runs, n));
    TRY(mem_new(n, sizeof *out.runs, &out.runs, err));
    for (i = 0; i < n; i++) {
        out.runs[i] = runs[i];
        out.runs[i].cubes = NULL;
        out.runs[i].n_cubes = 0;
    }
    out.n = n;
    for (i = 0; i < n; i++)
        TRY(copy_cubes(&out.runs[i], &runs[0], err));
    *x = out;
    memset(&out, 0, sizeof out);
    return OK;
}

/* A random order of n runs (Fisher and Yates). */
static void shuffle(size_t *order, size_t n, uint64_t seed, uint64_t stream, uint64_t draw)
{
    size_t i;

    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = n; i > 1; i--) {
        struct rng_block r = rng_at(seed, stream, draw * MAX_RUNS + i - 1);
        size_t other = (size_t)(((uint64_t)r.word[0] * i) >> 32), kept = order[i - 1];

        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static void take_task(struct exchanged *x, size_t cube, size_t task, const size_t *order)
{
    size_t i;

    for (i = 0; i < x->n; i++) {
        struct cube *to = &x->runs[i].cubes[cube];
        const struct cube *from = run_cube(&x->from[order[i]], to->metric);
        size_t per_task = cube_len(to) / to->dim[AXIS_TASK];

        memcpy(to->values + task * per_task, from->values + task * per_task, per_task * sizeof *to->values);
    }
}

static void take_whole(struct exchanged *x, size_t cube, uint64_t draw)
{
    size_t i;

    for (i = 0; i < x->n; i++) {
        struct cube *to = &x->runs[i].cubes[cube];
        const struct cube *from = run_cube(&x->from[(i + draw) % x->n], to->metric);

        memcpy(to->values, from->values, cube_len(to) * sizeof *to->values);
    }
}

void exchanged_draw(struct exchanged *x, uint64_t seed, uint64_t draw)
{
    const struct axes *axes = &x->from[0].axes;
    size_t order[MAX_RUNS], task, k;

    for (k = 0; k < x->from[0].n_cubes; k++) {
        const struct cube *c = &x->from[0].cubes[k];

        if (c->noise == NOISE_RUN || !(c->axes & AXIS_BIT(AXIS_TASK)))
            take_whole(x, k, draw);
    }
    for (task = 0; task < axes->n[AXIS_TASK]; task++) {
        shuffle(order, x->n, seed, rng_stream(axes->task[task]), draw);
        for (k = 0; k < x->from[0].n_cubes; k++) {
            const struct cube *c = &x->from[0].cubes[k];

            if (c->noise != NOISE_RUN && (c->axes & AXIS_BIT(AXIS_TASK)))
                take_task(x, k, task, order);
        }
    }
}
