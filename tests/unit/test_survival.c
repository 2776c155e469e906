#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"
#include "tests/support/must.h"

#include <math.h>
#include <string.h>

TestSuite(survival, .init = folder_make, .fini = folder_drop);

static const char both[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
                           "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}";

static bool says(const struct judgement *j, const char *words)
{
    size_t i;

    for (i = 0; i < j->n_reasons; i++)
        if (strstr(j->reasons[i], words))
            return true;
    return false;
}

/* The value of a task's turn, counted from 0, of one repeat and three turns. */
static void forget(struct run *r, size_t task, size_t turn)
{
    run_cube(r, "intent.alignment")->values[task * 3 + turn] = NAN;
}

Test(survival, conversations_that_end_early_are_counted_and_said)
{
    AUTO(judgement) j = {0};
    AUTO(run) base = {0};
    AUTO(run) cand = {0};

    gate_replies(&base, &cand, 12, -1, 0);
    forget(&cand, 0, 2);
    forget(&cand, 1, 2);
    forget(&cand, 1, 1);
    forget(&base, 2, 2);
    forget(&base, 3, 0);
    gate_decide(&j, &base, 1, &cand, both, "");
    cr_assert(j.n_conversations == 12 && j.n_shorter_cand == 2 && j.n_shorter_base == 1);
    cr_assert(says(&j, "of 12 conversations of several turns 2 end earlier in the candidate and 1 in the base"));
}

Test(survival, nothing_is_said_where_all_go_on)
{
    AUTO(judgement) j = {0};
    AUTO(run) base = {0};
    AUTO(run) cand = {0};

    gate_replies(&base, &cand, 12, -1, 0);
    forget(&base, 3, 0);
    gate_decide(&j, &base, 1, &cand, both, "");
    cr_assert(j.n_conversations == 12 && j.n_shorter_cand == 0 && j.n_shorter_base == 0);
    cr_assert(not(says(&j, "conversations")));
}

/* What the base has and the candidate could have, but has not, is no choice of anybody's. */
Test(survival, a_primary_metric_that_is_gone_gives_no_verdict)
{
    AUTO(judgement) j = {0};
    AUTO(run) base = {0};
    AUTO(run) cand = {0};

    gate_replies(&base, &cand, 12, -1, 0);
    fake_cube(&base, "reply.failed", 0);
    fake_cube(&cand, "context.utilization", 0.5);
    gate_decide(&j, &base, 1, &cand, "\"reply.failed\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}", "");
    cr_assert(j.verdict == VERDICT_NONE && j.exit_code == 3, "%s", j.headline);
    cr_assert(says(&j, "reply.failed: not measured in the candidate, though"), "%s", j.headline);
}

/* A run without attention at all was measured without it: the rest is judged, and that is said. */
Test(survival, a_source_that_was_left_out_is_said)
{
    AUTO(judgement) j = {0};
    AUTO(run) base = {0};
    AUTO(run) cand = {0};

    fake_run(&base, 12, 1, 2, 2);
    fake_run(&cand, 12, 1, 0, 0);
    fake_cube(&base, "attn.entropy", 3);
    fake_cube(&base, "intent.alignment", 0.5);
    fake_cube(&cand, "intent.alignment", 0.5);
    gate_decide(&j, &base, 1, &cand, both, "");
    cr_assert(j.verdict == VERDICT_PASS && j.n_not_measured == 1, "%s", j.headline);
    cr_assert(says(&j, "warning: not judged, as the candidate was measured without attention: attn.entropy"));
}
