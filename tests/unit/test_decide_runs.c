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

/* Runs of one baseline and of a candidate, all with one metric over n_tasks. */
struct night {
    struct run base[MAX_RUNS], cand[MAX_RUNS];
    size_t n_base, n_cand;
};

static void night_done(struct night *n)
{
    size_t i;

    for (i = 0; i < n->n_base; i++)
        run_done(&n->base[i]);
    for (i = 0; i < n->n_cand; i++)
        run_done(&n->cand[i]);
}

static void runs_of(struct run *runs, const char *metric, size_t n_tasks, const double *value, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        fake_run(&runs[i], n_tasks, 1, 0, 0);
        fake_cube(&runs[i], metric, value[i]);
    }
}

/* Run i has base_value[i] in every task, the candidate cand_value. */
static void night_of(struct night *n, const char *metric, size_t n_tasks, const double *base_value, size_t n_base,
                     double cand_value)
{
    n->n_base = n_base;
    n->n_cand = 1;
    runs_of(n->base, metric, n_tasks, base_value, n_base);
    runs_of(n->cand, metric, n_tasks, &cand_value, 1);
}

static const char latency[] = "\"latency.ttft\": {\"role\": \"primary\", \"margin\": {\"rel\": 0.1}}";
static const char intent[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}";

/* Five runs that differ by 1.742 ms, as in test_run_t.c: the same t, p and interval. With one run on a side the metric
 * says what it sees and decides nothing. */
Test(decide_runs, one_candidate_run_informs_and_does_not_decide)
{
    static const double base[5] = {101.2, 98.7, 103.4, 99.9, 100.8};
    static const struct {
        double cand;
        enum verdict verdict;
    } rows[] = {{112.5, VERDICT_REGRESSED}, {100.5, VERDICT_PASS}, {89, VERDICT_IMPROVED}, {108, VERDICT_INCONCLUSIVE}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(judgement) j = {0};
        struct night n;
        const struct family *f;

        night_of(&n, "latency.ttft", 30, base, 5, rows[i].cand);
        gate_decide(&j, n.base, 5, n.cand, latency, "");
        f = gate_family(&j, "latency.ttft");
        cr_assert(j.verdict == VERDICT_NONE && j.exit_code == 3, "%g: %s", rows[i].cand, j.headline);
        cr_assert(f->verdict == rows[i].verdict && f->role == ROLE_ADVISORY, "%g: %s", rows[i].cand, f->words);
        cr_assert(f->effect.n == 6 && isfinite(f->effect.p));
        cr_assert(strstr(f->words, "with one candidate run it informs and does not decide") != NULL, "%s", f->words);
        CLOSE(f->margin, 10.08, 1e-9);
        if (i == 0) {
            CLOSE(f->effect.p, 0.0035870048543860515, 1e-10);
            CLOSE(f->effect.ci_lo, 7.631578320332043, 1e-9);
            cr_assert(strstr(f->words, "tested over runs, 5 against 1, which differ by 1.742 ms") != NULL, "%s",
                      f->words);
        }
        night_done(&n);
    }
}

/* scipy.stats.ttest_ind([112.5, 109.9, 111.2], [101.2, 98.7, 103.4, 99.9, 100.8]) and its 90 % interval. */
Test(decide_runs, several_candidate_runs_decide_on_latency)
{
    static const double base[5] = {101.2, 98.7, 103.4, 99.9, 100.8};
    static const struct {
        double cand[3];
        enum verdict verdict;
        int exit_code;
    } rows[] = {{{112.5, 109.9, 111.2}, VERDICT_REGRESSED, 1},
                {{100.5, 99.4, 101.9}, VERDICT_PASS, 0},
                {{90, 87.9, 91.3}, VERDICT_IMPROVED, 0}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(judgement) j = {0};
        struct night n = {.n_base = 5, .n_cand = 3};
        const struct family *f;

        runs_of(n.base, "latency.ttft", 30, base, 5);
        runs_of(n.cand, "latency.ttft", 30, rows[i].cand, 3);
        gate_decide_runs(&j, n.base, 5, n.cand, 3, latency, "");
        f = gate_family(&j, "latency.ttft");
        cr_assert(j.verdict == rows[i].verdict && j.exit_code == rows[i].exit_code, "%s: %s", j.headline, f->words);
        cr_assert(f->role == ROLE_PRIMARY && f->effect.n == 8 && j.n_base == 5 && j.n_cand == 3);
        if (i == 0) {
            CLOSE(f->effect.p, 0.00011539214130154694, 1e-10);
            CLOSE(f->effect.ci_lo, 8.117647649519919, 1e-9);
            CLOSE(f->effect.ci_hi, 12.682352350480063, 1e-9);
        }
        night_done(&n);
    }
}

