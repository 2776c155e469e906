#include "core/gate/repeats.h"

#include "core/base/mem.h"
#include "core/base/scope.h"

#include <stdlib.h>
#include <string.h>

void repeats_done(struct repeats *r)
{
    size_t i, k;

    for (i = 0; r->runs && i < r->n; i++) {
        for (k = 0; r->runs[i].cubes && k < r->runs[i].n_cubes; k++)
            free(r->runs[i].cubes[k].values);
        free(r->runs[i].cubes);
    }
    free(r->runs);
    memset(r, 0, sizeof *r);
}

/* One repeat of a cube; the whole of one that has none. */
static enum status take_cube(struct cube *to, const struct cube *from, size_t repeat, struct error *err)
{
    size_t inner = from->dim[AXIS_LAYER] * from->dim[AXIS_HEAD], outer, i;
    bool has_repeats = (from->axes & AXIS_BIT(AXIS_REPEAT)) != 0;

    *to = *from;
    to->values = NULL;
    to->dim[AXIS_REPEAT] = 1;
    TRY(mem_new(cube_len(to), sizeof *to->values, &to->values, err));
    outer = from->dim[AXIS_TASK] * from->dim[AXIS_TURN];
    for (i = 0; i < outer; i++)
        memcpy(to->values + i * inner, from->values + (has_repeats ? i * from->dim[AXIS_REPEAT] + repeat : i) * inner,
               inner * sizeof *to->values);
    return OK;
}

static enum status take_run(struct run *to, const struct run *from, size_t repeat, struct error *err)
{
    *to = *from;
    to->cubes = NULL;
    to->n_cubes = 0;
    to->axes.n[AXIS_REPEAT] = 1; /* all are called the first */
    TRY(mem_new(from->n_cubes, sizeof *to->cubes, &to->cubes, err));
    while (to->n_cubes < from->n_cubes) {
        TRY(take_cube(&to->cubes[to->n_cubes], &from->cubes[to->n_cubes], repeat, err));
        to->n_cubes++;
    }
    return OK;
}

enum status repeats_init(struct repeats *r, const struct run *run, struct error *err)
{
    AUTO(repeats) out = {0};
    size_t n = run->axes.n[AXIS_REPEAT];

    TRY(mem_new(n, sizeof *out.runs, &out.runs, err));
    out.n = n;
    while (n-- > 0)
        TRY(take_run(&out.runs[n], run, n, err));
    *r = out;
    memset(&out, 0, sizeof out);
    return OK;
}
