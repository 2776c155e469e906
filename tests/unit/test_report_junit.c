#include "core/base/scope.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void render(const struct fake *f, struct buf *out)
{
    const struct report *format = NULL;

    cr_assert(report_find("a.junit.xml", &format, NULL) == OK);
    format->write(&f->input, out);
    cr_assert(buf_check(out, NULL) == OK);
}

/* The attribute of the document's own element. */
static long total(const struct buf *b, const char *name)
{
    const char *top = strstr(buf_text(b), "<testsuites"), *at;
    char want[32];

    snprintf(want, sizeof want, " %s=\"", name);
    at = top ? strstr(top, want) : NULL;
    return at ? strtol(at + strlen(want), NULL, 10) : -1;
}

static void check_totals(const struct buf *b)
{
    cr_assert(total(b, "tests") == (long)count(buf_text(b), "<testcase "));
    cr_assert(total(b, "failures") == (long)count(buf_text(b), "<failure "));
    cr_assert(total(b, "errors") == (long)count(buf_text(b), "<error "));
    cr_assert(total(b, "skipped") == (long)count(buf_text(b), "<skipped "));
}

Test(report_junit, counts_are_those_of_the_elements)
{
    struct fake f;
    int v;

    fake_init(&f);
    for (v = VERDICT_NONE; v <= VERDICT_REGRESSED; v++) {
        AUTO(buf) out = {0};

        fake_verdict(&f, (enum verdict)v, v == VERDICT_NONE ? 3 : 0);
        render(&f, &out);
        check_totals(&out);
    }
    fake_done(&f);
}

Test(report_junit, an_advisory_regression_fails_nothing)
{
    AUTO(buf) out = {0};
    struct fake f;
    size_t i;

    fake_init(&f);
    fake_verdict(&f, VERDICT_PASS, 0);
    f.judgement.n_limits = 0;
    for (i = 0; i < f.judgement.n_families; i++) {
        f.judgement.families[i].role = ROLE_ADVISORY;
        f.judgement.families[i].verdict = VERDICT_REGRESSED;
    }
    f.judgement.n_findings = 0;
    render(&f, &out);
    check_totals(&out);
    cr_assert(total(&out, "failures") == 0 && total(&out, "errors") == 0);
    fake_done(&f);
}

Test(report_junit, lists_at_most_max_findings_and_counts_the_rest)
{
    AUTO(buf) out = {0};
    struct fake f;
    size_t i;

    fake_init(&f);
    for (i = 0; i < f.judgement.n_findings; i++)
        f.judgement.findings[i].verdict = VERDICT_REGRESSED;
    f.input.max_findings = 3;
    render(&f, &out);
    check_totals(&out);
    cr_assert(count(buf_text(&out), "classname=\"tare.primary.") == 3);
    cr_assert(strstr(buf_text(&out), "11 more regressed cells") != NULL);
    fake_done(&f);
}

Test(report_junit, an_exit_code_of_no_verdict_is_an_error)
{
    AUTO(buf) out = {0};
    struct fake f;

    fake_init(&f);
    fake_verdict(&f, VERDICT_INCONCLUSIVE, 3);
    render(&f, &out);
    check_totals(&out);
    cr_assert(total(&out, "errors") == 1);
    fake_done(&f);
}
