#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/metrics/compute.h"
#include "core/metrics/compute_cubes.h"
#include "core/metrics/registry.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static bool reads_turns(const struct metric *metric)
{
    return metric->of_turns != NULL;
}

/* One conversation: the turns that have a value, in their order. */
static double of_conversation(const struct run *run, const struct metric *m, const struct cube *from, size_t task,
                              size_t repeat, double *turn, double *value)
{
    size_t at[N_AXES] = {[AXIS_TASK] = task, [AXIS_REPEAT] = repeat}, n = 0;

    for (at[AXIS_TURN] = 0; at[AXIS_TURN] < from->dim[AXIS_TURN]; at[AXIS_TURN]++) {
        double v = from->values[cube_index(from, at)];

        if (!isfinite(v))
            continue;
        turn[n] = (double)run->axes.number[AXIS_TURN][at[AXIS_TURN]];
        value[n++] = v;
    }
    return m->of_turns(turn, value, n);
}

static enum status fill(const struct run *run, const struct metric *m, struct cube *to, struct error *err)
{
    const struct cube *from = run_cube(run, m->from);
    double *turns = NULL;
    size_t at[N_AXES] = {0}, n;

    if (!from)
        return OK;
    assert(to->axes == (AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_REPEAT)));
    n = from->dim[AXIS_TURN];
    TRY(mem_new(2 * n, sizeof *turns, &turns, err));
    for (at[AXIS_TASK] = 0; at[AXIS_TASK] < to->dim[AXIS_TASK]; at[AXIS_TASK]++)
        for (at[AXIS_REPEAT] = 0; at[AXIS_REPEAT] < to->dim[AXIS_REPEAT]; at[AXIS_REPEAT]++)
            to->values[cube_index(to, at)] =
                of_conversation(run, m, from, at[AXIS_TASK], at[AXIS_REPEAT], turns, turns + n);
    free(turns);
    return OK;
}

enum status compute_turns(struct run *run, struct error *err)
{
    AUTO(metric_cubes) cubes = {0};
    size_t i;

    TRY(metric_cubes_init(&cubes, run, reads_turns, err));
    for (i = 0; i < cubes.n; i++)
        TRY(fill(run, cubes.metrics[i], &cubes.cubes[i], err));
    return metric_cubes_keep(&cubes, run, err);
}

void compute_forget_turns(struct run *run)
{
    size_t i, kept = 0;

    for (i = 0; i < run->n_cubes; i++) {
        const struct metric *m = metric_find(run->cubes[i].metric);

        if (m && m->of_turns)
            cube_done(&run->cubes[i]);
        else
            run->cubes[kept++] = run->cubes[i];
    }
    run->n_cubes = kept;
}
