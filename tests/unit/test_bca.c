#include "core/stats/bca.h"
#include "kernels/cpu_isa.h"
#include "tests/support/close.h"
#include "tests/support/must.h"

#include <math.h>
#include <string.h>

static struct error err;

enum { MANY = 200000 };

static struct interval of(const double *x, size_t n, size_t n_resamples)
{
    const size_t column = 0;
    struct interval out;

    MUST(bca_intervals(x, n, 1, &column, 1, 0, n_resamples, 0.05, &out, &err));
    return out;
}

/* scipy.stats.bootstrap((x,), numpy.mean, method='BCa', confidence_level=0.9, n_resamples=500000), SciPy 1.16. An end
 * is a quantile of B means: sqrt(0.05 0.95 / B) / 0.103 = 0.005 standard errors for B = 200,000, the bias correction 2
 * x 0.0028 more; four times that, with SciPy's own 0.005, is 0.04. `se`: sd / sqrt(n). Means of whole numbers are steps
 * of 1/n. */
Test(bca, agrees_with_scipy)
{
    static const struct {
        double x[24];
        size_t n;
        double lo, hi, se;
    } rows[] = {{{.02, .35, .01, 1.2, .4, .08, .5, 2.9, .11, .03, .7, .22, .05, .9, .3, .15, 4.1, .06, .2, .45},
                 20,
                 0.35849999999999993,
                 1.1945,
                 0.23406732612198294},
                {{-.11, .04, -.02, -.2, .01, -.35, -.07, -.15, .09, -.04, -.3, -.12},
                 12,
                 -0.16833333333333333,
                 -0.04666666666666667,
                 0.03835309108741558},
                {{0, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0},
                 24,
                 -0.3333333333333333,
                 0.0,
                 0.09829463743659811}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct interval got = of(rows[i].x, rows[i].n, MANY);
        struct tol within = {0.04 * rows[i].se, 0};

        cr_assert(close_to(got.lo, rows[i].lo, within) && close_to(got.hi, rows[i].hi, within), "%zu: %.6f %.6f", i,
                  got.lo, got.hi);
    }
}

Test(bca, degenerate_samples_are_defined)
{
    static const double equal[5] = {.3, .3, .3, .3, .3}, two[2] = {1, 2}, none[4] = {NAN, NAN, NAN, INFINITY};
    static const double gaps[6] = {NAN, .3, .3, NAN, .3, NAN}, lone[6] = {1, NAN, 2, NAN, NAN, NAN};
    struct interval got = of(equal, 5, BCA_RESAMPLES);

    cr_assert(close_to(got.lo, .3, (struct tol){0, 0}) && close_to(got.hi, .3, (struct tol){0, 0}));
    got = of(gaps, 6, BCA_RESAMPLES);
    cr_assert(close_to(got.lo, .3, (struct tol){0, 0}) && close_to(got.hi, .3, (struct tol){0, 0}));
    got = of(two, 2, BCA_RESAMPLES);
    cr_assert(isnan(got.lo) && isnan(got.hi), "two pairs");
    got = of(none, 4, BCA_RESAMPLES);
    cr_assert(isnan(got.lo) && isnan(got.hi), "no pair");
    got = of(lone, 6, BCA_RESAMPLES);
    cr_assert(isnan(got.lo) && isnan(got.hi), "two pairs among gaps");
    got = of(equal, 0, BCA_RESAMPLES);
    cr_assert(isnan(got.lo) && isnan(got.hi), "no task");
}

/* One resample lies on one side of the mean: no bias correction is finite. */
Test(bca, an_infinite_correction_gives_no_interval)
{
    static const double x[5] = {1, 2, 4, 8, 16};
    struct interval got = of(x, 5, 1);

    cr_assert(isnan(got.lo) && isnan(got.hi), "%g %g", got.lo, got.hi);
}

/* Huge and tiny numbers keep their interval to scale. */
Test(bca, follows_the_scale)
{
    static const double x[8] = {1, 2, 4, 8, 16, 3, 5, 7};
    struct interval one = of(x, 8, BCA_RESAMPLES), got;
    double scaled[8];
    size_t i;

    for (i = 0; i < 8; i++)
        scaled[i] = ldexp(x[i], -300);
    got = of(scaled, 8, BCA_RESAMPLES);
    cr_assert(close_to(ldexp(got.lo, 300), one.lo, (struct tol){0, 1e-12}), "%g", got.lo);
    cr_assert(close_to(ldexp(got.hi, 300), one.hi, (struct tol){0, 1e-12}), "%g", got.hi);
}

/* A column's interval hangs neither on its neighbours nor on the number of threads. */
Test(bca, same_bits_for_any_threads_and_neighbours)
{
    enum { TASKS = 30, CELLS = 150 };
    double diff[TASKS * CELLS];
    size_t column[CELLS], i, lone;
    struct interval one[CELLS], two[CELLS], single;

    for (i = 0; i < TASKS * CELLS; i++)
        diff[i] = (double)(i * 7919 % 1009) / 1009 - 0.3;
    diff[3 * CELLS + 140] = NAN;
    for (i = 0; i < CELLS; i++)
        column[i] = i;
    cpu_set_threads(1);
    MUST(bca_intervals(diff, TASKS, CELLS, column, CELLS, 5, BCA_RESAMPLES, 0.05, one, &err));
    cpu_set_threads(3);
    MUST(bca_intervals(diff, TASKS, CELLS, column, CELLS, 5, BCA_RESAMPLES, 0.05, two, &err));
    cpu_set_threads(0);
    cr_assert(memcmp(one, two, sizeof one) == 0);
    for (lone = 0; lone < CELLS; lone += 35) {
        MUST(bca_intervals(diff, TASKS, CELLS, &column[lone], 1, 5, BCA_RESAMPLES, 0.05, &single, &err));
        cr_assert(memcmp(&single, &one[lone], sizeof single) == 0, "%zu", lone);
    }
}
