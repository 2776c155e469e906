/* span.h - how the values of a cube lie, for display and for tables; NaN stands outside. */
#ifndef CORE_MODEL_SPAN_H
#define CORE_MODEL_SPAN_H

#include "core/model/cube.h"

#include <stddef.h>

/* n = 0: the rest is NaN. sd has ddof 1 and is NaN for one value. */
struct span {
    size_t n;
    double mean, sd, min, max;
};

/* Over the cells whose index along each axis of `fixed` (a set of AXIS_BIT) is at[axis]; at may be NULL when fixed
 * is 0. An axis that the cube has not is ignored. */
struct span cube_span(const struct cube *c, unsigned fixed, const size_t at[N_AXES]);

/* The same by the unit of the metric's noise: over the tasks' own means, so that each task counts once however many
 * cells it has; for a run-noise metric over all cells, as requests are what its mean is of. */
struct span cube_span_by_unit(const struct cube *c, unsigned fixed, const size_t at[N_AXES]);

/* Welford's update: starts from a zeroed struct; NaN is left out. span_end() makes sd of it. */
void span_add(struct span *s, double value);
struct span span_end(const struct span *s);

#endif
