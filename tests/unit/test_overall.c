#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"
#include "tests/support/must.h"

#include <stdio.h>
#include <string.h>

TestSuite(overall, .init = folder_make, .fini = folder_drop);

Test(overall, failed_requests_leave_no_verdict)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    struct cube *failed;
    size_t i;

    gate_replies(&base, &cand, 16, -1, -0.3);
    fake_cube(&base, "reply.failed", 0);
    failed = fake_cube(&cand, "reply.failed", 0);
    for (i = 0; i < 5; i++)
        failed->values[i] = 1;
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.verdict == VERDICT_NONE && j.exit_code == 3, "%s", j.headline);
    cr_assert(strstr(j.headline, "10.4 % of the candidate's requests failed, the policy allows 5 %") != NULL, "%s",
              j.headline);
}

Test(overall, required_means_measured_and_decided)
{
    static const char alignment[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.001}, "
                                    "\"required\": true}";
    static const char absent[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.1}}, "
                                 "\"attn.entropy\": {\"role\": \"advisory\", \"required\": true}";
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) open = {0};
    AUTO(judgement) closed = {0};
    AUTO(judgement) missing = {0};

    gate_replies(&base, &cand, 16, -1, 0);
    gate_decide(&open, &base, 1, &cand, alignment, "");
    cr_assert(open.verdict == VERDICT_INCONCLUSIVE && open.exit_code == 0, "%s", open.headline);
    gate_decide(&closed, &base, 1, &cand, alignment, "\"on_inconclusive\": \"fail\",");
    cr_assert(closed.verdict == VERDICT_INCONCLUSIVE && closed.exit_code == 3);
    gate_decide(&missing, &base, 1, &cand, absent, "");
    cr_assert(missing.verdict == VERDICT_NONE && missing.exit_code == 3, "%s", missing.headline);
    cr_assert(missing.n_not_measured == 1 && strcmp(missing.not_measured[0], "attn.entropy") == 0);
}

Test(overall, nothing_primary_is_no_verdict)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) advisory = {0};
    AUTO(judgement) no_margin = {0};
    AUTO(judgement) one_side = {0};

    gate_replies(&base, &cand, 16, -1, -0.3);
    gate_decide(&advisory, &base, 1, &cand, "", "");
    cr_assert(advisory.verdict == VERDICT_NONE && advisory.exit_code == 3, "%s", advisory.headline);
    gate_decide(&no_margin, &base, 1, &cand, "\"*\": {\"role\": \"primary\"}", "");
    cr_assert(no_margin.verdict == VERDICT_NONE && no_margin.n_findings == 0, "significance alone cannot fail");
    fake_cube(&base, "intent.actions", 1);
    gate_decide(&one_side, &base, 1, &cand, "\"intent.actions\": {\"role\": \"primary\", \"margin\": {\"abs\": 1}}",
                "");
    cr_assert(one_side.verdict == VERDICT_NONE && one_side.n_not_measured == 1);
}

Test(overall, limits_hold_for_the_candidate_alone)
{
    static const char limits[] =
        "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.5}, \"limits\": [{\"op\": \">=\", "
        "\"value\": 0.6, \"severity\": \"%s\", \"reason\": \"readers notice\"}]}";
    static const struct {
        const char *severity;
        double base, cand;
        enum verdict verdict;
        bool broken;
    } rows[] = {{"fail", 0.7, 0.5, VERDICT_REGRESSED, true},
                {"warn", 0.7, 0.5, VERDICT_PASS, true},
                {"fail", 0.5, 0.5, VERDICT_PASS, true},
                {"fail", 0.7, 0.7, VERDICT_PASS, false}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};
        char metrics[400];

        fake_run(&base, 8, 1, 0, 0);
        fake_run(&cand, 8, 1, 0, 0);
        fake_cube(&base, "intent.alignment", rows[i].base);
        fake_cube(&cand, "intent.alignment", rows[i].cand);
        snprintf(metrics, sizeof metrics, limits, rows[i].severity);
        gate_decide(&j, &base, 1, &cand, metrics, "");
        cr_assert(j.verdict == rows[i].verdict, "row %zu: %s", i, j.headline);
        cr_assert(j.n_limits == 1 && j.limits[0].broken == rows[i].broken, "row %zu", i);
        cr_assert(strstr(j.limits[0].words, "readers notice") != NULL);
    }
}

Test(overall, says_what_changed_before_any_number)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12});
    base.provenance.weights_version = fake_text(&base, "w1");
    cand.provenance.weights_version = fake_text(&cand, "w2");
    base.provenance.model_served = fake_text(&base, "m1");
    cand.provenance.model_served = fake_text(&cand, "m2");
    cand.provenance.tool_version = fake_text(&cand, "9.9");
    gate_decide_default(&j, &base, &cand);
    cr_assert(eq(sz, j.n_changes, 3));
    cr_assert(eq(str, (char *)j.changes[0].what, "weights"));
    cr_assert(eq(str, (char *)j.changes[1].what, "served model"));
    cr_assert(eq(str, (char *)j.changes[2].what, "tool"));
    cr_assert(j.causes_confounded);
}

