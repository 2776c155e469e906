#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(luck, .init = folder_make, .fini = folder_drop);

static const char both[] = "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}, "
                           "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}";

static const char *sentence(const struct judgement *j, const char *words)
{
    size_t i;

    for (i = 0; i < j->n_reasons; i++)
        if (strstr(j->reasons[i], words))
            return j->reasons[i];
    return NULL;
}

static void sampled(struct run *r, const char *sampling)
{
    r->provenance.sampling = fake_text(r, sampling);
}

Test(luck, is_warned_of_where_drawn_replies_moved)
{
    static const struct {
        const char *sampling;
        double shift;
        const char *says; /* NULL: nothing of luck */
    } rows[] = {
        {"{\"temperature\":0.7}", -0.3,
         "warning: the replies were sampled at temperature 0.7: where the server draws a whole run from one seed, "
         "tasks share their luck, which p over tasks does not count; let it draw one for each request before relying "
         "on intent.alignment"},
        {"{\"seed\":7,\"temperature\":1}", 0.2,
         "at temperature 1 with one seed for all requests: tasks share their luck"},
        {"{\"top_p\":0.9}", -0.3, "sampled at the temperature that the server chose: where"},
        {"{\"temperature\":0}", -0.3, NULL},
        {"{\"temperature\":0.7}", 0, NULL},
        {"", -0.3, NULL},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(judgement) j = {0};
        AUTO(run) base = {0};
        AUTO(run) cand = {0};

        gate_replies(&base, &cand, 12, -1, rows[i].shift);
        sampled(&base, rows[i].sampling);
        sampled(&cand, rows[i].sampling);
        gate_decide(&j, &base, 1, &cand, both, "");
        cr_assert(eq(int, sentence(&j, "share their luck") != NULL, rows[i].says != NULL), "row %zu: %s", i,
                  j.headline);
        cr_assert(rows[i].says == NULL || sentence(&j, rows[i].says) != NULL, "row %zu: %s", i, sentence(&j, "luck"));
    }
}

/* scipy.stats.ttest_ind([0.4, 0.5], [0.7, 0.71]).pvalue = 0.0367 */
Test(luck, several_runs_on_both_sides_are_tested_as_runs_beside)
{
    static const double value[4] = {0.7, 0.71, 0.4, 0.5};
    AUTO(judgement) j = {0};
    const char *words;
    struct run runs[4];
    size_t i;

    for (i = 0; i < 4; i++) {
        fake_run(&runs[i], 12, 1, 0, 0);
        fake_cube(&runs[i], "intent.alignment", value[i]);
        sampled(&runs[i], "{\"temperature\":0.7}");
    }
    gate_decide_runs(&j, runs, 2, runs + 2, 2, both, "");
    cr_assert(j.verdict == VERDICT_REGRESSED, "%s", j.headline);
    words = sentence(&j, "share their luck");
    cr_assert(words != NULL);
    cr_assert(strstr(words, "intent.alignment; the means of 2 runs against those of 2 differ with p = 0.037") != NULL,
              "%s", words);
    for (i = 0; i < 4; i++)
        run_done(&runs[i]);
}
