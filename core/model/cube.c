#include "core/model/cube.h"

#include "core/base/checked.h"
#include "core/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status cube_init(struct cube *c, const char *metric, int version, unsigned axes, const struct axes *over,
                      struct error *err)
{
    size_t len = 1, i;

    memset(c, 0, sizeof *c);
    c->version = version;
    c->axes = axes;
    for (i = 0; i < N_AXES; i++) {
        c->dim[i] = axes & AXIS_BIT(i) ? over->n[i] : 1;
        if (!size_mul(len, c->dim[i], &len))
            return error_set(err, ERR_LIMIT, "metric '%s' has too many cells", metric);
    }
    TRY(mem_strdup(metric, &c->metric, err));
    if (mem_new(len, sizeof *c->values, &c->values, err) != OK) {
        cube_done(c);
        return ERR_MEMORY;
    }
    for (i = 0; i < len; i++)
        c->values[i] = NAN;
    return OK;
}

enum status cube_describe(struct cube *c, const char *unit, const char *help, enum better better, enum noise noise,
                          struct error *err)
{
    TRY(mem_strdup(unit, &c->unit, err));
    TRY(mem_strdup(help, &c->help, err));
    c->better = better;
    c->noise = noise;
    return OK;
}

const char *better_name(enum better b)
{
    return b == BETTER_HIGHER ? "higher" : b == BETTER_LOWER ? "lower" : "neither";
}

const char *noise_name(enum noise n)
{
    return n == NOISE_TASK ? "task" : "run";
}

const char *noise_counts(enum noise n)
{
    return n == NOISE_TASK ? "task" : "request";
}

void cube_done(struct cube *c)
{
    free(c->metric);
    free(c->unit);
    free(c->help);
    free(c->values);
    memset(c, 0, sizeof *c);
}

size_t cube_len(const struct cube *c)
{
    size_t len = 1, i;

    for (i = 0; i < N_AXES; i++)
        len *= c->dim[i];
    return len;
}

size_t cube_index(const struct cube *c, const size_t at[N_AXES])
{
    size_t index = 0, i;

    for (i = 0; i < N_AXES; i++)
        index = index * c->dim[i] + (c->axes & AXIS_BIT(i) ? at[i] : 0);
    return index;
}

bool cube_next(const struct cube *c, size_t at[N_AXES])
{
    size_t axis = N_AXES;

    while (axis-- > 0) {
        if (++at[axis] < c->dim[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

size_t cube_count(const struct cube *c)
{
    size_t len = cube_len(c), n = 0, i;

    for (i = 0; i < len; i++)
        n += !isnan(c->values[i]);
    return n;
}
