#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"
#include "tests/support/must.h"

#include <math.h>
#include <string.h>

TestSuite(decide_runs, .init = folder_make, .fini = folder_drop);

#define CLOSE(got, want, within) cr_assert(close_to(got, want, (struct tol){within, 0}), "%.12g", got)

enum { MAX_RUNS = 6 };

/* Runs of one baseline and a candidate, all with one metric over n_tasks. */
struct night {
    struct run base[MAX_RUNS], cand;
    size_t n_base;
};

static void night_done(struct night *n)
{
    size_t i;

    for (i = 0; i < n->n_base; i++)
        run_done(&n->base[i]);
    run_done(&n->cand);
}

/* Run i has base_value[i] in every task, the candidate cand_value. */
static void night_of(struct night *n, const char *metric, size_t n_tasks, const double *base_value, size_t n_base,
                     double cand_value)
{
    size_t i;

    n->n_base = n_base;
    for (i = 0; i < n_base; i++) {
        fake_run(&n->base[i], n_tasks, 1, 0, 0);
        fake_cube(&n->base[i], metric, base_value[i]);
    }
    fake_run(&n->cand, n_tasks, 1, 0, 0);
    fake_cube(&n->cand, metric, cand_value);
}

static const char latency[] = "\"latency.ttft\": {\"role\": \"primary\", \"margin\": {\"rel\": 0.1}}";
static const char intent[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}";

/* Five runs that differ by 1.742 ms, as in test_run_t.c: the same t, p and interval. */
Test(decide_runs, latency_is_tested_over_runs)
{
    static const double base[5] = {101.2, 98.7, 103.4, 99.9, 100.8};
    static const struct {
        double cand;
        enum verdict verdict;
        int exit_code;
    } rows[] = {{112.5, VERDICT_REGRESSED, 1},
                {100.5, VERDICT_PASS, 0},
                {89, VERDICT_IMPROVED, 0},
                {108.0, VERDICT_INCONCLUSIVE, 0}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(judgement) j = {0};
        struct night n;
        const struct family *f;

        night_of(&n, "latency.ttft", 30, base, 5, rows[i].cand);
        gate_decide(&j, n.base, 5, &n.cand, latency, "");
        f = gate_family(&j, "latency.ttft");
        cr_assert(j.verdict == rows[i].verdict && j.exit_code == rows[i].exit_code, "%g: %s", rows[i].cand, f->words);
        cr_assert(f->role == ROLE_PRIMARY && f->effect.n == 6 && isfinite(f->effect.p));
        CLOSE(f->margin, 10.08, 1e-9);
        if (i == 0) {
            CLOSE(f->effect.p, 0.0035870048543860515, 1e-10);
            CLOSE(f->effect.ci_lo, 7.631578320332043, 1e-9);
            cr_assert(j.n_findings == 1 && j.findings[0].verdict == VERDICT_REGRESSED);
            cr_assert(strstr(f->words, "tested over runs, 5 against 1, which differ by 1.742 ms") != NULL, "%s",
                      f->words);
        }
        night_done(&n);
    }
}

/* 5 % between runs tested over 50 tasks would be significant: over runs it is noise. */
Test(decide_runs, a_slow_minute_is_no_regression)
{
    static const double base[3] = {100, 105, 95};
    AUTO(judgement) j = {0};
    struct night n;
    const struct family *f;

    night_of(&n, "latency.ttft", 50, base, 3, 111);
    gate_decide(&j, n.base, 3, &n.cand, latency, "");
    f = gate_family(&j, "latency.ttft");
    cr_assert(f->verdict == VERDICT_INCONCLUSIVE && j.verdict == VERDICT_INCONCLUSIVE, "%s", f->words);
    cr_assert(f->effect.mde > f->margin && strstr(f->words, "too few to gate on it") != NULL, "%s", f->words);
    night_done(&n);
}

Test(decide_runs, runs_without_noise_are_shown_and_not_judged)
{
    static const double base[2] = {100, 100};
    AUTO(judgement) j = {0};
    struct night n;
    const struct family *f;

    night_of(&n, "latency.ttft", 12, base, 2, 150);
    gate_decide(&j, n.base, 2, &n.cand, latency, "");
    f = gate_family(&j, "latency.ttft");
    cr_assert(f->verdict == VERDICT_NONE && f->role == ROLE_ADVISORY && j.verdict == VERDICT_NONE);
    cr_assert(strstr(f->words, "show no noise") != NULL, "%s", f->words);
    night_done(&n);
}

