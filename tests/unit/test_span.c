#include "core/base/scope.h"
#include "core/model/axes.h"
#include "core/model/span.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* Sums of few small integers: exact but for the division. */
static const struct tol tight = {1e-12, 1e-12};

/* 2 tasks x 3 layers: 1 2 3 / 10 nan 30. */
static void fill(struct cube *c, struct axes *axes, struct arena *strings)
{
    static const double values[] = {1, 2, 3, 10, NAN, 30};
    size_t i;

    cr_assert(axes_add_task(axes, "a", strings, NULL) == OK && axes_add_task(axes, "b", strings, NULL) == OK);
    for (i = 0; i < 3; i++)
        cr_assert(axes_add(axes, AXIS_LAYER, (int64_t)i, NULL) == OK);
    cr_assert(cube_init(c, "m", 1, AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_LAYER), axes, NULL) == OK);
    for (i = 0; i < 6; i++)
        c->values[i] = values[i];
}

Test(span, leaves_nan_out_and_counts_each_task_once)
{
    AUTO(arena) strings = {0};
    AUTO(axes) axes = {0};
    AUTO(cube) c = {0};
    struct span s;

    fill(&c, &axes, &strings);
    s = cube_span(&c, 0, NULL);
    cr_assert(s.n == 5);
    cr_assert(close_to(s.mean, 46.0 / 5, tight));
    cr_assert(close_to(s.min, 1, tight) && close_to(s.max, 30, tight));
    s = cube_span_by_unit(&c, 0, NULL);
    cr_assert(s.n == 2);
    cr_assert(close_to(s.mean, 11, tight), "the tasks' means are 2 and 20");
    cr_assert(close_to(s.sd, sqrt(162), tight), "ddof 1 of 2 and 20");
}

Test(span, holds_an_axis_at_an_index)
{
    AUTO(arena) strings = {0};
    AUTO(axes) axes = {0};
    AUTO(cube) c = {0};
    size_t at[N_AXES] = {0};
    struct span s;

    fill(&c, &axes, &strings);
    at[AXIS_LAYER] = 1;
    s = cube_span_by_unit(&c, AXIS_BIT(AXIS_LAYER), at);
    cr_assert(s.n == 1 && isnan(s.sd) && close_to(s.mean, 2, tight));
    at[AXIS_TASK] = 1;
    s = cube_span(&c, AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_TASK), at);
    cr_assert(s.n == 0 && isnan(s.mean) && isnan(s.min));
    s = cube_span(&c, AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_HEAD), at);
    cr_assert(s.n == 2 && close_to(s.mean, 20, tight), "an axis that the cube has not is ignored");
}
