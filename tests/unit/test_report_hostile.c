#include "core/base/scope.h"
#include "reports/show.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <utf8proc.h>

static void render(const struct fake *f, const char *path, struct buf *out)
{
    const struct report *format = NULL;

    cr_assert(report_find(path, &format, NULL) == OK);
    format->write(&f->input, out);
    cr_assert(buf_check(out, NULL) == OK);
}

static bool is_utf8(const struct buf *b)
{
    const utf8proc_uint8_t *s = (const utf8proc_uint8_t *)buf_text(b);
    utf8proc_int32_t code;

    while (*s) {
        utf8proc_ssize_t n = utf8proc_iterate(s, -1, &code);

        if (n <= 0)
            return false;
        s += n;
    }
    return true;
}

/* XML and HTML: no control characters but tab and line ends. */
static bool has_controls(const struct buf *b)
{
    size_t i;

    for (i = 0; i < b->len; i++)
        if ((unsigned char)b->data[i] < 0x20 && !strchr("\t\n\r", b->data[i]))
            return true;
    return false;
}

static void check_lines(const struct buf *text)
{
    const char *line = buf_text(text);

    while (*line) {
        AUTO(buf) one = {0};
        size_t len = strcspn(line, "\n");

        buf_append(&one, line, len);
        cr_assert(show_width(buf_text(&one)) <= 100, "%zu columns: %s", show_width(buf_text(&one)), buf_text(&one));
        line += len + (line[len] == '\n');
    }
}

static void check_all(const struct fake *f)
{
    static const char *const paths[] = {"a.html", "a.md", "a.json", "a.csv", "a.junit.xml", "a.prom", "a.txt"};
    size_t i;

    for (i = 0; i < sizeof paths / sizeof *paths; i++) {
        AUTO(buf) out = {0};
        json_error_t where;
        json_t *root;

        render(f, paths[i], &out);
        cr_assert(is_utf8(&out), "%s", paths[i]);
        cr_assert(i == 2 || i == 3 || i == 5 || i == 6 || !strstr(buf_text(&out), "<script"), "%s", paths[i]);
        cr_assert(i == 3 || i == 5 || !strchr(buf_text(&out), 0x1b), "%s", paths[i]);
        if (i == 0 || i == 4)
            cr_assert(not(has_controls(&out)), "%s", paths[i]);
        if (i == 6)
            check_lines(&out);
        if (i != 2)
            continue;
        root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &where);
        cr_assert(root != NULL, "line %d: %s", where.line, where.text);
        json_decref(root);
    }
}

Test(report_hostile, foreign_text_breaks_no_format)
{
    static const char *const texts[] = {"<script>alert(1)</script>",
                                        "a|b|c\n| d |",
                                        "\"><img src=x onerror=alert(1)>",
                                        "\x1b[2J\x1b]0;owned\x07",
                                        "\x01\x02\x7f\xc2\x85\xef\xbf\xbe",
                                        "\xff\xfe\xc0\xaf\xed\xa0\x80",
                                        "]]></failure><testcase name='x'/>",
                                        "\xe2\x80\xae\144rowssap",
                                        "%s%n%d",
                                        "'; DROP TABLE",
                                        "-->\n<!--",
                                        "=cmd|' /C calc'!A0",
                                        ""};
    size_t i;

    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fake f;

        fake_init(&f);
        fake_hostile(&f, texts[i]);
        check_all(&f);
        f.input.judgement = NULL;
        check_all(&f);
        fake_done(&f);
    }
}

Test(report_hostile, words_of_ten_thousand_characters_are_cut_for_people)
{
    AUTO(buf) narrow = {0};
    AUTO(buf) wide = {0};
    AUTO(buf) markdown = {0};
    struct fake f;
    size_t i;

    for (i = 0; i < 10000; i++) {
        buf_putc(&narrow, 'w');
        buf_puts(&wide, "\xe5\x8d\x95");
    }
    fake_init(&f);
    fake_hostile(&f, buf_text(&narrow));
    check_all(&f);
    render(&f, "a.md", &markdown);
    cr_assert(markdown.len < 12000, "%zu bytes are no comment", markdown.len);
    fake_hostile(&f, buf_text(&wide));
    check_all(&f);
    fake_done(&f);
}

Test(report_hostile, no_number_is_shown_where_there_is_none)
{
    struct fake f;
    size_t i;

    fake_init(&f);
    for (i = 0; i < f.judgement.n_families; i++) {
        double bad = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -1e300;

        f.judgement.families[i].effect = (struct effect){0, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad};
        f.judgement.families[i].margin = bad;
    }
    for (i = 0; i < f.cand.cubes[0].dim[AXIS_TASK]; i++)
        f.cand.cubes[0].values[i] = i % 2 ? INFINITY : 1e308;
    check_all(&f);
    fake_done(&f);
}