/* A run that lacks tasks is held against the others over the tasks that all have. */
Test(decide_runs, only_common_tasks_make_a_runs_number)
{
    static const double base[3] = {100, 102, 98};
    AUTO(judgement) j = {0};
    struct night n;
    size_t i;

    night_of(&n, "latency.ttft", 12, base, 3, 101);
    for (i = 0; i < 6; i++)
        n.base[1].cubes[0].values[i] = NAN;
    for (i = 0; i < 6; i++)
        n.cand.cubes[0].values[i] = 9000;
    gate_decide(&j, n.base, 3, &n.cand, latency, "");
    CLOSE(gate_family(&j, "latency.ttft")->effect.delta, 1, 1e-9);
    night_done(&n);
}

/* Eight tasks, five base runs: 6^8 exchanges, so that p can be far below the sign-flip test's 2/2^8. */
Test(decide_runs, several_base_runs_change_places_within_the_task)
{
    static const double base[5] = {0.7, 0.7, 0.7, 0.7, 0.7};
    AUTO(judgement) j = {0};
    AUTO(judgement) one = {0};
    struct night n;
    size_t i;

    night_of(&n, "intent.alignment", 8, base, 5, 0.5);
    for (i = 0; i < 5; i++)
        fake_noise(&n.base[i].cubes[0], 0.02, i);
    fake_noise(&n.cand.cubes[0], 0.02, 9);
    gate_decide(&j, n.base, 5, &n.cand, intent, "");
    cr_assert(j.verdict == VERDICT_REGRESSED && j.n_base == 5 && !j.is_enumerated, "%s", j.headline);
    CLOSE(gate_family(&j, "intent.alignment")->effect.p, 1.0 / 10001, 1e-15);
    CLOSE(gate_family(&j, "intent.alignment")->effect.p_min, 1.0 / 10001, 1e-15);
    gate_decide(&one, n.base, 1, &n.cand, intent, "");
    CLOSE(gate_family(&one, "intent.alignment")->effect.p, 2.0 / 256, 1e-15);
    night_done(&n);
}

/* The mean of equal values is that value to the last bit, of five tenths too. */
Test(decide_runs, an_identical_night_is_identical)
{
    static const double base[5] = {0.1, 0.1, 0.1, 0.1, 0.1};
    AUTO(judgement) j = {0};
    struct night n;

    night_of(&n, "intent.alignment", 12, base, 5, 0.1);
    gate_decide(&j, n.base, 5, &n.cand, intent, "");
    cr_assert(j.verdict == VERDICT_PASS, "%s", j.headline);
    cr_assert(strstr(gate_family(&j, "intent.alignment")->words, "identical in all 12 tasks") != NULL);
    night_done(&n);
}

/* A limit on what nothing measures yet is known, and shown as not holding. */
Test(decide_runs, reserved_names_are_not_measured)
{
    static const char later[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
                                "\"kv.hit_rate\": {\"limits\": [{\"op\": \">=\", \"value\": 0.92}]}";
    static const char must[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
                               "\"kv.*\": {\"required\": true}";
    static const double base[1] = {0.7};
    AUTO(judgement) j = {0};
    AUTO(judgement) strict = {0};
    struct night n;

    night_of(&n, "intent.alignment", 12, base, 1, 0.7);
    gate_decide(&j, n.base, 1, &n.cand, later, "");
    cr_assert(j.verdict == VERDICT_PASS && j.n_not_measured == 1);
    cr_assert(eq(str, (char *)j.not_measured[0], "kv.hit_rate"));
    gate_decide(&strict, n.base, 1, &n.cand, must, "");
    cr_assert(strict.verdict == VERDICT_NONE && strict.exit_code == 3 && strict.n_not_measured == 2);
    night_done(&n);
}

Test(decide_runs, tail_limits_say_what_so_few_requests_prove)
{
    static const char tail[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
                               "\"latency.ttft\": {\"stat\": \"p99\", \"limits\": [{\"op\": \"<\", \"value\": 850}]}";
    static const double base[1] = {100};
    static const struct {
        size_t n_tasks, n_over;
        const char *says;
    } rows[] = {
        {30, 0, "0 of 30 values beyond it: that 99 % of all keep it is shown with 99 % confidence by 459 values "},
        {459, 0, "0 of 459 values beyond it, which shows with 99 % confidence that 99 % of all keep it"},
        {459, 1, "1 of 459 values beyond it: that 99 % of all keep it is shown with 99 % confidence by 662 "}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(judgement) j = {0};
        struct night n;

        night_of(&n, "latency.ttft", rows[i].n_tasks, base, 1, 100);
        fake_cube(&n.base[0], "intent.alignment", 0.5);
        fake_cube(&n.cand, "intent.alignment", 0.5);
        if (rows[i].n_over)
            n.cand.cubes[0].values[3] = 900;
        gate_decide(&j, n.base, 1, &n.cand, tail, "");
        cr_assert(j.n_limits == 1 && !j.limits[0].broken);
        cr_assert(strstr(j.limits[0].words, rows[i].says) != NULL, "%s", j.limits[0].words);
        night_done(&n);
    }
}
