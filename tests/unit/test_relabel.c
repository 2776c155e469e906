#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/maxt.h"
#include "core/stats/relabel.h"
#include "tests/support/close.h"
#include "tests/support/must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct error err;

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

static double uniform(uint64_t stream, uint64_t index)
{
    return rng_at(5, stream, index).word[0] / 4294967296.0;
}

/* The difference of each run from the mean of the others; x and diff: n_runs x n_cells of one task. */
static void differences(const double *x, size_t n_runs, size_t n_cells, double *diff)
{
    size_t c, j, k;

    for (c = 0; c < n_runs; c++)
        for (k = 0; k < n_cells; k++) {
            double others = 0;

            for (j = 0; j < n_runs; j++)
                others += j == c ? 0 : x[j * n_cells + k];
            diff[c * n_cells + k] = x[c * n_cells + k] - others / (double)(n_runs - 1);
        }
}

static void test_rows(const double *diff, const size_t *n_options, size_t n_tasks, size_t n_cells,
                      struct signflip_cell *ret)
{
    AUTO(relabel) r = {0};
    uint64_t *stream = calloc(n_tasks + 1, sizeof *stream);

    streams(stream, n_tasks);
    MUST(relabel_init(&r, stream, n_options, n_tasks, 0, SIGNFLIP_RESAMPLES, &err));
    MUST(relabel_test(&r, diff, n_cells, ret, &err));
    free(stream);
}

/* All 4^5 exchanges counted in NumPy: 17 of 1024. */
Test(relabel, equals_all_exchanges_counted)
{
    static const double x[5 * 4] = {0.62, 0.50, 0.47, 0.55, 0.71, 0.66, 0.69, 0.60, 0.35, 0.30,
                                    0.41, 0.28, 0.90, 0.85, 0.80, 0.88, 0.48, 0.40, 0.35, 0.45};
    static const size_t n_options[5] = {4, 4, 4, 4, 4};
    struct signflip_cell c;
    double diff[5 * 4];
    size_t i;

    for (i = 0; i < 5; i++)
        differences(x + i * 4, 4, 1, diff + i * 4);
    test_rows(diff, n_options, 5, 1, &c);
    cr_assert(close_to(c.p, 17.0 / 1024, ratio) && close_to(c.p_adj, c.p, ratio), "%g", c.p * 1024);
    cr_assert(close_to(c.p_min, 1.0 / 1024, ratio) && c.n == 5);
    cr_assert(close_to(c.mean, 0.066, (struct tol){0, 1e-13}), "%g", c.mean);
}

/* Step-down on |sum| over its deviation, all 3^4 exchanges in NumPy. */
Test(relabel, steps_down_over_cells)
{
    static const double x[4 * 9] = {1.5,  1.1,   -0.27, -0.89, -0.45, -0.99, 0.06,  1.34,  -0.49, 0.88,  1.29,  0.36,
                                    0.11, -0.93, -0.03, 0.7,   -1.34, -0.46, -0.4,  -0.49, -1.84, -0.24, -1.27, 0.27,
                                    0.16, -0.19, -2.52, 0.96,  0.75,  0.11,  -1.53, -0.48, -0.98, -0.81, 1.06,  -0.81};
    static const double p[3] = {5, 12, 48}, p_adj[3] = {13, 19, 48};
    static const size_t n_options[4] = {3, 3, 3, 3};
    struct signflip_cell c[3];
    double diff[4 * 9];
    size_t i;

    for (i = 0; i < 4; i++)
        differences(x + i * 9, 3, 3, diff + i * 9);
    test_rows(diff, n_options, 4, 3, c);
    for (i = 0; i < 3; i++)
        cr_assert(close_to(c[i].p, p[i] / 81, ratio) && close_to(c[i].p_adj, p_adj[i] / 81, ratio), "cell %zu: %g %g",
                  i, c[i].p * 81, c[i].p_adj * 81);
}

/* Enumerated and drawn: with one base run it is the sign-flip test to the last bit. */
Test(relabel, one_base_run_is_the_sign_flip_test)
{
    static const size_t n_tasks[] = {1, 2, 5, 13, 14, 40};
    size_t t, i, k;

    for (t = 0; t < sizeof n_tasks / sizeof *n_tasks; t++) {
        enum { CELLS = 70 };
        size_t n = n_tasks[t];
        double *diff = calloc(n * 2 * CELLS, sizeof *diff), *single = calloc(n * CELLS, sizeof *single);
        size_t *n_options = calloc(n, sizeof *n_options);
        uint64_t *stream = calloc(n, sizeof *stream);
        struct signflip_cell got[CELLS], want[CELLS];
        AUTO(signflip) s = {0};

        for (i = 0; i < n; i++) {
            n_options[i] = 2;
            for (k = 0; k < CELLS; k++) {
                double d = uniform(i, k) - 0.4;

                single[i * CELLS + k] = (i + k) % 17 == 3 ? NAN : d;
                diff[2 * i * CELLS + k] = single[i * CELLS + k];
                diff[(2 * i + 1) * CELLS + k] = -single[i * CELLS + k];
            }
        }
        test_rows(diff, n_options, n, CELLS, got);
        streams(stream, n);
        MUST(signflip_init(&s, stream, n, 0, SIGNFLIP_RESAMPLES, &err));
        MUST(signflip_test(&s, single, CELLS, want, &err));
        for (k = 0; k < CELLS; k++) {
            cr_assert(close_to(got[k].p, want[k].p, (struct tol){0, 0}), "%zu tasks, cell %zu", n, k);
            cr_assert(close_to(got[k].p_adj, want[k].p_adj, (struct tol){0, 0}), "%zu tasks, cell %zu", n, k);
            cr_assert(close_to(got[k].p_min, want[k].p_min, ratio) && got[k].n == want[k].n);
        }
        free(diff);
        free(single);
        free(n_options);
        free(stream);
    }
}

