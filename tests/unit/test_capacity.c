#include "core/base/scope.h"
#include "core/gate/capacity.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <math.h>
#include <string.h>

static struct error err;

enum { RUNS = 5 };

static const char text[] = "{\"schema\": 1, \"metrics\": {"
                           "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}},"
                           "\"reply.cut_off\": {\"role\": \"primary\"},"
                           "\"latency.*\": {\"role\": \"primary\", \"margin\": {\"rel\": 0.1}}}}";

static void runs_of(struct run *runs, size_t n, size_t n_tasks, double noise, const double *latency)
{
    size_t i;

    for (i = 0; i < n; i++) {
        fake_run(&runs[i], n_tasks, 1, 0, 0);
        fake_noise(fake_cube(&runs[i], "intent.alignment", 0.7), noise, 1 + i);
        fake_cube(&runs[i], "latency.ttft", latency[i]);
    }
}

static void find(struct capacity *c, struct run *runs, size_t n)
{
    AUTO(policy) p = {0};
    size_t i;

    MUST(policy_parse(&p, "p.json", text, sizeof text - 1, &err));
    MUST(capacity_find(c, runs, n, &p, &err));
    for (i = 0; i < n; i++)
        run_done(&runs[i]);
}

/* With two primary metrics alpha is 0.025 for each. scipy.stats.t for sd 10 and two runs on each side:
 * (ppf(0.9875, 2) + ppf(0.8, 2)) 10. */
Test(capacity, too_few_runs_cannot_gate_and_how_many_would)
{
    static const double latency[2] = {100 - 7.0710678118654755, 100 + 7.0710678118654755};
    AUTO(capacity) c = {0};
    struct run runs[2];

    runs_of(runs, 2, 24, 0.01, latency);
    find(&c, runs, 2);
    cr_assert(c.n_metrics == 2 && strcmp(c.metrics[0].metric, "intent.alignment") == 0 && c.metrics[0].can_gate, "%s",
              c.metrics[0].words);
    cr_assert(c.metrics[0].mde > 0.002 && c.metrics[0].mde < 0.02, "%g", c.metrics[0].mde);
    cr_assert(not(c.metrics[1].can_gate));
    cr_assert(close_to(c.metrics[1].mde, 72.66006988350527, (struct tol){0, 1e-9}), "%.15g", c.metrics[1].mde);
    cr_assert(c.metrics[1].n_needed == 21, "%zu", c.metrics[1].n_needed);
    cr_assert(strstr(c.metrics[1].words, "cannot gate: 2 runs on each side detect ") != NULL, "%s", c.metrics[1].words);
}

Test(capacity, too_few_tasks_cannot_reach_p)
{
    static const double latency[1] = {100};
    AUTO(capacity) c = {0};
    struct run runs[1];

    runs_of(runs, 1, 4, 0.01, latency);
    find(&c, runs, 1);
    cr_assert(c.metrics[0].can_gate == false && close_to(c.metrics[0].p_min, 0.25, (struct tol){1e-12, 0}));
    cr_assert(eq(str, (char *)c.metrics[0].words,
                 "cannot gate: with 4 tasks adjusted p cannot be below 0.25; about 7 tasks would do"));
    cr_assert(not(c.metrics[1].can_gate));
    cr_assert(eq(str, (char *)c.metrics[1].words,
                 "cannot gate: it differs from run to run, and one accepted run shows no noise; about 2 runs on each "
                 "side would do"));
}

Test(capacity, noise_above_the_margin_says_how_many_tasks)
{
    static const double latency[RUNS] = {100, 100, 100, 100, 100};
    AUTO(capacity) c = {0};
    struct run runs[RUNS];

    runs_of(runs, RUNS, 24, 0.4, latency);
    find(&c, runs, RUNS);
    cr_assert(c.metrics[0].can_gate == false && c.metrics[0].mde > 0.05 && c.metrics[0].n_needed > 24, "%s",
              c.metrics[0].words);
    cr_assert(strstr(c.metrics[0].words, "cannot gate: 24 tasks detect ") != NULL, "%s", c.metrics[0].words);
    cr_assert(c.metrics[1].can_gate && strstr(c.metrics[1].words, "show no noise") != NULL, "%s", c.metrics[1].words);
}