/* Two primary metrics with the same numbers: the larger p of the two has alpha to itself, the smaller half of it, and
 * what each run detects is said for that. (t[1 - a/2, 6] + t[.8, 6]) sd sqrt(1/5 + 1/3) for a = 0.05 and 0.025, SciPy
 */
Test(decide_runs, what_runs_detect_counts_the_other_metrics)
{
    static const double base[5] = {101.2, 98.7, 103.4, 99.9, 100.8}, cand[3] = {102.5, 99.9, 101.2};
    static const char both[] = "\"latency.*\": {\"role\": \"primary\", \"margin\": {\"rel\": 0.1}}";
    struct night n = {.n_base = 5, .n_cand = 3};
    const struct effect *ttft, *tpot;
    AUTO(judgement) j = {0};
    size_t i;

    runs_of(n.base, "latency.ttft", 30, base, 5);
    runs_of(n.cand, "latency.ttft", 30, cand, 3);
    for (i = 0; i < 5; i++)
        fake_cube(&n.base[i], "latency.tpot", base[i]);
    for (i = 0; i < 3; i++)
        fake_cube(&n.cand[i], "latency.tpot", cand[i] + 2);
    gate_decide_runs(&j, n.base, 5, n.cand, 3, both, "");
    ttft = &gate_family(&j, "latency.ttft")->effect;
    tpot = &gate_family(&j, "latency.tpot")->effect;
    CLOSE(ttft->mde, 3.937796772319257, 1e-9);
    CLOSE(tpot->mde, 4.550644704381696, 1e-9);
    night_done(&n);
}

/* The first candidate run has no attention; the limit is on the second's. */
Test(decide_runs, limits_look_at_every_candidate_run)
{
    static const char limit[] =
        "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
        "\"attn.entropy\": {\"role\": \"advisory\", \"limits\": [{\"op\": \">=\", \"value\": 2}]}";
    struct night n = {.n_base = 1, .n_cand = 2};
    AUTO(judgement) j = {0};
    size_t i;

    for (i = 0; i < 2; i++)
        fake_run(&n.cand[i], 12, 1, 2, 2);
    fake_run(&n.base[0], 12, 1, 2, 2);
    fake_cube(&n.base[0], "intent.alignment", 0.7);
    fake_cube(&n.base[0], "attn.entropy", 3);
    fake_cube(&n.cand[0], "intent.alignment", 0.7);
    fake_cube(&n.cand[1], "intent.alignment", 0.7);
    fake_cube(&n.cand[1], "attn.entropy", 1);
    gate_decide_runs(&j, n.base, 1, n.cand, 2, limit, "");
    cr_assert(j.n_limits == 4 && j.limits[0].broken && j.verdict == VERDICT_REGRESSED, "%zu: %s", j.n_limits,
              j.headline);
    night_done(&n);
}

/* The second run has the first half of the tasks, which are the worse ones: that is no noise between the runs. */
Test(decide_runs, noise_between_runs_is_over_their_common_tasks)
{
    struct night n = {.n_base = 2, .n_cand = 1};
    AUTO(judgement) j = {0};
    size_t i, k;

    for (i = 0; i < 2; i++) {
        fake_run(&n.base[i], i ? 6 : 12, 1, 0, 0);
        fake_cube(&n.base[i], "intent.alignment", 0.5 + 0.01 * (double)i);
    }
    fake_run(&n.cand[0], 12, 1, 0, 0);
    fake_cube(&n.cand[0], "intent.alignment", 0.5);
    for (k = 6; k < 12; k++)
        n.base[0].cubes[0].values[k] = n.cand[0].cubes[0].values[k] = 0.9;
    gate_decide_runs(&j, n.base, 2, n.cand, 1, "\"intent.*\": {\"role\": \"primary\", \"margin\": {\"run_sd\": 1}}",
                     "");
    CLOSE(j.families[0].margin, 0.01 / sqrt(2), 1e-9);
    night_done(&n);
}

/* Four tasks, two runs on each side: their values move on by 0 to 3 places, 4^4 ways in all. Of these the one seen and
 * that which swaps the sides everywhere have the largest |sum|. */
