/* A comment for a pull request, one screen long. The marker in the first line lets a bot find and replace it. */
#include "core/base/scope.h"
#include "core/gate/limits.h"
#include "core/model/span.h"
#include "reports/escape.h"
#include "reports/formats.h"
#include "reports/show.h"

#include <math.h>

enum { WORDS = 240, NAME = 80, LISTED = 12 };

/* Foreign text of at most `columns`, escaped. */
static void put_text(struct buf *out, const char *text, size_t columns)
{
    AUTO(buf) cut = {0};

    show_clip(&cut, show_or(text, ""), columns);
    escape_markdown(out, buf_text(&cut));
    out->failed |= cut.failed;
}

static void put_family(struct buf *out, const struct family *f)
{
    const struct effect *e = &f->effect;

    buf_printf(out, "| %s | ", show_mark(f->role, f->verdict));
    put_text(out, f->metric, NAME);
    if (*show_unit(f->unit)) {
        buf_puts(out, " (");
        put_text(out, show_unit(f->unit), 20);
        buf_putc(out, ')');
    }
    buf_puts(out, " | ");
    show_number(out, e->base);
    buf_puts(out, " | ");
    show_number(out, e->cand);
    buf_puts(out, " | ");
    show_delta(out, e->delta);
    buf_puts(out, " | ");
    show_interval(out, e->ci_lo, e->ci_hi);
    buf_puts(out, " | ");
    show_p(out, e->p_adj);
    buf_puts(out, " | ");
    show_margin(out, f->margin);
    buf_printf(out, " | %s |\n", show_part(f->verdict));
}

static bool is_up_front(const struct family *f)
{
    return f->role == ROLE_PRIMARY || f->verdict == VERDICT_REGRESSED;
}

static void put_families(struct buf *out, const struct judgement *j, bool up_front)
{
    size_t n = 0, i;

    for (i = 0; i < j->n_families; i++)
        n += is_up_front(&j->families[i]) == up_front;
    if (n == 0)
        return;
    buf_printf(out,
               "\n| | metric | base | candidate | delta | %.4g %% interval | p adj. | margin | verdict |\n"
               "| --- | --- | ---: | ---: | ---: | :---: | ---: | ---: | --- |\n",
               100 * (1 - 2 * j->alpha));
    for (i = 0; i < j->n_families; i++)
        if (is_up_front(&j->families[i]) == up_front)
            put_family(out, &j->families[i]);
}

static void put_findings(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t n = j->n_findings < in->max_findings ? j->n_findings : in->max_findings, i;

    if (j->n_findings == 0)
        return;
    buf_puts(out, "\n**Findings**\n\n");
    for (i = 0; i < n; i++) {
        buf_printf(out, "%zu. *%s*%s: ", i + 1, show_part(j->findings[i].verdict),
                   j->findings[i].role == ROLE_PRIMARY ? "" : " (advisory)");
        put_text(out, j->findings[i].words, WORDS);
        buf_putc(out, '\n');
    }
    if (n < j->n_findings)
        buf_printf(out, "\n%zu more findings are not listed.\n", j->n_findings - n);
}

static void put_list(struct buf *out, const char *title, const char *const *texts, size_t n)
{
    size_t shown = n < LISTED ? n : LISTED, i;

    if (n == 0)
        return;
    buf_printf(out, "- %s: ", title);
    for (i = 0; i < shown; i++) {
        buf_puts(out, i ? ", " : "");
        put_text(out, texts[i], NAME);
    }
    if (shown < n)
        buf_printf(out, " and %zu more", n - shown);
    buf_putc(out, '\n');
}

