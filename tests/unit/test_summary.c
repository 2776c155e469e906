#include "core/stats/summary.h"
#include "kernels/select.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* Five values, each step of the sums rounds at most by eps/2: 1e-14 is generous. */
static const struct tol tight = {1e-14, 1e-14};

/* np.mean, np.std(ddof=1), np.quantile of [3.5, 1, 2, 8, -4] */
Test(summary, agrees_with_numpy)
{
    double x[] = {3.5, 1, 2, 8, -4};
    struct summary s;

    summary_of(&s, x, 5);
    cr_assert(eq(sz, s.n, 5));
    cr_assert(close_to(s.mean, 2.1, tight) && close_to(s.sd, 4.33589667773576, tight));
    cr_assert(close_to(s.min, -4, tight) && close_to(s.max, 8, tight));
    summary_sort(x, 5);
    cr_assert(close_to(summary_quantile(x, 5, 0), -4, tight) && close_to(summary_quantile(x, 5, 0.1), -2, tight));
    cr_assert(close_to(summary_quantile(x, 5, 0.95), 7.1, tight) && close_to(summary_quantile(x, 5, 1), 8, tight));
}

Test(summary, leaves_out_what_is_not_finite)
{
    double x[] = {NAN, 1, INFINITY, 3, -INFINITY};
    struct summary s;

    summary_of(&s, x, 5);
    cr_assert(eq(sz, s.n, 2));
    cr_assert(close_to(s.mean, 2, tight) && close_to(s.sd, sqrt(2), tight));
    summary_of(&s, x, 1);
    cr_assert(s.n == 0 && isnan(s.mean) && isnan(s.sd) && isnan(s.min) && isnan(summary_quantile(x, 0, 0.5)));
}

/* Plainly summed, the two ones are lost: 0. */
Test(summary, keeps_what_rounding_would_lose)
{
    struct summary_sum s = {0};

    summary_add(&s, 1);
    summary_add(&s, 1e100);
    summary_add(&s, 1);
    summary_add(&s, -1e100);
    cr_assert(close_to(summary_total(&s), 2, tight));
}

Test(summary, selects_what_sorting_would_put_there)
{
    double x[97], sorted[97], copy[97];
    size_t i, k;

    for (i = 0; i < 97; i++) /* many ties, infinities at both ends */
        x[i] = sorted[i] = i == 13 ? INFINITY : (i == 60 ? -INFINITY : (double)(i * 31 % 23));
    summary_sort(sorted, 97);
    for (k = 0; k < 97; k++) {
        for (i = 0; i < 97; i++)
            copy[i] = x[i];
        cr_assert(close_to(select_nth(copy, 97, k), sorted[k], tight), "rank %zu", k);
    }
    for (i = 0; i < 97; i++)
        copy[i] = 4;
    cr_assert(close_to(select_nth(copy, 97, 96), 4, tight));
}

/* Sorted, in steps, mostly ties, and spoilt for the guess: each end as sorting has it. */
Test(summary, both_ends_are_those_of_sorting)
{
    enum { N = 5000 };
    static const size_t ranks[] = {0, 3, 250, 2499, 4999};
    static double x[N], sorted[N];
    size_t kind, i, k;

    for (kind = 0; kind < 4; kind++)
        for (k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            double low, high;

            for (i = 0; i < N; i++) {
                double random = (double)(i * 7919 % 5003);

                x[i] = kind == 0   ? (double)i
                       : kind == 1 ? random
                       : kind == 2 ? floor(random / 2000)
                       : i % 9     ? -random
                                   : 9;
                sorted[i] = x[i];
            }
            summary_sort(sorted, N);
            summary_select_ends(x, N, ranks[k], &low, &high);
            cr_assert(close_to(low, sorted[ranks[k]], (struct tol){0, 0}), "kind %zu rank %zu", kind, ranks[k]);
            cr_assert(close_to(high, sorted[N - 1 - ranks[k]], (struct tol){0, 0}), "kind %zu rank %zu", kind,
                      ranks[k]);
        }
}
