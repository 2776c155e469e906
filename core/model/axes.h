/* axes.h - the labels along a run's five dimensions; every cube of the run is laid over them. */
#ifndef CORE_MODEL_AXES_H
#define CORE_MODEL_AXES_H

#include "core/base/arena.h"
#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum axis { AXIS_TASK, AXIS_TURN, AXIS_REPEAT, AXIS_LAYER, AXIS_HEAD, N_AXES };

/* A set of axes, as in cube.axes and metric.axes. */
#define AXIS_BIT(axis) (1u << (axis))

struct axes {
    char **task;             /* [n[AXIS_TASK]] ids, in the order of the source; strings borrowed from the run's arena */
    int64_t *number[N_AXES]; /* [n[axis]] labels of the other axes, ascending: turns and repeats count from 1,
                                layers and heads from 0, as models do; number[AXIS_TASK] is NULL */
    size_t n[N_AXES];
    size_t cap[N_AXES];
};

extern const char *const axis_names[N_AXES]; /* "task", "turn", "repeat", "layer", "head" */

void axes_done(struct axes *a);

/* Adds a label unless it is there; numbers are kept ascending. Only before any cube is laid over the axes. */
MUST_CHECK enum status axes_add_task(struct axes *a, const char *id, struct arena *strings, struct error *err);
MUST_CHECK enum status axes_add(struct axes *a, enum axis axis, int64_t number, struct error *err);

/* Index of a label, or SIZE_MAX. */
size_t axes_find_task(const struct axes *a, const char *id);
size_t axes_find(const struct axes *a, enum axis axis, int64_t number);

/* Index in `to` of what stands at index `i` of an axis of `from`, or SIZE_MAX. */
size_t axes_place(const struct axes *to, const struct axes *from, enum axis axis, size_t i);

#endif
