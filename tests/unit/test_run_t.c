#include "core/stats/run_t.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* Quantiles by bisection to the last bits, p by a finite sum whose error is a few eps: 1e-10 leaves room. */
static const struct tol tight = {1e-12, 1e-10};

static const double base[5] = {101.2, 98.7, 103.4, 99.9, 100.8};

/* NumPy and scipy.stats.t: sd(ddof=1), delta / (sd sqrt(1 + 1/5)), 2 sf(|t|, 4), ppf(0.95, 4), ppf(0.975) + ppf(0.8) */
Test(run_t, one_new_run_is_the_prediction_test)
{
    static const double cand = 112.5;
    struct run_t r;

    cr_assert(run_t_test(&r, base, 5, &cand, 1, 0.05, 0.8));
    cr_assert(r.n_base == 5 && r.n_cand == 1 && r.df == 4);
    cr_assert(close_to(r.sd, 1.7421251390184351, tight) && close_to(r.t, 6.13078224528032, tight));
    cr_assert(close_to(r.p, 0.0035870048543860515, tight), "%.15g", r.p);
    cr_assert(close_to(r.lo, 7.631578320332043, tight) && close_to(r.hi, 15.768421679667934, tight));
    cr_assert(close_to(r.mde, 7.094313832129441, tight));
}

/* scipy.stats.ttest_ind(cand, base) */
Test(run_t, several_new_runs_are_the_two_sample_test)
{
    static const double cand[3] = {112.5, 101.0, 104.4};
    struct run_t r;

    cr_assert(run_t_test(&r, base, 5, cand, 3, 0.05, 0.8));
    cr_assert(close_to(r.t, 1.9143487472076592, tight) && close_to(r.p, 0.10407846356492478, tight), "%.15g", r.p);
}

/* scipy: 2 sf(2.1e7, 4) is 3e-29, which 1 less a distribution function cannot tell from 0. */
Test(run_t, is_never_certain)
{
    static const double cand[2] = {1e9, 1e9 + 1};
    struct run_t r;

    cr_assert(run_t_test(&r, base, 5, cand, 2, 0.05, 0.8));
    cr_assert(r.p > 0 && r.p <= 1e-12, "%g", r.p);
}

Test(run_t, without_noise_there_is_no_test)
{
    static const double same[3] = {0.1, 0.1, 0.1}, cand = 0.2, none = NAN;
    struct run_t r;

    cr_assert(run_t_test(&r, same, 3, &cand, 1, 0.05, 0.8) == false);
    cr_assert(close_to(r.delta, 0.1, tight) && isnan(r.p) && isnan(r.mde));
    cr_assert(run_t_test(&r, base, 1, &cand, 1, 0.05, 0.8) == false && r.n_base == 1 && isfinite(r.delta));
    cr_assert(run_t_test(&r, base, 5, &none, 1, 0.05, 0.8) == false && r.n_cand == 0 && isnan(r.delta));
    cr_assert(run_t_test(&r, base, 0, &cand, 1, 0.05, 0.8) == false && isnan(r.delta));
}

/* By the formula in NumPy: sd 2, effect 6.5, the first k with (t[.975, k-1] + t[.8, k-1]) 2 sqrt(1 + 1/k) <= 6.5; 1,000
 * runs against one detect 5.611 */
Test(run_t, says_how_many_runs_would_do)
{
    cr_assert(run_t_runs_for(2, 6.5, 0.05, 0.8) == 3, "%zu", run_t_runs_for(2, 6.5, 0.05, 0.8));
    cr_assert(run_t_runs_for(2, 2, 0.05, 0.8) == 17 && run_t_runs_for(2, 1, 0.05, 0.8) == 64);
    cr_assert(run_t_runs_for(2, 0.25, 0.05, 0.8) == 0, "a thousand detect 0.2507");
    cr_assert(run_t_runs_for(2, 0, 0.05, 0.8) == 0 && run_t_runs_for(NAN, 1, 0.05, 0.8) == 0);
}
