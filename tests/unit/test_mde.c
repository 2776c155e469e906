#include "core/stats/mde.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* The sums have at most 100 terms, the quantile's slope turns their eps into at most 1e-9 of the value in the tail. */
static const struct tol tail = {0, 1e-9};

/* scipy.stats.t.ppf(p, df) */
Test(mde, quantiles_of_t_agree_with_scipy)
{
    static const struct {
        size_t df;
        double p, want;
    } rows[] = {
        {1, 0.975, 12.706204736174694},   {1, 0.0001, -3183.0987571181513}, {2, 0.95, 2.9199855803537242},
        {3, 0.8, 0.9784723123633042},     {3, 0.0001, -22.203742273204178}, {7, 0.975, 2.364624251592784},
        {23, 0.8, 0.8575295536880356},    {23, 0.0001, -4.415204712970388}, {150, 0.95, 1.6550755001871749},
        {199, 0.975, 1.9719565442517533}, {200, 0.975, 1.9718962236339088}, {500, 0.0001, -3.7467788990577553},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = mde_t_quantile(rows[i].p, rows[i].df);

        cr_assert(close_to(got, rows[i].want, tail), "df %zu p %g: %.12g", rows[i].df, rows[i].p, got);
    }
    cr_assert(isnan(mde_t_quantile(0, 5)) && isnan(mde_t_quantile(NAN, 5)) && isnan(mde_t_quantile(0.5, 0)));
}

/* (t.ppf(.975, 23) + t.ppf(.8, 23)) * 0.2 / sqrt(24); the smallest n at which that is 0.05 or less */
Test(mde, detectable_effect_and_pairs_are_inverse)
{
    cr_assert(close_to(mde_paired(0.2, 24, 0.05, 0.8), 0.11946109073240166, tail));
    cr_assert(eq(sz, mde_pairs_for(0.2, 0.05, 0.05, 0.8), 128));
    cr_assert(mde_paired(0.2, 128, 0.05, 0.8) <= 0.05 && mde_paired(0.2, 127, 0.05, 0.8) > 0.05);
}

Test(mde, says_not_known_where_nothing_is)
{
    cr_assert(isnan(mde_paired(0.2, 1, 0.05, 0.8)) && isnan(mde_paired(NAN, 9, 0.05, 0.8)));
    cr_assert(eq(sz, mde_pairs_for(1, 0, 0.05, 0.8), 0));
    cr_assert(eq(sz, mde_pairs_for(1, 1e-9, 0.05, 0.8), 0), "more than the largest number looked at");
    cr_assert(eq(sz, mde_pairs_for(NAN, 1, 0.05, 0.8), 0));
    cr_assert(eq(sz, mde_pairs_for(0, 0.1, 0.05, 0.8), 2));
}
