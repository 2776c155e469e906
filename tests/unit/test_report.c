#include "core/base/file.h"
#include "core/base/scope.h"
#include "reports/report.h"
#include "reports/show.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void render(const struct fake *f, const char *path, struct buf *out)
{
    const struct report *format = NULL;

    cr_assert(report_find(path, &format, NULL) == OK);
    format->write(&f->input, out);
    cr_assert(buf_check(out, NULL) == OK);
}

/* True when `text` holds the printf of `fmt` with the word. */
static bool says(const struct buf *text, const char *fmt, const char *word)
{
    char want[160];

    snprintf(want, sizeof want, fmt, word);
    return strstr(buf_text(text), want) != NULL;
}

static void upper(char *text)
{
    for (; *text; text++)
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
}

Test(report, the_longest_suffix_wins)
{
    static const struct {
        const char *path, *suffix;
    } table[] = {{"a.html", ".html"},      {"dir.md/a.json", ".json"}, {"x.junit.xml", ".junit.xml"},
                 {"a.b.prom", ".prom"},    {"a.txt", ".txt"},          {"a.csv", ".csv"},
                 {"out/a.html.md", ".md"}, {"a.svg", ".svg"},          {"a.png", ".png"}};
    size_t i;

    for (i = 0; i < sizeof table / sizeof *table; i++) {
        const struct report *format = NULL;

        cr_assert(report_find(table[i].path, &format, NULL) == OK);
        cr_assert(eq(str, (char *)format->suffix, (char *)table[i].suffix));
    }
}

Test(report, an_unknown_suffix_is_a_usage_error_that_lists_all)
{
    static const char *const bad[] = {"a.xml", "a", "a.HTML", "html", "a.html/b", ""};
    size_t n, i, k;
    const struct report *const *all = reports_all(&n);

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        const struct report *format = NULL;

        cr_assert(report_find(bad[i], &format, &err) == ERR_USAGE, "%s", bad[i]);
        cr_assert(format == NULL);
        for (k = 0; k < n; k++)
            cr_assert(strstr(err.message, all[k]->suffix) != NULL, "%s", err.message);
    }
}

Test(report, nothing_is_written_when_one_path_is_wrong)
{
    char dir[] = "/tmp/tare-report-XXXXXX", good[64], bad[64], gone[64];
    struct error err = {0};
    struct fake f;

    fake_init(&f);
    cr_assert(mkdtemp(dir) != NULL);
    snprintf(good, sizeof good, "%s/a.html", dir);
    snprintf(bad, sizeof bad, "%s/a.docx", dir);
    snprintf(gone, sizeof gone, "%s/none/a.md", dir);
    cr_assert(reports_write(&f.input, (const char *const[]){good, bad}, 2, &err) == ERR_USAGE);
    error_clear(&err);
    cr_assert(reports_write(&f.input, (const char *const[]){good, gone}, 2, &err) == ERR_IO);
    cr_assert(strstr(err.message, "none") != NULL, "%s", err.message);
    error_clear(&err);
    cr_assert(reports_write(&f.input, (const char *const[]){good, good}, 2, &err) == ERR_USAGE);
    cr_assert(not(file_exists(good)));
    cr_assert(reports_write(&f.input, (const char *const[]){good}, 1, NULL) == OK);
    cr_assert(file_exists(good));
    unlink(good);
    cr_assert(rmdir(dir) == 0, "nothing else is left");
    fake_done(&f);
}

/* Every format says the verdict and the exit code that it was given. */
static void check_agreement(struct fake *f, enum verdict v, int exit_code)
{
    const char *name = verdict_name(v);
    char loud[24], code[24];
    AUTO(buf) json = {0};
    AUTO(buf) html = {0};
    AUTO(buf) markdown = {0};
    AUTO(buf) csv = {0};
    AUTO(buf) junit = {0};
    AUTO(buf) prom = {0};
    AUTO(buf) text = {0};

    fake_verdict(f, v, exit_code);
    snprintf(loud, sizeof loud, "%s", show_verdict(v));
    upper(loud);
    snprintf(code, sizeof code, "%d", exit_code);
    render(f, "a.json", &json);
    cr_assert(says(&json, "\n  \"verdict\": \"%s\",", name) && says(&json, "\n  \"exit\": %s,", code));
    render(f, "a.html", &html);
    cr_assert(says(&html, "data-verdict=\"%s\"", name) && says(&html, "data-exit=\"%s\"", code));
    cr_assert(says(&html, "exit code %s", code));
    render(f, "a.md", &markdown);
    cr_assert(says(&markdown, "### tare: %s (exit code", show_verdict(v)) && says(&markdown, "(exit code %s:", code));
    render(f, "a.csv", &csv);
    cr_assert(says(&csv, "\nverdict,,,,,,,16,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan,%s,,", name));
    render(f, "a.junit.xml", &junit);
    cr_assert(says(&junit, "name=\"verdict\" value=\"%s\"", name) && says(&junit, "name=\"exit\" value=\"%s\"", code));
    render(f, "a.prom", &prom);
    cr_assert(says(&prom, "tare_verdict{verdict=\"%s\"} 1\n", name) && says(&prom, "\ntare_exit_code %s\n", code));
    render(f, "a.txt", &text);
    cr_assert(strncmp(buf_text(&text), loud, strlen(loud)) == 0 && says(&text, "exit code %s:", code));
}