Test(decide_runs, several_runs_on_both_sides_change_places)
{
    static const double base[2] = {0.7, 0.71}, cand[2] = {0.4, 0.41};
    struct night n = {.n_base = 2, .n_cand = 2};
    const struct family *f;
    AUTO(judgement) j = {0};

    runs_of(n.base, "intent.alignment", 4, base, 2);
    runs_of(n.cand, "intent.alignment", 4, cand, 2);
    gate_decide_runs(&j, n.base, 2, n.cand, 2, intent, "");
    f = gate_family(&j, "intent.alignment");
    cr_assert(j.is_enumerated && j.n_resamples == 256 && j.verdict == VERDICT_REGRESSED, "%s", j.headline);
    CLOSE(f->effect.delta, -0.3, 1e-12);
    CLOSE(f->effect.p, 2.0 / 256, 1e-15);
    CLOSE(f->effect.p_min, 2.0 / 256, 1e-15);
    night_done(&n);
}

Test(decide_runs, candidates_of_two_versions_are_refused)
{
    static const double value[2] = {0.7, 0.71};
    struct night n = {.n_base = 1, .n_cand = 2};
    AUTO(policy) p = {0};
    struct error err = {0};
    struct judgement j;

    runs_of(n.base, "intent.alignment", 4, value, 1);
    runs_of(n.cand, "intent.alignment", 4, value, 2);
    n.cand[1].provenance.prompt_version = fake_text(&n.cand[1], "v3");
    MUST(policy_parse(&p, "p.json", "{\"schema\": 1, \"metrics\": {}}", 28, &err));
    cr_assert(decide(&j, n.base, 1, n.cand, 2, &p, 0, &err) == ERR_NO_VERDICT);
    cr_assert(strstr(err.message, "the candidate runs are not of one version, prompt") != NULL, "%s", err.message);
    error_clear(&err);
    cr_assert(decide(&j, n.cand, 2, n.base, 1, &p, 0, &err) == ERR_NO_VERDICT);
    cr_assert(strstr(err.message, "the base runs are not of one version, prompt") != NULL, "%s", err.message);
    night_done(&n);
}

/* 5 % between runs tested over 50 tasks would be significant: over runs it is noise. */
Test(decide_runs, a_slow_minute_is_no_regression)
{
    static const double base[3] = {100, 105, 95};
    AUTO(judgement) j = {0};
    struct night n;
    const struct family *f;

    night_of(&n, "latency.ttft", 50, base, 3, 111);
    gate_decide(&j, n.base, 3, n.cand, latency, "");
    f = gate_family(&j, "latency.ttft");
    cr_assert(f->verdict == VERDICT_INCONCLUSIVE && j.verdict == VERDICT_NONE, "%s", f->words);
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
    gate_decide(&j, n.base, 2, n.cand, latency, "");
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
        n.cand[0].cubes[0].values[i] = 9000;
    gate_decide(&j, n.base, 3, n.cand, latency, "");
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
    fake_noise(&n.cand[0].cubes[0], 0.02, 9);
    gate_decide(&j, n.base, 5, n.cand, intent, "");
    cr_assert(j.verdict == VERDICT_REGRESSED && j.n_base == 5 && !j.is_enumerated, "%s", j.headline);
    CLOSE(gate_family(&j, "intent.alignment")->effect.p, 1.0 / 10001, 1e-15);
    CLOSE(gate_family(&j, "intent.alignment")->effect.p_min, 1.0 / 10001, 1e-15);
    gate_decide(&one, n.base, 1, n.cand, intent, "");
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
    gate_decide(&j, n.base, 5, n.cand, intent, "");
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
    gate_decide(&j, n.base, 1, n.cand, later, "");
    cr_assert(j.verdict == VERDICT_PASS && j.n_not_measured == 1);
    cr_assert(eq(str, (char *)j.not_measured[0], "kv.hit_rate"));
    gate_decide(&strict, n.base, 1, n.cand, must, "");
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
        fake_cube(&n.cand[0], "intent.alignment", 0.5);
        if (rows[i].n_over)
            n.cand[0].cubes[0].values[3] = 900;
        gate_decide(&j, n.base, 1, n.cand, tail, "");
        cr_assert(j.n_limits == 1 && !j.limits[0].broken);
        cr_assert(strstr(j.limits[0].words, rows[i].says) != NULL, "%s", j.limits[0].words);
        night_done(&n);
    }
}
