#include "core/base/scope.h"
#include "reports/escape.h"
#include "reports/show.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

struct shown {
    double value;
    void (*show)(struct buf *out, double value);
    const char *text;
};

Test(show, numbers_have_the_digits_that_people_read)
{
    static const struct shown table[] = {
        {0.81234567, show_number, "0.8123"},
        {1243.4, show_number, "1243"},
        {0, show_number, "0"},
        {-0.0, show_number, "0"},
        {NAN, show_number, "-"},
        {INFINITY, show_number, "inf"},
        {-INFINITY, show_delta, "-inf"},
        {0.0123, show_delta, "+0.0123"},
        {-0.1, show_delta, "-0.100"},
        {1.23e-5, show_number, "1.2e-5"},
        {-1e-300, show_delta, "-1.0e-300"},
        {1e300, show_number, "1.0e300"},
        {2e7, show_number, "2.0e7"},
        {0.05, show_margin, "0.05"},
        {NAN, show_margin, "-"},
        {0.00003, show_p, "<0.0001"},
        {0.0312, show_p, "0.0312"},
        {1, show_p, "1.00"},
        {NAN, show_p, "-"},
    };
    size_t i;

    for (i = 0; i < sizeof table / sizeof *table; i++) {
        AUTO(buf) b = {0};

        table[i].show(&b, table[i].value);
        cr_assert(eq(str, (char *)buf_text(&b), (char *)table[i].text), "row %zu", i);
    }
}

Test(show, width_counts_columns_and_not_bytes)
{
    cr_assert(eq(sz, show_width("abc"), 3));
    cr_assert(eq(sz, show_width("\xe8\xae\xa2\xe5\x8d\x95"), 4), "two wide characters");
    cr_assert(eq(sz, show_width("e\xcc\x81"), 1), "a combining accent takes no column");
}

Test(show, a_cut_never_splits_a_character_and_never_passes_its_width)
{
    size_t columns;

    for (columns = 1; columns < 12; columns++) {
        AUTO(buf) b = {0};
        AUTO(buf) again = {0};

        show_clip(&b,
                  "\xe8\xae\xa2\xe5\x8d\x95 a\xff\x1b[31m\n\xe2\x80\xae"
                  "end",
                  columns);
        cr_assert(show_width(buf_text(&b)) <= columns, "%zu columns: %s", columns, buf_text(&b));
        escape_terminal(&again, buf_text(&b));
        cr_assert(eq(str, (char *)buf_text(&b), (char *)buf_text(&again)), "clean already");
        cr_assert(strpbrk(buf_text(&b), "\n\x1b") == NULL);
    }
}

Test(show, lines_break_at_blanks_and_long_words_are_cut_hard)
{
    AUTO(buf) b = {0};
    AUTO(buf) word = {0};
    const char *line;
    size_t i;

    for (i = 0; i < 500; i++)
        buf_putc(&word, 'x');
    buf_puts(&word, " and then some words that are short");
    show_wrap(&b, buf_text(&word), 4, 40);
    for (line = buf_text(&b); line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        cr_assert(strcspn(line, "\n") <= 40, "%.*s", (int)strcspn(line, "\n"), line);
}

Test(escape, keeps_each_format_safe)
{
    static const char hostile[] = "<b>|\"\\\n\x01\xff@a`";
    AUTO(buf) xml = {0};
    AUTO(buf) markdown = {0};
    AUTO(buf) json = {0};
    AUTO(buf) prometheus = {0};
    AUTO(buf) csv = {0};

    escape_xml(&xml, hostile);
    cr_assert(eq(str, xml.data, "&lt;b&gt;|&quot;\\\n\xef\xbf\xbd\xef\xbf\xbd@a`"));
    escape_markdown(&markdown, hostile);
    cr_assert(eq(str, markdown.data,
                 "&lt;b&gt;\\|\"\\\\ \xef\xbf\xbd\xef\xbf\xbd\\@\xe2\x80\x8b"
                 "a\\`"));
    escape_json(&json, hostile);
    cr_assert(eq(str, json.data, "<b>|\\\"\\\\\\u000a\\u0001\xef\xbf\xbd@a`"));
    escape_prometheus(&prometheus, hostile);
    cr_assert(eq(str, prometheus.data, "<b>|\\\"\\\\\\n\x01\xef\xbf\xbd@a`"));
    escape_csv(&csv, hostile);
    cr_assert(eq(str, csv.data, "\"<b>|\"\"\\\n\x01\xef\xbf\xbd@a`\""));
}
