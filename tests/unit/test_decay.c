#include "core/base/scope.h"
#include "core/metrics/compute.h"
#include "core/metrics/decay.h"
#include "core/model/run.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <math.h>

static struct error err;
static const double turns[6] = {1, 2, 3, 4, 5, 6};

/* numpy.polyfit(turns, values, 1)[0]; a few roundings of numbers near 1: 1e-14. */
Test(decay, slope_agrees_with_numpy)
{
    static const double values[6] = {0.9, 0.85, 0.6, 0.7, 0.4, 0.45}, gaps[3] = {1, 4, 6};
    static const struct tol tight = {1e-14, 0};

    cr_assert(close_to(decay_slope(turns, values, 6), -0.09999999999999996, tight), "%.17g",
              decay_slope(turns, values, 6));
    cr_assert(close_to(decay_slope(gaps, values, 3), -0.05657894736842104, tight), "%.17g",
              decay_slope(gaps, values, 3));
    cr_assert(close_to(decay_slope(turns, values, 2), -0.05, tight));
    cr_assert(isnan(decay_slope(turns, values, 1)) && isnan(decay_slope(turns, values, 0)));
}

/* Of exact exponentials the half-life is known; scipy.optimize.curve_fit has that of the noisy one. A minimum of
 * squares is flat: its place is known to the square root of their rounding, 1e-7. */
Test(decay, half_life_of_exponentials_that_level_off)
{
    static const double tau[] = {0.5, 1.4426950408889634, 3, 12};
    static const double noisy[6] = {0.95, 0.62, 0.48, 0.33, 0.34, 0.27};
    size_t i, k;

    for (i = 0; i < sizeof tau / sizeof *tau; i++) {
        double values[6], got;

        for (k = 0; k < 6; k++)
            values[k] = 0.2 + 0.7 * exp(-turns[k] / tau[i]);
        got = decay_half_life(turns, values, 6);
        cr_assert(close_to(got, tau[i] * log(2), (struct tol){0, 1e-5}), "tau %g: %.9g", tau[i], got);
    }
    cr_assert(close_to(decay_half_life(turns, noisy, 6), 1.1457266355777562, (struct tol){0, 1e-5}), "%.9g",
              decay_half_life(turns, noisy, 6));
}

Test(decay, half_life_is_missing_where_nothing_decays)
{
    static const double rising[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, flat[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    static const double line[6] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4}, drop[6] = {1, 0, 0, 0, 0, 0};

    cr_assert(isnan(decay_half_life(turns, rising, 6)) && isnan(decay_half_life(turns, flat, 6)));
    cr_assert(isnan(decay_half_life(turns, line, 6)), "a line has no time scale");
    cr_assert(isnan(decay_half_life(turns, drop, 6)), "one step has none either");
    cr_assert(isnan(decay_half_life(turns, line, 3)), "three turns fit anything");
}

/* One number a conversation; one turn gives none. */
Test(decay, conversations_have_their_own_numbers)
{
    static const double values[3][4] = {{1, 0.5, 0.25, 0.125}, {0.5, NAN, 0.7, NAN}, {0.9, NAN, NAN, NAN}};
    const struct cube *slope, *half_life;
    struct cube *from;
    AUTO(run) r = {0};
    size_t i;

    fake_run(&r, 3, 4, 0, 0);
    from = fake_cube(&r, "intent.alignment", 0);
    for (i = 0; i < 12; i++)
        from->values[i] = values[i / 4][i % 4];
    MUST(compute_turns(&r, &err));
    slope = run_cube(&r, "intent.alignment_slope");
    half_life = run_cube(&r, "intent.alignment_half_life");
    cr_assert(slope && half_life && cube_len(slope) == 3);
    cr_assert(close_to(slope->values[1], 0.1, (struct tol){1e-14, 0}) && isnan(slope->values[2]));
    cr_assert(close_to(half_life->values[0], 1, (struct tol){0, 1e-5}) && isnan(half_life->values[1]));
}
