#include "core/base/scope.h"
#include "core/client/plan.h"
#include "core/model/exchange.h"
#include "tests/support/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static struct taskset tasks_of(size_t n)
{
    static struct task tasks[N];
    static char ids[N][32];
    size_t i;

    for (i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "task-%zu", i);
        tasks[i].id = ids[i];
        tasks[i].n_turns = 1;
    }
    return (struct taskset){.tasks = tasks, .n_tasks = n};
}

static struct plan_options options(void)
{
    return (struct plan_options){.sample = 1, .repeats = 1, .n_arms = 1, .block = 8, .shape = 1};
}

Test(plan, without_options_it_is_the_task_set_in_its_order)
{
    struct taskset tasks = tasks_of(5);
    struct plan_options o = options();
    struct error err = {0};
    AUTO(plan) p = {0};
    struct plan_unit u;
    size_t i;

    MUST(plan_init(&p, &tasks, &o, &err));
    cr_assert(eq(sz, plan_total(&p), 5));
    for (i = 0; i < 5; i++) {
        cr_assert(plan_next(&p, &u));
        cr_assert(eq(sz, u.task, i));
        cr_assert(eq(i64, u.repeat, 1));
        cr_assert(eq(i64, u.due_ns, NS_UNKNOWN));
    }
    cr_assert(not(plan_next(&p, &u)));
}

Test(plan, a_sample_holds_the_smaller_ones_whatever_the_seed)
{
    struct taskset tasks = tasks_of(N);
    struct plan_options small = options(), large = options();
    struct error err = {0};
    AUTO(plan) a = {0};
    AUTO(plan) b = {0};
    size_t i;

    small.sample = 0.05;
    large.sample = 0.2;
    large.seed = 77;
    MUST(plan_init(&a, &tasks, &small, &err));
    MUST(plan_init(&b, &tasks, &large, &err));
    cr_assert(eq(sz, a.n, 50));
    cr_assert(eq(sz, b.n, 200));
    for (i = 0; i < a.n; i++)
        cr_assert(plan_takes(&b, a.sampled[i]));
}

Test(plan, a_sample_of_nothing_is_refused)
{
    struct taskset tasks = tasks_of(3);
    struct plan_options o = options();
    struct error err = {0};
    AUTO(plan) p = {0};

    o.sample = 0;
    cr_assert(plan_init(&p, &tasks, &o, &err) == ERR_USAGE);
}

Test(plan, shuffling_keeps_every_task_and_differs_by_repeat_and_seed)
{
    struct taskset tasks = tasks_of(100);
    struct plan_options o = options();
    struct error err = {0};
    size_t order[2][2][100], seed, repeat, i;

    o.shuffles = true;
    o.repeats = 2;
    for (seed = 0; seed < 2; seed++) {
        AUTO(plan) p = {0};
        struct plan_unit u;

        o.seed = seed;
        MUST(plan_init(&p, &tasks, &o, &err));
        for (repeat = 0; repeat < 2; repeat++) {
            bool seen[100] = {false};

            for (i = 0; i < 100; i++) {
                cr_assert(plan_next(&p, &u));
                cr_assert(not(seen[u.task]));
                seen[u.task] = true;
                order[seed][repeat][i] = u.task;
            }
        }
    }
    cr_assert(memcmp(order[0][0], order[0][1], sizeof order[0][0]) != 0);
    cr_assert(memcmp(order[0][0], order[1][0], sizeof order[0][0]) != 0);
}

Test(plan, two_arms_take_turns_in_blocks_and_the_last_block_is_short)
{
    /* blocks of 2 of 5 tasks: 0 1 | 2 3 | 4 */
    static const size_t want[10][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, 2}, {0, 3}, {0, 4}, {1, 4}};
    struct taskset tasks = tasks_of(5);
    struct plan_options o = options();
    struct error err = {0};
    AUTO(plan) p = {0};
    struct plan_unit u;
    size_t i;

    o.n_arms = 2;
    o.block = 2;
    MUST(plan_init(&p, &tasks, &o, &err));
    for (i = 0; i < 10; i++) {
        cr_assert(plan_next(&p, &u));
        cr_assert(u.arm == want[i][0] && u.task == want[i][1], "unit %zu: arm %zu, task %zu", i, u.arm, u.task);
    }
    cr_assert(not(plan_next(&p, &u)));
}

/* Mean and variance of the gaps, in units of the mean asked for. */
static void moments(enum arrivals arrivals, double shape, double *ret_mean, double *ret_variance)
{
    struct taskset tasks = tasks_of(1);
    struct plan_options o = options();
    struct error err = {0};
    AUTO(plan) p = {0};
    double sum = 0, squares = 0;
    int64_t before = 0;
    size_t n = 20000, i;

    o.repeats = 0;
    o.arrivals = arrivals;
    o.shape = shape;
    o.rate = 10;
    MUST(plan_init(&p, &tasks, &o, &err));
    for (i = 0; i <= n; i++) {
        struct plan_unit u;
        double gap;

        cr_assert(plan_next(&p, &u));
        gap = (double)(u.due_ns - before) / 1e8;
        before = u.due_ns;
        if (i == 0)
            continue;
        sum += gap;
        squares += gap * gap;
    }
    *ret_mean = sum / (double)n;
    *ret_variance = squares / (double)n - *ret_mean * *ret_mean;
}

Test(plan, gaps_have_the_mean_and_variance_of_their_law)
{
    /* variance of a gap of mean 1: 0, 1, 1/shape; bounds of 6 standard errors of mean and variance at n = 20000, with
     * kurtosis 3 + 6/shape */
    static const struct {
        enum arrivals arrivals;
        double shape;
    } cases[] = {{ARRIVE_POISSON, 1}, {ARRIVE_GAMMA, 1}, {ARRIVE_GAMMA, 4}, {ARRIVE_GAMMA, 0.25}};
    double mean, variance;
    size_t i;

    for (i = 0; i < 4; i++) {
        double v = 1 / cases[i].shape, n = 20000;

        moments(cases[i].arrivals, cases[i].shape, &mean, &variance);
        cr_assert(fabs(mean - 1) < 6 * sqrt(v / n), "case %zu: mean %g", i, mean);
        cr_assert(fabs(variance - v) < 6 * v * sqrt((2 + 6 / cases[i].shape) / n), "case %zu: variance %g", i,
                  variance);
    }
    moments(ARRIVE_CONSTANT, 1, &mean, &variance);
    cr_assert(fabs(mean - 1) < 1e-6 && fabs(variance) < 1e-6);
}
