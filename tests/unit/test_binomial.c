#include "core/stats/binomial.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* exp of a difference of log gammas of up to 1.3e7, each off by half a unit in its last place: 1.3e7 eps = 3e-9, twice.
 */
static const struct tol close = {1e-12, 6e-9};

/* scipy.stats.binom.cdf */
Test(binomial, cdf_equals_scipy)
{
    static const struct {
        size_t k, n;
        double p, want;
    } rows[] = {{3, 20, 0.1, 0.8670466765656649},
                {0, 459, 0.01, 0.009920974201040622},
                {50, 100, 0.5, 0.5397946186935889},
                {70, 100, 0.5, 0.9999839199923521},
                {990, 1000, 0.99, 0.5426994078251104},
                {7, 1000000, 1e-5, 0.22021929541710497},
                {5, 5, 0.3, 1},
                {9, 5, 0.3, 1},
                {0, 5, 0, 1},
                {4, 5, 1, 0}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert(close_to(binomial_cdf(rows[i].k, rows[i].n, rows[i].p), rows[i].want, close), "row %zu: %.15g", i,
                  binomial_cdf(rows[i].k, rows[i].n, rows[i].p));
}

/* scipy.stats.binomtest(k, n).proportion_ci(0.95) */
Test(binomial, interval_equals_scipy)
{
    static const struct {
        size_t k, n;
        double lo, hi;
    } rows[] = {{0, 20, 0, 0.16843347098308548},
                {3, 20, 0.03207093718554477, 0.37892682654529564},
                {20, 20, 0.8315665290169145, 1},
                {57, 2000, 0.021655518443871296, 0.03676886985805067},
                {0, 0, 0, 1}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct binomial_interval ci = binomial_interval(rows[i].k, rows[i].n, 0.95);

        cr_assert(close_to(ci.lo, rows[i].lo, close) && close_to(ci.hi, rows[i].hi, close), "row %zu: %.12g %.12g", i,
                  ci.lo, ci.hi);
    }
}

/* Smallest n with binom.cdf(over, n, 1 - quantile) <= 1 - confidence; the first three are the rule of LoadGen. */
Test(binomial, requests_that_prove_a_tail)
{
    static const struct {
        size_t over;
        double quantile, confidence;
        size_t want;
    } rows[] = {{0, 0.99, 0.99, 459}, {1, 0.99, 0.99, 662}, {2, 0.99, 0.99, 838},   {3, 0.99, 0.99, 1001},
                {0, 0.95, 0.95, 59},  {1, 0.95, 0.99, 130}, {0, 0.999, 0.95, 2995}, {3, 0.999, 0.95, 7752}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert(eq(sz, binomial_n_for(rows[i].over, rows[i].quantile, rows[i].confidence), rows[i].want));
    cr_assert(binomial_n_for(0, 1, 0.99) == 0, "all of all cannot be shown");
}
