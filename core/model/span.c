#include "core/model/span.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Until span_end(), `sd` holds the sum of squared deviations. */
void span_add(struct span *s, double value)
{
    double delta;

    if (isnan(value))
        return;
    if (s->n == 0) {
        s->min = s->max = value;
        s->mean = s->sd = 0;
    }
    s->n++;
    delta = value - s->mean;
    s->mean += delta / (double)s->n;
    s->sd += delta * (value - s->mean);
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
}

struct span span_end(const struct span *s)
{
    struct span end = *s;

    if (s->n == 0)
        end.mean = end.sd = end.min = end.max = NAN;
    else
        end.sd = s->n > 1 ? sqrt(s->sd / (double)(s->n - 1)) : NAN;
    return end;
}

/* The next place inside [lo, hi), the last axis first; false after the last place. */
static bool step(size_t i[N_AXES], const size_t lo[N_AXES], const size_t hi[N_AXES])
{
    int axis = N_AXES;

    while (axis-- > 0) {
        if (++i[axis] < hi[axis])
            return true;
        i[axis] = lo[axis];
    }
    return false;
}

struct span cube_span(const struct cube *c, unsigned fixed, const size_t at[N_AXES])
{
    size_t lo[N_AXES] = {0}, hi[N_AXES], i[N_AXES];
    struct span sum = {0};
    int axis;

    memcpy(hi, c->dim, sizeof hi);
    for (axis = 0; axis < N_AXES; axis++) {
        if (!(fixed & c->axes & AXIS_BIT(axis)))
            continue;
        lo[axis] = at[axis];
        hi[axis] = at[axis] + 1;
    }
    memcpy(i, lo, sizeof i);
    if (cube_len(c) == 0)
        return span_end(&sum);
    do {
        span_add(&sum, c->values[cube_index(c, i)]);
    } while (step(i, lo, hi));
    return span_end(&sum);
}

struct span cube_span_by_unit(const struct cube *c, unsigned fixed, const size_t at[N_AXES])
{
    size_t i[N_AXES] = {0};
    struct span sum = {0};
    int axis;

    if (c->noise == NOISE_RUN || fixed & c->axes & AXIS_BIT(AXIS_TASK))
        return cube_span(c, fixed, at);
    for (axis = 0; axis < N_AXES; axis++)
        i[axis] = fixed & AXIS_BIT(axis) ? at[axis] : 0;
    for (i[AXIS_TASK] = 0; i[AXIS_TASK] < c->dim[AXIS_TASK]; i[AXIS_TASK]++)
        span_add(&sum, cube_span(c, fixed | AXIS_BIT(AXIS_TASK), i).mean);
    return span_end(&sum);
}
