#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/interval.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

static struct interval limits(const double *diff, size_t n, double alpha)
{
    AUTO(signflip) s = {0};
    struct interval ret = {0};
    uint64_t stream[64];
    const size_t column = 0;
    size_t i;

    for (i = 0; i < n; i++)
        stream[i] = i + 1;
    cr_assert(signflip_init(&s, stream, n, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    cr_assert(interval_signflip(&s, diff, 1, &column, 1, alpha, &ret, NULL) == OK);
    return ret;
}

/* Found in NumPy by halving on the one-sided p of all 256 (32) flips, to 1e-12. */
Test(interval, inverts_the_test)
{
    static const double d[8] = {0.31, -0.12, 0.45, 0.08, 0.27, -0.05, 0.19, 0.33};
    static const struct {
        size_t n;
        double alpha, lo, hi;
    } rows[] = {{8, 0.05, 0.14 / 3, 0.32}, {8, 0.025, 0.02 / 3, 0.35}, {5, 0.05, -0.12, 0.45}, {4, 0.05, NAN, NAN}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct interval got = limits(d, rows[i].n, rows[i].alpha);

        cr_assert(close_to(got.lo, rows[i].lo, (struct tol){1e-12, 0}), "row %zu: %.12g", i, got.lo);
        cr_assert(close_to(got.hi, rows[i].hi, (struct tol){1e-12, 0}), "row %zu: %.12g", i, got.hi);
    }
}

/* All 2^20 subset means in NumPy: (-0.06536, 0.11580). The limit's deviation from 10,000 drawn flips is about
 * sqrt(0.05 x 0.95 / 20000) = 0.0015 in probability, over a density of about 1.9 there: 0.0008; five of them. */
Test(interval, drawn_flips_come_near_all)
{
    static const double d[20] = {0.12,  0.21,  0.038, -0.147, -0.016, -0.177, 0.138,  0.522,  -0.028, -0.066,
                                 0.267, 0.227, 0.152, -0.159, 0.111,  0.329,  -0.283, -0.017, -0.45,  -0.267};
    struct interval got = limits(d, 20, 0.05);

    cr_assert(close_to(got.lo, -0.06536363636363637, (struct tol){0.004, 0}), "%g", got.lo);
    cr_assert(close_to(got.hi, 0.11580000000000001, (struct tol){0.004, 0}), "%g", got.hi);
}

Test(interval, agrees_with_p_on_which_means_are_rejected)
{
    double d[9] = {0.31, -0.12, 0.45, 0.08, 0.27, -0.05, 0.19, 0.33, -0.2};
    struct interval got = limits(d, 9, 0.05);
    static const double steps[] = {-0.001, 0.001};
    AUTO(signflip) s = {0};
    uint64_t stream[9] = {0};
    size_t i, k;

    cr_assert(signflip_init(&s, stream, 9, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    for (k = 0; k < 2; k++) {
        struct signflip_cell c;
        double moved[9];

        for (i = 0; i < 9; i++)
            moved[i] = d[i] - (got.lo + steps[k]);
        cr_assert(signflip_test(&s, moved, 1, &c, NULL) == OK);
        cr_assert(eq(int, c.p > 0.1, k == 1), "p is %g at step %g", c.p, steps[k]);
    }
}

Test(interval, of_equal_differences_is_that_point)
{
    static const double same[3] = {0.25, 0.25, 0.25}, gap[4] = {0, NAN, 0, NAN}, one[1] = {1};
    struct interval got = limits(same, 3, 0.05);

    cr_assert(close_to(got.lo, 0.25, (struct tol){0, 0}) && close_to(got.hi, 0.25, (struct tol){0, 0}));
    got = limits(gap, 4, 0.05);
    cr_assert(close_to(got.lo, 0, (struct tol){0, 0}) && close_to(got.hi, 0, (struct tol){0, 0}));
    got = limits(one, 1, 0.05);
    cr_assert(isnan(got.lo) && isnan(got.hi));
}

/* Columns side by side have the intervals that each has alone, with gaps and with numbers that drown others. */
Test(interval, columns_do_not_disturb_each_other)
{
    enum { TASKS = 21, CELLS = 11 };
    double diff[TASKS * CELLS], one[TASKS];
    struct interval all[CELLS], alone;
    size_t column[CELLS], i, k;
    AUTO(signflip) s = {0};
    uint64_t stream[TASKS];

    for (i = 0; i < TASKS; i++)
        stream[i] = i + 1;
    for (k = 0; k < CELLS; k++)
        column[k] = k;
    for (i = 0; i < TASKS * CELLS; i++)
        diff[i] = (double)(i * 7919 % 1009) / 1009 - 0.3;
    diff[4 * CELLS + 2] = NAN;
    diff[5 * CELLS + 3] = 1e18;
    for (i = 0; i < TASKS; i++)
        diff[i * CELLS + 5] = 0.5;
    cr_assert(signflip_init(&s, stream, TASKS, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    cr_assert(interval_signflip(&s, diff, CELLS, column, CELLS, 0.05, all, NULL) == OK);
    for (k = 0; k < CELLS; k++) {
        for (i = 0; i < TASKS; i++)
            one[i] = diff[i * CELLS + k];
        alone = limits(one, TASKS, 0.05);
        cr_assert(close_to(all[k].lo, alone.lo, (struct tol){0, 0}), "%zu: %g", k, all[k].lo);
        cr_assert(close_to(all[k].hi, alone.hi, (struct tol){0, 0}), "%zu: %g", k, all[k].hi);
    }
    cr_assert(close_to(all[5].lo, 0.5, (struct tol){0, 0}));
}