/* A base run without a value takes no part: a task of which the candidate alone is left says nothing. */
Test(relabel, missing_values_are_a_defined_case)
{
    /* tasks of 3, 2 and 1 runs; cells: whole, a base value missing, the candidate's missing, nothing */
    static const size_t n_options[3] = {3, 2, 1};
    double diff[6 * 4] = {1, 1, NAN, NAN, -.5, NAN, -.5, NAN, -.5, -1, -.5, NAN,
                          2, 2, 2,   NAN, -2,  -2,  -2,  NAN, 1,   1,  1,   NAN};
    struct signflip_cell c[4];

    test_rows(diff, n_options, 3, 4, c);
    cr_assert(close_to(c[0].p, 1.0 / 6, ratio), "%g", c[0].p);
    cr_assert(close_to(c[1].p, 2.0 / 6, ratio) && close_to(c[1].p_min, 1.0 / 4, ratio), "%g %g", c[1].p, c[1].p_min);
    cr_assert(c[2].n == 2 && isfinite(c[2].p) && c[2].p >= 0.5);
    cr_assert(c[3].n == 0 && isnan(c[3].p) && isnan(c[3].p_adj));
}

/* Uniform draws of three: p of an even null is uniform. 2,000 tests at 0.05, 4 sd of a binomial share = 0.0195. */
Test(relabel, drawn_exchanges_keep_their_level)
{
    enum { RUNS = 3, TASKS = 12, TRIALS = 2000 };
    static const size_t n_options[TASKS] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    double x[RUNS], *diff = calloc((size_t)TASKS * RUNS * TRIALS, sizeof *diff);
    struct signflip_cell *c = calloc(TRIALS, sizeof *c);
    size_t i, k, r, rejected = 0;

    for (i = 0; i < TASKS; i++)
        for (k = 0; k < TRIALS; k++) {
            double one[RUNS];

            for (r = 0; r < RUNS; r++)
                x[r] = pow(uniform(1000 + i * RUNS + r, k), 3); /* skewed */
            differences(x, RUNS, 1, one);
            for (r = 0; r < RUNS; r++)
                diff[(i * RUNS + r) * TRIALS + k] = one[r];
        }
    test_rows(diff, n_options, TASKS, TRIALS, c);
    for (k = 0; k < TRIALS; k++)
        rejected += c[k].p <= 0.05;
    cr_assert(rejected > 61 && rejected < 139, "%zu of %d", rejected, TRIALS);
    free(diff);
    free(c);
}

Test(relabel, order_of_tasks_does_not_matter)
{
    enum { TASKS = 20 };
    static size_t n_options[TASKS];
    uint64_t stream[TASKS], turned[TASKS];
    double diff[TASKS * 3], other[TASKS * 3], x[3];
    struct signflip_cell a, b;
    AUTO(relabel) r = {0};
    AUTO(relabel) s = {0};
    size_t i, k;

    streams(stream, TASKS);
    for (i = 0; i < TASKS; i++) {
        n_options[i] = 3;
        turned[i] = stream[TASKS - 1 - i];
        for (k = 0; k < 3; k++)
            x[k] = uniform(i, k) + (k == 0) * 0.2;
        differences(x, 3, 1, diff + 3 * i);
        differences(x, 3, 1, other + 3 * (TASKS - 1 - i));
    }
    MUST(relabel_init(&r, stream, n_options, TASKS, 7, SIGNFLIP_RESAMPLES, &err));
    MUST(relabel_test(&r, diff, 1, &a, &err));
    MUST(relabel_init(&s, turned, n_options, TASKS, 7, SIGNFLIP_RESAMPLES, &err));
    MUST(relabel_test(&s, other, 1, &b, &err));
    cr_assert(close_to(a.p, b.p, (struct tol){0, 0}), "%g %g", a.p, b.p);
    cr_assert(r.n_draws == SIGNFLIP_RESAMPLES && !r.is_enumerated);
}

Test(relabel, groups_hold_no_more_than_a_table)
{
    static const size_t options[] = {2, 2, 2, 2, 2, 6, 6, 6, 255, 1, 3, 3, 3, 3};
    size_t first[15], n = maxt_groups(options, 14, first), g, i;

    cr_assert(first[0] == 0 && first[n] == 14);
    for (g = 0; g < n; g++) {
        size_t patterns = 1;

        for (i = first[g]; i < first[g + 1]; i++)
            patterns *= options[i];
        cr_assert(patterns <= MAXT_PATTERNS || first[g + 1] - first[g] == 1);
        cr_assert(patterns <= 255 && first[g + 1] > first[g]);
    }
    cr_assert(maxt_groups(options, 0, first) == 0);
}

Test(relabel, says_how_many_pairs_would_do)
{
    cr_assert(relabel_pairs_for(0.05, 2, 10000) == 6 && relabel_pairs_for(0.05, 6, 10000) == 2);
    cr_assert(relabel_pairs_for(1.0 / 36, 6, 10000) == 2 && relabel_pairs_for(1e-9, 6, 10000) == 0);
}