Test(report, all_formats_agree_on_every_verdict_and_exit_code)
{
    static const int codes[] = {0, 1, 3};
    struct fake f;
    size_t i;
    int v;

    fake_init(&f);
    for (v = VERDICT_NONE; v <= VERDICT_REGRESSED; v++)
        for (i = 0; i < sizeof codes / sizeof *codes; i++)
            check_agreement(&f, (enum verdict)v, codes[i]);
    fake_done(&f);
}

Test(report, a_judgement_without_anything_in_it_can_be_shown)
{
    struct judgement empty = {0};
    struct fake f;
    size_t n, i;
    const struct report *const *all = reports_all(&n);

    fake_init(&f);
    f.input.judgement = &empty;
    f.input.base_name = f.input.cand_name = NULL;
    for (i = 0; i < n; i++) {
        AUTO(buf) out = {0};

        if (!all[i]->write)
            continue;
        all[i]->write(&f.input, &out);
        cr_assert(out.len > 0 && !out.failed, "%s", all[i]->suffix);
    }
    fake_done(&f);
}

Test(report, what_could_not_be_compared_says_why_once)
{
    static const char *const suffixes[] = {"x.md", "x.txt", "x.html"};
    static const char why[] = "no baseline of this name";
    const char *reasons[] = {why};
    struct judgement none = {.headline = why, .reasons = reasons, .n_reasons = 1, .exit_code = 3};
    struct error err = {0};
    struct fake f;
    size_t i;

    fake_init(&f);
    f.input.judgement = &none;
    f.input.base = NULL;
    f.input.n_base = 0;
    f.input.is_gate = true;
    f.input.exit_code = 3;
    for (i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const struct report *r;
        AUTO(buf) out = {0};
        const char *at;

        cr_assert(report_find(suffixes[i], &r, &err) == OK);
        r->write(&f.input, &out);
        at = strstr(buf_text(&out), why);
        cr_assert(at != NULL && strstr(at + 1, why) == NULL, "%s", suffixes[i]);
        cr_assert(strstr(buf_text(&out), "differs") == NULL && strstr(buf_text(&out), "margins allow") == NULL, "%s",
                  suffixes[i]);
    }
    fake_done(&f);
}

Test(report, the_exit_code_says_whose_wish_it_is)
{
    AUTO(buf) by_policy = {0};
    AUTO(buf) by_option = {0};
    struct judgement j = {.verdict = VERDICT_REGRESSED, .exit_code = 1};
    struct report_input in = {.judgement = &j, .is_gate = true, .exit_code = 1};

    show_exit(&by_policy, &in);
    cr_assert(eq(str, (char *)buf_text(&by_policy), "exit code 1: a regression, the release is stopped"));
    in.exit_code = 0;
    show_exit(&by_option, &in);
    cr_assert(eq(str, (char *)buf_text(&by_option),
                 "exit code 0, as --exit-zero or --fail-on asks; by the policy it is 1: a regression, the release is "
                 "stopped"));
}

Test(report, one_run_and_an_empty_run_can_be_shown)
{
    struct run empty;
    struct fake f;
    size_t n, i, k;
    const struct report *const *all = reports_all(&n);

    fake_init(&f);
    cr_assert(run_init(&empty, NULL) == OK);
    f.input.judgement = NULL;
    f.input.base = NULL;
    f.input.n_base = 0;
    for (k = 0; k < 2; k++) {
        for (i = 0; i < n; i++) {
            AUTO(buf) out = {0};

            if (!all[i]->write)
                continue;
            all[i]->write(&f.input, &out);
            cr_assert(out.len > 0 && !out.failed, "%s", all[i]->suffix);
        }
        f.input.cand = &empty;
    }
    run_done(&empty);
    fake_done(&f);
}

Test(report, equal_inputs_give_equal_bytes)
{
    struct fake a, b;
    size_t n, i;
    const struct report *const *all = reports_all(&n);

    fake_init(&a);
    fake_init(&b);
    for (i = 0; i < n; i++) {
        AUTO(buf) x = {0};
        AUTO(buf) y = {0};

        if (!all[i]->write)
            continue;
        all[i]->write(&a.input, &x);
        all[i]->write(&b.input, &y);
        cr_assert(x.len == y.len && memcmp(x.data, y.data, x.len) == 0, "%s", all[i]->suffix);
    }
    fake_done(&a);
    fake_done(&b);
}
