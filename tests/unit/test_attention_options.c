#include "core/base/scope.h"
#include "core/metrics/attention_options.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(attention_options, epsilons_are_read_and_come_back)
{
    static const struct {
        const char *text, *again;
        enum eps_form form;
        double eps;
    } rows[] = {{"add:1e-9", "add:1e-09", EPS_ADD_IN_LOG, 1e-9},
                {"clamp:0.000001", "clamp:1e-06", EPS_CLAMP, 1e-6},
                {"none", "none", EPS_NONE, 0}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attention_options o = attention_options_default();
        struct error err = {0};
        AUTO(buf) text = {0};

        MUST(attention_options_eps(&o, "--entropy-eps", rows[i].text, &err));
        cr_assert(o.eps_form == rows[i].form && o.entropy_eps == rows[i].eps);
        attention_options_eps_text(&o, &text);
        cr_assert(eq(str, (char *)buf_text(&text), (char *)rows[i].again));
    }
}

Test(attention_options, what_is_no_epsilon_is_refused)
{
    static const char *const rows[] = {"",          "1e-9",      "add",        "add:",     "add:0",   "add:1",
                                       "add:-1e-9", "add:nan",   "a:0.1",      "adds:0.1", ":1e-9",   "clamp:inf",
                                       "none:0",    "add:1e-9x", "add:1e-9:1", "ADD:1e-9", "clamp:2", "add 1e-9"};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attention_options o = attention_options_default();
        struct error err = {0};

        cr_assert(attention_options_eps(&o, "--entropy-eps", rows[i], &err) == ERR_USAGE, "'%s' was taken", rows[i]);
        cr_assert(o.eps_form == EPS_NONE);
    }
}

Test(attention_options, collapse_numbers_are_three)
{
    static const char *const bad[] = {"",           "0.15",       "0.15,0.95",   "0.15,0.95,3,4", "0.15,0.95,3,",
                                      "0,0.95,3",   "0.15,1.5,3", "0.15,0.95,0", "0.15,0.95,2.5", "0.15,0.95,x",
                                      "nan,0.95,3", "0.15,,3",    "0.15 0.95 3", "-1,0.95,3",     "0.15,0.95,1e9",
                                      ",0.95,3"};
    struct collapse c = {0};
    struct error err = {0};
    AUTO(buf) text = {0};
    size_t i;

    MUST(collapse_parse(&c, "--collapse", "0.25,0.9,5", &err));
    cr_assert(c.bits == 0.25 && c.weight == 0.9 && c.samples == 5);
    collapse_text(&c, &text);
    cr_assert(eq(str, (char *)buf_text(&text), "0.25,0.9,5"));
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error why = {0};

        cr_assert(collapse_parse(&c, "--collapse", bad[i], &why) == ERR_USAGE, "'%s' was taken", bad[i]);
    }
    cr_assert(c.samples == 5);
}

Test(attention_options, of_two_runs_say_how_they_differ)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(buf) words = {0};
    struct attention_options o = attention_options_default();
    struct error err = {0};

    fake_run(&base, 1, 1, 1, 1);
    fake_run(&cand, 1, 1, 1, 1);
    MUST(attention_options_keep(&o, &cand, &err));
    MUST(attention_options_differ(&base, &cand, &words, &err));
    cr_assert(eq(sz, words.len, 0)); /* a run of before these options has the defaults */
    o.check_mask = true;
    o.implicit_sink = true;
    o.collapse.samples = 5;
    MUST(attention_options_keep(&o, &cand, &err));
    MUST(attention_options_differ(&base, &cand, &words, &err));
    cr_assert(eq(str, (char *)buf_text(&words),
                 "implicit sink base no, candidate yes; collapse numbers base 0.15,0.95,3, candidate 0.15,0.95,5"));
}