/* Four tasks tagged 'zh' lose 0.4, one of them 0.6 more; the others nothing. */
Test(overall, says_which_tags_and_tasks_moved_most)
{
    /* One text: an array of several literals in a row reads like a forgotten comma. */
    static const char tagged[] =
        "{\"tasks\": [{\"id\": \"t00\", \"tags\": [\"zh\", \"all\"]}, {\"id\": \"t01\", \"tags\": [\"zh\", \"all\"]}, "
        "{\"id\": \"t02\", \"tags\": [\"zh\"]}, {\"id\": \"t03\", \"tags\": [\"zh\"]}, {\"id\": \"t04\", \"tags\": "
        "[\"alone\"]}]}";
    static const char by_tag[] = "where intent.alignment moved most, described and not tested: tags 'all' fell "
                                 "by 0.7 (2 tasks), 'zh' fell by 0.55 (4 tasks); tasks 't00' fell by 1, ";
    static const char by_task[] = "not tested: tasks 't00' fell by 1, ";
    static const char *const tasksets[] = {
        tagged, "{\"tasks\": [{\"id\": 3, \"tags\": [4]}, 5, {\"id\": \"t00\", \"tags\": {\"zh\": 1}}]}", "not JSON",
        "[]", NULL};
    static const char *const says[] = {by_tag, by_task, by_task, by_task, by_task};
    size_t i, k;

    for (k = 0; k < sizeof tasksets / sizeof *tasksets; k++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};
        struct cube *c;
        size_t said = 0;

        fake_run(&base, 12, 1, 0, 0);
        fake_run(&cand, 12, 1, 0, 0);
        fake_cube(&base, "intent.alignment", 1);
        c = fake_cube(&cand, "intent.alignment", 1);
        for (i = 0; i < 12; i++)
            c->values[i] -= i < 4 ? 0.4 : 0.05;
        c->values[0] -= 0.6;
        cand.taskset_json = tasksets[k] ? fake_text(&cand, tasksets[k]) : NULL;
        gate_decide_default(&j, &base, &cand);
        cr_assert(j.verdict == VERDICT_REGRESSED, "%s", j.headline);
        for (i = 0; i < j.n_reasons; i++)
            said += strncmp(j.reasons[i], says[k], strlen(says[k])) == 0 || strstr(j.reasons[i], says[k]) != NULL;
        cr_assert(said == 1, "%zu: %s", k, j.reasons[1]);
    }
}

static struct dump_source a_dump(struct run *r, const char *weights)
{
    char *none = fake_text(r, "");
    struct dump_source d = {.path = none,
                            .model_name = fake_text(r, "m"),
                            .weights_sha256 = fake_text(r, weights),
                            .prompt_version = none,
                            .prompt_sha256 = none,
                            .compute_dtype = none,
                            .store_dtype = none,
                            .capture = none,
                            .variant = none};

    return d;
}

/* Whether change k is `what`; NULL: there is none. */
static bool is_change(const struct judgement *j, size_t k, const char *what)
{
    if (k >= j->n_changes)
        return !what;
    return what && strcmp(j->changes[k].what, what) == 0;
}

/* The same change of weights is said once, whether run or dump or both know of it; an unknown model is no other one. */
Test(overall, says_a_change_once)
{
    static const struct {
        const char *run[2], *dump[2], *what[2];
    } rows[] = {{{"", ""}, {"a1", "b2"}, {"weights", NULL}},
                {{"a1", "b2"}, {"a1", "b2"}, {"weights", NULL}},
                {{"a1", "b2"}, {"a1", "c3"}, {"weights", "weights of the dumps"}},
                {{"a1", "a1"}, {"a1", "a1"}, {NULL, NULL}}};
    size_t i, k;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dump_source dumps[2];
        struct run r[2];
        AUTO(judgement) j = {0};

        gate_attention(&r[0], &r[1], (struct gate_change){.n_tasks = 12});
        for (k = 0; k < 2; k++) {
            dumps[k] = a_dump(&r[k], rows[i].dump[k]);
            r[k].provenance.weights_sha256 = fake_text(&r[k], rows[i].run[k]);
            r[k].provenance.dumps = &dumps[k];
            r[k].provenance.n_dumps = 1;
        }
        r[0].provenance.model_served = fake_text(&r[0], "m1");
        gate_decide_default(&j, &r[0], &r[1]);
        for (k = 0; k < 2; k++)
            cr_assert(eq(int, is_change(&j, k, rows[i].what[k]), true), "row %zu, change %zu", i, k);
        cr_assert(not(j.causes_confounded));
        run_done(&r[0]);
        run_done(&r[1]);
    }
}
