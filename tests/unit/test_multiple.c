#include "core/stats/multiple.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* One product and one comparison each. */
static const struct tol tight = {0, 1e-15};
static const double p[6] = {0.01, 0.04, 0.03, NAN, 0.005, 0.6};

/* By hand: 5 x 0.005, 4 x 0.01, 3 x 0.03, max(2 x 0.04, 0.09), 0.6. */
Test(multiple, holm_steps_down)
{
    static const double want[6] = {0.04, 0.09, 0.09, NAN, 0.025, 0.6};
    double got[6];
    size_t i;

    cr_assert(multiple_holm(p, 6, got, NULL) == OK);
    for (i = 0; i < 6; i++)
        cr_assert(close_to(got[i], want[i], tight), "%zu: %g", i, got[i]);
}

/* scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.005, 0.6]) */
Test(multiple, benjamini_hochberg_agrees_with_scipy)
{
    static const double want[6] = {0.025, 0.05, 0.05, NAN, 0.025, 0.6};
    double got[6] = {0.01, 0.04, 0.03, NAN, 0.005, 0.6};
    size_t i;

    cr_assert(multiple_bh(got, 6, got, NULL) == OK, "in place");
    for (i = 0; i < 6; i++)
        cr_assert(close_to(got[i], want[i], tight), "%zu: %g", i, got[i]);
}

Test(multiple, takes_none_and_only_missing)
{
    double one[1] = {NAN};

    cr_assert(multiple_holm(NULL, 0, NULL, NULL) == OK);
    cr_assert(multiple_bh(one, 1, one, NULL) == OK);
    cr_assert(isnan(one[0]));
}
