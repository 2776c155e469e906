#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"
#include "tests/support/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct error err;

TestSuite(decide, .init = folder_make, .fini = folder_drop);

#define CLOSE(got, want, within) cr_assert(close_to(got, want, (struct tol){within, 0}), "%.12g", got)

Test(decide, identical_candidate_passes)
{
    static const size_t n_tasks[] = {1, 2, 12, 30};
    size_t i;

    for (i = 0; i < 4; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};

        gate_attention(&base, &cand, (struct gate_change){.n_tasks = n_tasks[i]});
        gate_decide_default(&j, &base, &cand);
        cr_assert(j.verdict == VERDICT_PASS && j.exit_code == 0, "%s", j.headline);
        cr_assert(j.n_findings == 0 && j.n_changes == 0 && j.n_pairs == n_tasks[i]);
        cr_assert(strstr(gate_family(&j, "attn.entropy")->words, "identical in ") != NULL);
    }
}

Test(decide, collapsed_head_is_regressed_and_named)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    const struct family *f;

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 12, .layer = 1, .head = 1, .shift = -2.4, .noise = 0.1});
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.verdict == VERDICT_REGRESSED && j.exit_code == 1, "%s", j.headline);
    f = gate_family(&j, "attn.entropy");
    cr_assert(f->n_beyond == 1 && f->n_cells == 6 && f->n_compared == 6 && f->worst.where.layer == 1);
    cr_assert(j.findings[0].where.layer == 1 && j.findings[0].where.head == 1 && j.findings[0].effect.n == 12);
    CLOSE(j.findings[0].effect.delta, -2.4, 1e-12); /* the noise cancels over pairs of tasks */
    CLOSE(j.findings[0].effect.p, 2.0 / 4096, 1e-15);
    cr_assert(strncmp(j.findings[0].words, "attn.entropy at layer 1, head 1 fell by 2.4 bit (3 → 0.6); 90 % interval ",
                      70) == 0,
              "%s", j.findings[0].words);
    cr_assert(strncmp(j.headline, "regressed: attn.entropy at layer 1, head 1 fell", 46) == 0, "%s", j.headline);
}

Test(decide, significant_but_small_passes)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 24, .layer = -1, .head = -1, .shift = 0.01, .noise = 1e-3});
    gate_decide_default(&j, &base, &cand);
    cr_assert(gate_family(&j, "attn.entropy")->effect.p_adj < 0.001);
    cr_assert(j.verdict == VERDICT_PASS && j.n_findings == 0, "%s", j.headline);
}

/* The mean over cells lies inside the margin; but six tasks and two primary metrics cannot find the head that fell. */
Test(decide, too_few_tasks_never_pass)
{
    static const char metrics[] = "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.5}},"
                                  "\"attn.max_weight\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.5}}";
    static const struct {
        size_t n_tasks;
        enum verdict verdict;
    } rows[] = {
        {1, VERDICT_INCONCLUSIVE}, {5, VERDICT_INCONCLUSIVE}, {6, VERDICT_INCONCLUSIVE}, {7, VERDICT_REGRESSED}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};

        gate_attention(&base, &cand, (struct gate_change){rows[i].n_tasks, 1, 1, -2.4, 0.1});
        fake_cube(&base, "attn.max_weight", 0.5);
        fake_shift(fake_cube(&cand, "attn.max_weight", 0.5), 1, 1, 0.6);
        gate_decide(&j, &base, 1, &cand, metrics, "");
        cr_assert(j.verdict == rows[i].verdict, "%zu tasks: %s", rows[i].n_tasks, j.headline);
        if (j.verdict == VERDICT_INCONCLUSIVE)
            cr_assert(gate_family(&j, "attn.entropy")->n_needed == 7, "%zu", gate_family(&j, "attn.entropy")->n_needed);
    }
}

Test(decide, noise_is_inconclusive_and_says_how_many_tasks_would_do)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    struct family f;

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .noise = 2});
    gate_decide_default(&j, &base, &cand);
    f = *gate_family(&j, "attn.entropy");
    cr_assert(j.verdict == VERDICT_INCONCLUSIVE && j.exit_code == 0, "%s", j.headline);
    cr_assert(f.n_needed > 12 && f.effect.mde > f.margin);
    cr_assert(strstr(f.words, "too few to gate on it") != NULL, "%s", f.words);
}

Test(decide, prompt_makes_a_move_a_change)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 12, .layer = -1, .head = -1, .shift = 0.5, .noise = 0.1});
    fake_cube(&base, "attn.entropy_norm", 0.5);
    fake_shift(fake_cube(&cand, "attn.entropy_norm", 0.5), 0, 0, -0.1);
    cand.provenance.prompt_version = fake_text(&cand, "v2");
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.verdict == VERDICT_CHANGED && j.exit_code == 0, "%s", j.headline);
    cr_assert(gate_family(&j, "attn.entropy")->role == ROLE_ADVISORY, "raw entropy follows the prompt's length");
    cr_assert(strstr(j.headline, "attn.entropy_norm at layer 0, head 0") != NULL, "%s", j.headline);
    cr_assert(j.n_changes == 1 && !j.causes_confounded);
    cr_assert(eq(str, (char *)j.changes[0].what, "prompt"));
    cr_assert(eq(str, (char *)j.changes[0].base, "not recorded"));
}