static void put_changes(struct buf *out, const struct judgement *j)
{
    size_t i;

    if (j->n_changes == 0)
        buf_puts(out, "- Nothing that is recorded of the two runs differs.\n");
    for (i = 0; i < j->n_changes; i++) {
        buf_puts(out, "- ");
        put_text(out, j->changes[i].what, NAME);
        buf_puts(out, " changed: ");
        put_text(out, show_or(j->changes[i].base, "not known"), NAME);
        buf_puts(out, " → ");
        put_text(out, show_or(j->changes[i].cand, "not known"), NAME);
        buf_putc(out, '\n');
    }
    if (j->causes_confounded)
        buf_puts(out,
                 "- Several of prompt, weights and served model changed at once: what caused a move cannot be told "
                 "from these runs.\n");
}

static void put_details(struct buf *out, const struct judgement *j)
{
    size_t i, len;

    buf_puts(out, "\n<details><summary>What changed, advisory metrics, limits</summary>\n\n");
    put_changes(out, j);
    for (i = 0; i < j->n_limits; i += len) {
        AUTO(buf) words = {0};

        len = limits_of_one(j, i);
        if (!j->limits[i].broken)
            continue;
        buf_puts(&words, j->limits[i].words);
        show_more_places(&words, len - 1);
        buf_puts(out, "- Limit broken: ");
        put_text(out, buf_text(&words), WORDS);
        buf_putc(out, '\n');
    }
    put_list(out, "Not measured", j->not_measured, j->n_not_measured);
    put_list(out, "Tasks of the base alone", j->missing, j->n_missing);
    put_list(out, "Tasks of the candidate alone", j->added, j->n_added);
    put_families(out, j, false);
    buf_puts(out, "\n</details>\n");
}

static void put_judgement(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t i;

    buf_printf(out, "### tare: %s (", show_verdict(j->verdict));
    show_exit(out, in);
    buf_puts(out, ")\n\n");
    put_text(out, show_headline(j), WORDS);
    buf_puts(out, "\n\n");
    if (in->n_base) {
        put_text(out, show_base(in), NAME);
        buf_puts(out, " → ");
    }
    put_text(out, show_cand(in), NAME);
    if (in->n_base)
        buf_printf(out, ", %zu tasks paired", j->n_pairs);
    buf_puts(out, ", policy ");
    put_text(out, show_policy(j), NAME);
    buf_puts(out, "\n");
    for (i = 0; i < show_n_reasons(j) && i < 3; i++) {
        buf_puts(out, i ? "- " : "\n- ");
        put_text(out, j->reasons[i], WORDS);
        buf_putc(out, '\n');
    }
    put_families(out, j, true);
    put_findings(out, in);
    if (in->n_base)
        put_details(out, j);
}

static void put_run(struct buf *out, const struct report_input *in)
{
    const struct run *r = in->cand;
    size_t i;

    buf_puts(out, "### tare: run ");
    put_text(out, show_cand(in), NAME);
    buf_puts(out, "\n\n| metric | tasks | mean | sd | least | most |\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (i = 0; i < r->n_cubes; i++) {
        struct span s = cube_span_by_unit(&r->cubes[i], 0, NULL);

        buf_puts(out, "| ");
        put_text(out, r->cubes[i].metric, NAME);
        if (*show_unit(r->cubes[i].unit)) {
            buf_puts(out, " (");
            put_text(out, show_unit(r->cubes[i].unit), NAME);
            buf_putc(out, ')');
        }
        buf_printf(out, " | %zu | ", s.n);
        show_number(out, s.mean);
        buf_puts(out, " | ");
        show_small(out, s.sd);
        buf_puts(out, " | ");
        show_number(out, s.min);
        buf_puts(out, " | ");
        show_number(out, s.max);
        buf_puts(out, " |\n");
    }
    for (i = 0; i < r->n_notes && i < LISTED; i++) {
        buf_puts(out, i ? "- " : "\n- ");
        put_text(out, r->notes[i].text, WORDS);
        buf_putc(out, '\n');
    }
}

static void write_markdown(const struct report_input *in, struct buf *out)
{
    buf_puts(out, "<!-- tare:report -->\n");
    if (in->judgement)
        put_judgement(out, in);
    else
        put_run(out, in);
}

const struct report report_markdown = {".md", "Markdown", "a comment for a pull request", write_markdown};
