#include "core/gate/view.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void view_done(struct view *v)
{
    size_t a;

    for (a = 0; a < N_AXES; a++)
        free(v->index[a]);
    memset(v, 0, sizeof *v);
}

enum status view_init(struct view *v, const struct run *run, const struct axes *by, const char *metric,
                      struct error *err)
{
    size_t a, i;

    v->cube = run_cube(run, metric);
    for (a = 0; a < N_AXES; a++) {
        TRY(mem_new(by->n[a], sizeof *v->index[a], &v->index[a], err));
        for (i = 0; i < by->n[a]; i++)
            v->index[a][i] = axes_place(&run->axes, by, (enum axis)a, i);
    }
    return OK;
}

double view_value(const struct view *v, const size_t at[N_AXES])
{
    size_t here[N_AXES] = {0};
    double sum = 0;
    size_t a, n = 0;

    if (!v->cube)
        return NAN;
    for (a = 0; a < N_AXES; a++) {
        if (a == AXIS_REPEAT || !(v->cube->axes & AXIS_BIT(a)))
            continue;
        here[a] = v->index[a][at[a]];
        if (here[a] == SIZE_MAX)
            return NAN;
    }
    for (here[AXIS_REPEAT] = 0; here[AXIS_REPEAT] < v->cube->dim[AXIS_REPEAT]; here[AXIS_REPEAT]++) {
        double value = v->cube->values[cube_index(v->cube, here)];

        if (!isfinite(value))
            continue;
        sum += value;
        n++;
    }
    return n ? sum / (double)n : NAN;
}
