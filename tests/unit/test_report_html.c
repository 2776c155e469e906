#include "core/base/scope.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static void render(const struct fake *f, struct buf *out)
{
    const struct report *format = NULL;

    cr_assert(report_find("a.html", &format, NULL) == OK);
    format->write(&f->input, out);
    cr_assert(buf_check(out, NULL) == OK);
}

enum { DEPTH = 64, NAME = 16 };

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0;
}

/* Every element is closed by its own end tag, in order; fails with the place where it is not. */
static void check_nesting(const char *at)
{
    char open[DEPTH][NAME];
    size_t depth = 0;

    while ((at = strchr(at, '<'))) {
        bool is_end = at[1] == '/';
        const char *name = at + 1 + is_end, *end = strchr(at, '>');
        size_t len = strcspn(name, " />\n");

        cr_assert(end != NULL && len < NAME, "%.40s", at);
        if (*name == '!') {
            at = end;
            continue;
        }
        cr_assert(is_end ? depth > 0 : depth < DEPTH, "%.40s", at);
        if (is_end) {
            depth--;
            cr_assert(strlen(open[depth]) == len && memcmp(open[depth], name, len) == 0, "'%s' is open at %.60s",
                      open[depth], at);
        } else {
            memcpy(open[depth], name, len);
            open[depth][len] = '\0';
            depth += end[-1] != '/' && !is_void(open[depth]);
        }
        at = end;
    }
    cr_assert(depth == 0);
}

static void check_page(const struct fake *f)
{
    static const char *const foreign[] = {"http:", "https:", "url(",    "@import", "<script",
                                          "src=",  "=\"nan", "=\"-nan", "=\"inf",  "=\"-inf"};
    AUTO(buf) out = {0};
    size_t i;

    render(f, &out);
    check_nesting(strstr(buf_text(&out), "<html"));
    for (i = 0; i < sizeof foreign / sizeof *foreign; i++)
        cr_assert(strstr(buf_text(&out), foreign[i]) == NULL, "%s", foreign[i]);
}

Test(report_html, is_well_nested_and_needs_nothing_from_outside)
{
    struct fake f;

    fake_init(&f);
    check_page(&f);
    f.input.judgement = NULL;
    check_page(&f);
    f.input.base = NULL;
    f.input.n_base = 0;
    check_page(&f);
    fake_done(&f);
}

Test(report_html, survives_values_without_a_size)
{
    static const double bad[] = {0, 1e308, -1e308, 1e-320};
    size_t i, k, v;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fake f;

        fake_init(&f);
        for (k = 0; k < f.cand.n_cubes; k++)
            for (v = 0; v < cube_len(&f.cand.cubes[k]); v++)
                f.cand.cubes[k].values[v] = bad[(i + v) % (i ? 4 : 1)];
        for (k = 0; k < f.judgement.n_families; k++)
            f.judgement.families[k].effect.delta = f.judgement.families[k].margin = bad[i];
        check_page(&f);
        fake_done(&f);
    }
}

Test(report_html, outlines_the_cells_of_the_findings)
{
    AUTO(buf) out = {0};
    struct fake f;
    size_t n = 0;
    const char *at;

    fake_init(&f);
    render(&f, &out);
    for (at = buf_text(&out); (at = strstr(at, "class=\"beyond\"")); at++)
        n++;
    cr_assert(n == f.judgement.n_findings - 1, "all but the one of a turn stand in the map");
    cr_assert(strstr(buf_text(&out), "<title>layer 9, head 2: ") != NULL);
    fake_done(&f);
}
