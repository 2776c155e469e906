#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/signflip.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* p is a ratio of two counts: exact but for the division. */
static const struct tol ratio = {0, 1e-15};

static void streams(uint64_t *stream, size_t n)
{
    char name[32];
    size_t i;

    for (i = 0; i < n; i++) {
        snprintf(name, sizeof name, "task-%zu", i);
        stream[i] = rng_stream(name);
    }
}

static void test_all(const double *diff, size_t n_tasks, size_t n_cells, struct signflip_cell *ret)
{
    AUTO(signflip) s = {0};
    uint64_t *stream = calloc(n_tasks + 1, sizeof *stream);

    streams(stream, n_tasks);
    cr_assert(signflip_init(&s, stream, n_tasks, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    cr_assert(signflip_test(&s, diff, n_cells, ret, NULL) == OK);
    free(stream);
}

/* scipy.stats.permutation_test((d,), np.mean, permutation_type='samples', n_resamples=np.inf).pvalue, ttest_1samp */
Test(signflip, equals_exact_scipy)
{
    static const double d[8] = {0.31, -0.12, 0.45, 0.08, 0.27, -0.05, 0.19, 0.33};
    struct signflip_cell c;

    test_all(d, 8, 1, &c);
    cr_assert(eq(sz, c.n, 8));
    cr_assert(close_to(c.p, 0.046875, ratio) && close_to(c.p_adj, 0.046875, ratio), "%g", c.p);
    /* eight rounded steps */
    cr_assert(close_to(c.t, 2.6121453744204737, (struct tol){0, 1e-13}));
    cr_assert(close_to(c.mean, 0.1825, (struct tol){0, 1e-15}));
}

/* Exact with Python's fractions: 24 of 256 flips. Thirds do not add up exactly in binary: ties must count as ties. */
Test(signflip, near_ties_are_ties)
{
    static const int thirds[8] = {1, 2, -1, 1, 1, 2, 0, 1};
    struct signflip_cell c;
    double d[8];
    size_t i;

    for (i = 0; i < 8; i++)
        d[i] = thirds[i] / 3.0;
    test_all(d, 8, 1, &c);
    cr_assert(close_to(c.p, 24.0 / 256, ratio), "%g", c.p);
}

/* Step-down on |t| by enumerating all 128 flips in NumPy. */
Test(signflip, steps_down_as_westfall_and_young)
{
    static const double d[7 * 4] = {0.35, 1.32, 1.83,  -0.1, 0.91,  0.95,  0.96, 1.78, 0.36, 0.79,
                                    1.53, 1.75, -0.74, 0.34, 1.02,  1.8,   0.04, 0.21, 0.72, 0.94,
                                    0.01, 0.22, 2.79,  2.21, -2.71, -1.39, 1.33, 0.78};
    static const double p[4] = {100, 44, 2, 4}, p_adj[4] = {100, 68, 2, 4};
    struct signflip_cell c[4];
    size_t k;

    test_all(d, 7, 4, c);
    for (k = 0; k < 4; k++) {
        cr_assert(close_to(c[k].p, p[k] / 128, ratio), "cell %zu: %g", k, c[k].p * 128);
        cr_assert(close_to(c[k].p_adj, p_adj[k] / 128, ratio), "cell %zu: %g", k, c[k].p_adj * 128);
    }
}

Test(signflip, equal_differences_are_a_defined_case)
{
    /* cells: all 0.1; all 0; two pairs; one pair; none */
    double d[6 * 5];
    struct signflip_cell c[5];
    size_t i;

    for (i = 0; i < 6; i++) {
        d[i * 5] = 0.1;
        d[i * 5 + 1] = 0;
        d[i * 5 + 2] = i < 2 ? -3 : NAN;
        d[i * 5 + 3] = i == 4 ? 1 : INFINITY;
        d[i * 5 + 4] = NAN;
    }
    test_all(d, 6, 5, c);
    cr_assert(close_to(c[0].p, 2.0 / 64, ratio), "%g", c[0].p);
    cr_assert(isinf(c[0].t) && c[0].t > 0 && c[0].sd < 1e-300);
    cr_assert(close_to(c[1].p, 1, ratio) && close_to(c[1].p_adj, 1, ratio) && close_to(c[1].t, 0, ratio));
    cr_assert(close_to(c[2].p, 0.5, ratio) && c[2].n == 2 && isinf(c[2].t) && c[2].t < 0);
    cr_assert(close_to(c[3].p, 1, ratio) && close_to(c[3].p_adj, 1, ratio) && c[3].n == 1);
    cr_assert(isnan(c[4].p) && isnan(c[4].mean) && c[4].n == 0);
}

Test(signflip, a_cell_with_few_pairs_does_not_hide_the_others)
{
    double d[12 * 2];
    struct signflip_cell c[2];
    size_t i;

    for (i = 0; i < 12; i++) {
        d[i * 2] = 1 + 0.01 * (double)i;
        d[i * 2 + 1] = i < 3 ? 1 : NAN;
    }
    test_all(d, 12, 2, c);
    cr_assert(close_to(c[0].p_adj, 2.0 / 4096, ratio), "%g", c[0].p_adj);
    cr_assert(close_to(c[1].p, 0.25, ratio));
}

Test(signflip, size_of_the_numbers_does_not_matter)
{
    static const double scales[] = {1e-300, 1e-3, 1, 1e150, 1e300};
    static const double d[8] = {0.31, -0.12, 0.45, 0.08, 0.27, -0.05, 0.19, 0.33};
    size_t i, k;

    for (k = 0; k < sizeof scales / sizeof *scales; k++) {
        struct signflip_cell c;
        double x[8];

        for (i = 0; i < 8; i++)
            x[i] = d[i] * scales[k];
        test_all(x, 8, 1, &c);
        cr_assert(close_to(c.p, 0.046875, ratio), "%g: %g", scales[k], c.p);
    }
}

/* 2^20 flips enumerated in NumPy give 0.63630; 10,000 drawn ones have a deviation of sqrt(p(1-p)/B) = 0.0048: 4 of
 * them. */
Test(signflip, drawn_flips_agree_with_all_and_do_not_follow_the_order)
{
    static const double d[20] = {0.12,  0.21,  0.038, -0.147, -0.016, -0.177, 0.138,  0.522,  -0.028, -0.066,
                                 0.267, 0.227, 0.152, -0.159, 0.111,  0.329,  -0.283, -0.017, -0.45,  -0.267};
    AUTO(signflip) s = {0};
    AUTO(signflip) turned = {0};
    struct signflip_cell a, b;
    uint64_t stream[20], back[20];
    double reversed[20];
    size_t i;

    streams(stream, 20);
    for (i = 0; i < 20; i++) {
        back[i] = stream[19 - i];
        reversed[i] = d[19 - i];
    }
    cr_assert(signflip_init(&s, stream, 20, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    cr_assert(signflip_init(&turned, back, 20, 0, SIGNFLIP_RESAMPLES, NULL) == OK);
    cr_assert(not(s.is_enumerated));
    cr_assert(signflip_test(&s, d, 1, &a, NULL) == OK && signflip_test(&turned, reversed, 1, &b, NULL) == OK);
    cr_assert(close_to(a.p, 0.6362953186035156, (struct tol){0.0193, 0}), "%g", a.p);
    cr_assert(close_to(b.p, a.p, ratio));
}

Test(signflip, many_cells_go_in_blocks)
{
    enum { TASKS = 9, CELLS = 101 };
    static double d[TASKS * CELLS];
    static struct signflip_cell all[CELLS];
    size_t i, k;

    for (i = 0; i < TASKS; i++)
        for (k = 0; k < CELLS; k++)
            d[i * CELLS + k] = (double)((i * 37 + k * 11 + i * k * 7) % 19) - 8;
    test_all(d, TASKS, CELLS, all);
    for (k = 0; k < CELLS; k++) {
        struct signflip_cell one;
        double column[TASKS];

        for (i = 0; i < TASKS; i++)
            column[i] = d[i * CELLS + k];
        test_all(column, TASKS, 1, &one);
        cr_assert(close_to(all[k].p, one.p, ratio), "cell %zu", k);
        cr_assert(all[k].p_adj >= all[k].p && all[k].p_adj <= 1);
    }
}

Test(signflip, knows_the_smallest_p)
{
    cr_assert(close_to(signflip_p_min(1, 10000), 1, ratio) && close_to(signflip_p_min(8, 10000), 0.0078125, ratio));
    cr_assert(close_to(signflip_p_min(14, 10000), 1.0 / 8192, ratio));
    cr_assert(close_to(signflip_p_min(5000, 10000), 1.0 / 10001, ratio));
    cr_assert(close_to(signflip_p_min(0, 10000), 1, ratio));
    cr_assert(eq(sz, signflip_pairs_for(0.05, 10000), 6));
    cr_assert(eq(sz, signflip_pairs_for(1e-5, 10000), 0));
}

Test(signflip, takes_no_task_and_no_cell)
{
    struct signflip_cell c[2];

    test_all(NULL, 0, 2, c);
    cr_assert(isnan(c[0].p) && c[1].n == 0);
    test_all(NULL, 3, 0, c);
}