Test(decide, policy_says_what_a_change_is)
{
    static const char metrics[] = "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}, "
                                  "\"on_change\": \"regressed\"}";
    static const char lenient[] = "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}, "
                                  "\"on_change\": \"changed\"}";
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) strict = {0};
    AUTO(judgement) loose = {0};

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 12, .layer = -1, .head = -1, .shift = 0.5, .noise = 0.1});
    gate_decide(&loose, &base, 1, &cand, lenient, "");
    cr_assert(loose.verdict == VERDICT_CHANGED, "at an equal prompt");
    cand.provenance.prompt_version = fake_text(&cand, "v2");
    gate_decide(&strict, &base, 1, &cand, metrics, "");
    cr_assert(strict.verdict == VERDICT_REGRESSED, "at another prompt");
}

Test(decide, direction_tells_worse_from_better)
{
    static const struct {
        double shift;
        enum verdict verdict;
        int exit_code;
    } rows[] = {{-0.2, VERDICT_REGRESSED, 1},
                {0.2, VERDICT_IMPROVED, 0},
                {0.0, VERDICT_PASS, 0},
                {0.045, VERDICT_PASS, 0} /* its interval passes the margin, but on the better side */};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};

        gate_replies(&base, &cand, 16, -1, rows[i].shift);
        gate_decide_default(&j, &base, &cand);
        cr_assert(j.verdict == rows[i].verdict && j.exit_code == rows[i].exit_code, "%g: %s", rows[i].shift,
                  j.headline);
    }
}

Test(decide, a_turn_is_found_that_the_mean_hides)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_replies(&base, &cand, 16, 3, -0.12);
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.verdict == VERDICT_REGRESSED, "%s", j.headline);
    cr_assert(j.n_findings == 1 && j.findings[0].where.turn == 3 && j.findings[0].where.layer == -1);
    cr_assert(gate_family(&j, "intent.alignment")->effect.delta > -0.05);
}

Test(decide, several_primary_metrics_share_alpha)
{
    static const char metrics[] = "\"intent.*\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.01}}";
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_replies(&base, &cand, 8, -1, -0.2);
    fake_cube(&base, "intent.entities", 1);
    fake_noise(fake_cube(&cand, "intent.entities", 1), 0.1, 3);
    fake_cube(&base, "intent.negations", 1);
    fake_noise(fake_cube(&cand, "intent.negations", 1), 0.1, 4);
    fake_cube(&base, "intent.actions", 1);
    fake_cube(&cand, "intent.actions", 1); /* identical: it can never be rejected, so it takes no share */
    gate_decide(&j, &base, 1, &cand, metrics, "");
    CLOSE(gate_family(&j, "intent.alignment")->effect.p, 2.0 / 256, 1e-15);
    CLOSE(gate_family(&j, "intent.alignment")->effect.p_adj, 3 * 2.0 / 256, 1e-15);
    CLOSE(gate_family(&j, "intent.actions")->effect.p_adj, 1, 0);
}

Test(decide, latency_of_one_run_is_shown_and_not_judged)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    AUTO(judgement) elsewhere = {0};
    const struct family *f;

    gate_replies(&base, &cand, 16, -1, 0);
    fake_cube(&base, "latency.ttft", 100);
    fake_cube(&cand, "latency.ttft", 150);
    gate_decide_default(&j, &base, &cand);
    f = gate_family(&j, "latency.ttft");
    cr_assert(j.verdict == VERDICT_PASS && f->verdict == VERDICT_NONE && f->role == ROLE_ADVISORY);
    CLOSE(f->effect.delta, 50, 1e-9);
    cr_assert(strstr(f->words, "+50 %") != NULL, "%s", f->words);
    cand.provenance.observed_on.gpu = fake_text(&cand, "another one");
    gate_decide_default(&elsewhere, &base, &cand);
    f = gate_family(&elsewhere, "latency.ttft");
    cr_assert(f->verdict == VERDICT_NONE && isnan(f->effect.delta));
    cr_assert(strstr(f->words, "gpu another one") != NULL, "%s", f->words);
    cr_assert(elsewhere.n_changes == 1 && elsewhere.changes[0].explains_latency_only);
}

Test(decide, missing_and_infinite_cells_are_no_pairs)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    struct cube *b, *c;
    const struct family *f;
    size_t i;

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 12, .layer = 1, .head = 1, .shift = -2.4, .noise = 0.1});
    b = run_cube(&base, "attn.entropy");
    c = run_cube(&cand, "attn.entropy");
    for (i = 0; i < 2 * 6; i++)
        b->values[i] = i % 2 ? NAN : INFINITY; /* all of the first task */
    for (i = 0; i < cube_len(c); i++)
        if (i % 6 == 5)
            c->values[i] = NAN; /* the last cell of every task */
    gate_decide_default(&j, &base, &cand);
    f = gate_family(&j, "attn.entropy");
    cr_assert(f->effect.n == 11 && f->n_cells == 6 && f->n_compared == 5);
    cr_assert(j.verdict == VERDICT_REGRESSED && isfinite(f->effect.p) && isfinite(f->effect.delta));
}

