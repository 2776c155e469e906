/* cube.h - the values of one metric over some of the axes task, turn, repeat, layer, head; missing is NaN. */
#ifndef CORE_MODEL_CUBE_H
#define CORE_MODEL_CUBE_H

#include "core/base/error.h"
#include "core/model/axes.h"
#include <stdbool.h>

#include <stddef.h>

enum better { BETTER_HIGHER, BETTER_LOWER, BETTER_NEITHER /* should not move */ };

/* task: the task is the unit of comparison; run: a slow minute hits all tasks, so the run is. */
enum noise { NOISE_TASK, NOISE_RUN };

struct cube {
    char *metric;      /* owned: the metric's name                                         */
    char *unit, *help; /* owned                                                            */
    enum better better;
    enum noise noise;
    int version;        /* of the metric's definition                                       */
    unsigned axes;      /* set of AXIS_BIT                                                   */
    size_t dim[N_AXES]; /* length along each axis; 1 where the cube has not the axis         */
    double *values;     /* owned: product of dim, row-major in the order of enum axis        */
};

/* All values NaN. The lengths come from `over`. */
MUST_CHECK enum status cube_init(struct cube *c, const char *metric, int version, unsigned axes,
                                 const struct axes *over, struct error *err);

/* Gives the cube its meaning: copies of unit and help, direction, noise. */
MUST_CHECK enum status cube_describe(struct cube *c, const char *unit, const char *help, enum better better,
                                     enum noise noise, struct error *err);

const char *better_name(enum better b); /* "higher", "lower", "neither" */
const char *noise_name(enum noise n);   /* "task", "run" */
const char *noise_counts(enum noise n); /* what a mean is over: "task", "request" */
void cube_done(struct cube *c);

size_t cube_len(const struct cube *c);

/* at[axis] is an index along that axis; those of axes that the cube has not are ignored. */
size_t cube_index(const struct cube *c, const size_t at[N_AXES]);

/* Steps `at`, {0} at first, to the next cell in row-major order; false after the last. */
bool cube_next(const struct cube *c, size_t at[N_AXES]);

/* Number of values that are not NaN. */
size_t cube_count(const struct cube *c);

#endif