/* The same conversations, stored in another order. */
Test(decide, order_of_tasks_does_not_matter)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(run) turned = {0};
    AUTO(judgement) j = {0};
    AUTO(judgement) k = {0};
    struct cube *c, *t;
    size_t i;

    gate_attention(&base, &cand,
                   (struct gate_change){.n_tasks = 20, .layer = -1, .head = 0, .shift = 0.06, .noise = 0.15});
    c = run_cube(&cand, "attn.entropy");
    fake_run(&turned, 20, 2, 3, 2);
    t = fake_cube(&turned, "attn.entropy", 0);
    for (i = 0; i < 20; i++) {
        turned.axes.task[i] = cand.axes.task[19 - i];
        memcpy(t->values + i * 12, c->values + (19 - i) * 12, 12 * sizeof *t->values);
    }
    gate_decide_default(&j, &base, &cand);
    gate_decide_default(&k, &base, &turned);
    cr_assert(eq(str, (char *)j.headline, (char *)k.headline));
    cr_assert(eq(str, (char *)j.families[0].words, (char *)k.families[0].words));
    CLOSE(k.families[0].effect.p, j.families[0].effect.p, 0);
    CLOSE(k.families[0].effect.ci_lo, j.families[0].effect.ci_lo, 0);
}

Test(decide, names_tasks_that_only_one_side_has)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12});
    base.axes.task[3] = fake_text(&base, "old");
    cand.axes.task[5] = fake_text(&cand, "new");
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.n_pairs == 10 && j.n_missing == 2 && j.n_added == 2, "%zu %zu", j.n_missing, j.n_added);
    cr_assert(eq(str, (char *)j.missing[0], "old"));
    cr_assert(eq(str, (char *)j.added[1], "new"));
    cr_assert(gate_family(&j, "attn.entropy")->effect.n == 10);
}

Test(decide, several_base_runs_are_averaged)
{
    struct run base[2];
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    fake_run(&base[0], 8, 1, 0, 0);
    fake_run(&base[1], 8, 1, 0, 0);
    fake_run(&cand, 8, 1, 0, 0);
    fake_cube(&base[0], "intent.alignment", 0.5);
    fake_cube(&base[1], "intent.alignment", 0.7);
    fake_noise(fake_cube(&cand, "intent.alignment", 0.6), 0.001, 1);
    gate_decide(&j, base, 2, &cand, "\"intent.*\": {\"role\": \"primary\", \"margin\": {\"run_sd\": 1}}", "");
    CLOSE(j.families[0].effect.base, 0.6, 1e-12);
    CLOSE(j.families[0].margin, 0.2 / sqrt(2), 1e-12);
    cr_assert(j.verdict == VERDICT_PASS, "%s", j.headline);
    run_done(&base[0]);
    run_done(&base[1]);
}

Test(decide, fail_on_changes_what_counts)
{
    static const struct {
        enum verdict verdict;
        const char *list;
        int exit_code;
    } rows[] = {{VERDICT_REGRESSED, "regressed", 1},  {VERDICT_REGRESSED, "changed,inconclusive", 1},
                {VERDICT_CHANGED, "regressed", 0},    {VERDICT_CHANGED, "regressed,changed", 1},
                {VERDICT_INCONCLUSIVE, "changed", 0}, {VERDICT_INCONCLUSIVE, "inconclusive", 3},
                {VERDICT_NONE, "regressed", 3},       {VERDICT_PASS, "regressed,inconclusive,changed", 0},
                {VERDICT_IMPROVED, "regressed", 0}};
    static const char *const bad[] = {"", ",", "regressed,", "Regressed", "regress", "pass", "regressed changed"};
    struct judgement j = {0};
    size_t i;
    int code;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        j.verdict = rows[i].verdict;
        code = -1;
        MUST(decide_fail_on(&j, rows[i].list, &code, &err));
        cr_assert(eq(int, code, rows[i].exit_code), "row %zu", i);
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(eq(int, decide_fail_on(&j, bad[i], &code, NULL), ERR_USAGE), "'%s'", bad[i]);
}

Test(decide, places_have_words)
{
    static const struct where all = {NULL, -1, -1, -1}, head = {NULL, -1, 9, 2}, turn = {"a", 3, -1, -1};
    char text[80], small[8];

    where_text(&all, text, sizeof text);
    cr_assert(eq(str, text, "over all"));
    where_text(&head, text, sizeof text);
    cr_assert(eq(str, text, "layer 9, head 2"));
    where_text(&turn, text, sizeof text);
    cr_assert(eq(str, text, "task 'a', turn 3"));
    where_text(&turn, small, sizeof small);
    cr_assert(eq(str, small, "task 'a"));
}
