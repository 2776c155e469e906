/* What the comparison found, in words and tables. */
#include "core/base/scope.h"
#include "core/gate/limits.h"
#include "reports/html.h"
#include "reports/show.h"

#include <math.h>

enum { WORDS = 600, NAME = 160, STRONGEST = 6, LISTED = 300, LIST_WORDS = 40 };

static void put_fact(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
    html_text(out, value, NAME);
    buf_puts(out, "</dd></div>\n");
}

static void put_facts(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    AUTO(buf) text = {0};

    buf_puts(out, "<dl class=\"facts\">\n");
    buf_printf(&text, "%d", in->exit_code);
    put_fact(out, "exit code", buf_text(&text));
    put_fact(out, "policy", show_policy(j));
    if (in->n_base == 0) { /* nothing was compared */
        buf_puts(out, "</dl>\n");
        return;
    }
    buf_clear(&text);
    buf_printf(&text, "%zu", j->n_pairs);
    put_fact(out, "tasks compared", buf_text(&text));
    buf_clear(&text);
    buf_printf(&text, "%.4g", j->alpha);
    put_fact(out, "alpha", buf_text(&text));
    buf_clear(&text);
    buf_printf(&text, "%s%zu, seed %llu", j->is_enumerated ? "all " : "", j->n_resamples, (unsigned long long)j->seed);
    put_fact(out, j->n_base + j->n_cand > 2 ? "exchanges of runs" : "sign flips", buf_text(&text));
    buf_puts(out, "</dl>\n");
}

static void put_run_banner(struct buf *out, const struct report_input *in)
{
    buf_puts(out, "<header class=\"banner none\"><div>\n<p class=\"who\">one run</p>\n<h1>");
    html_text(out, show_cand(in), NAME);
    buf_puts(out, "</h1>\n");
    if (!in->cand->provenance.is_complete)
        buf_puts(out, "<p>This run is not complete: it was interrupted or lost a part.</p>\n");
    buf_puts(out, "</div></header>\n");
}

void html_banner(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t i;

    if (!j) {
        put_run_banner(out, in);
        return;
    }
    buf_printf(out, "<header class=\"banner %s\" data-verdict=\"%s\" data-exit=\"%d\"><div>\n<p class=\"who\">",
               verdict_name(j->verdict), verdict_name(j->verdict), in->exit_code);
    html_text(out, show_base(in), NAME);
    buf_puts(out, " &rarr; ");
    html_text(out, show_cand(in), NAME);
    buf_printf(out, "</p>\n<h1><span class=\"verdict\">%s</span> ", show_verdict(j->verdict));
    html_text(out, show_headline(j), WORDS);
    buf_puts(out, "</h1>\n<p>");
    {
        AUTO(buf) words = {0};

        show_exit(&words, in);
        buf_puts(out, in->is_gate ? "Gate, " : "Diff, ");
        html_text(out, buf_text(&words), WORDS);
    }
    buf_puts(out, ".</p>\n");
    if (show_n_reasons(j))
        buf_puts(out, "<ul>\n");
    for (i = 0; i < show_n_reasons(j) && i < LIST_WORDS; i++) {
        buf_puts(out, "<li>");
        html_text(out, j->reasons[i], WORDS);
        buf_puts(out, "</li>\n");
    }
    if (show_n_reasons(j))
        buf_puts(out, "</ul>\n");
    put_facts(out, in);
    buf_puts(out, "</div></header>\n");
}

/* The bootstrap's interval, small, under the one that decides. */
static void put_bca(struct buf *out, const struct effect *e)
{
    if (!isfinite(e->bca_lo) || !isfinite(e->bca_hi))
        return;
    buf_puts(out, "<div><small class=\"soft\">BCa ");
    html_interval(out, e->bca_lo, e->bca_hi);
    buf_puts(out, "</small></div>");
}

static void put_finding(struct buf *out, const struct finding *f)
{
    buf_printf(out, "<li class=\"%s %s\"><p>", verdict_name(f->verdict), role_name(f->role));
    html_text(out, show_or(f->words, f->metric), WORDS);
    buf_puts(out, "</p><small>");
    html_chip(out, f->verdict);
    buf_printf(out, ", %s</small></li>\n", role_name(f->role));
}

static void put_finding_row(struct buf *out, const struct finding *f)
{
    buf_printf(out, "<tr class=\"%s\"><th scope=\"row\">", role_name(f->role));
    html_text(out, f->metric, NAME);
    buf_puts(out, "</th><td class=\"any\" data-l=\"where\">");
    html_where(out, &f->where);
    buf_puts(out, "</td>");
    html_cell(out, "base", f->effect.base, show_number);
    html_cell(out, "candidate", f->effect.cand, show_number);
    html_cell(out, "difference", f->effect.delta, show_delta);
    buf_puts(out, "<td class=\"num\" data-l=\"interval\">");
    html_interval(out, f->effect.ci_lo, f->effect.ci_hi);
    put_bca(out, &f->effect);
    buf_puts(out, "</td>");
    html_cell(out, "adjusted p", f->effect.p_adj, show_p);
    buf_puts(out, "<td data-l=\"verdict\">");
    html_chip(out, f->verdict);
    buf_puts(out, "</td></tr>\n");
}

static void put_all_findings(struct buf *out, const struct judgement *j)
{
    size_t n = j->n_findings < LISTED ? j->n_findings : LISTED, i;

    buf_printf(out,
               "<details><summary>All %zu findings</summary>\n<table class=\"cards\"><thead><tr><th>metric</th>"
               "<th>where</th><th class=\"num\">base</th><th class=\"num\">candidate</th><th class=\"num\">difference"
               "</th><th class=\"num\">interval</th><th class=\"num\">adjusted p</th><th>verdict</th></tr></thead>"
               "<tbody>\n",
               j->n_findings);
    for (i = 0; i < n; i++)
        put_finding_row(out, &j->findings[i]);
    buf_puts(out, "</tbody></table>\n");
    if (n < j->n_findings)
        buf_printf(out, "<p class=\"soft\">%zu more are in the CSV and JSON reports.</p>\n", j->n_findings - n);
    buf_puts(out, "</details>\n");
}

void html_findings(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t i;

    if (!j || in->n_base == 0)
        return;
    buf_puts(out, "<section id=\"findings\"><h2>Strongest findings</h2>\n");
    if (j->n_findings == 0)
        buf_puts(out, "<p class=\"lead\">No single cell moved beyond what noise and margins allow.</p>\n");
    else
        buf_puts(out, "<ol class=\"findings\">\n");
    for (i = 0; i < j->n_findings && i < STRONGEST; i++)
        put_finding(out, &j->findings[i]);
    if (j->n_findings)
        buf_puts(out, "</ol>\n");
    if (j->n_findings > STRONGEST)
        put_all_findings(out, j);
    buf_puts(out, "</section>\n");
}

static void put_family(struct buf *out, const struct family *f)
{
    const struct effect *e = &f->effect;

    buf_printf(out, "<tr class=\"data %s %s\"><th scope=\"row\"><code>", role_name(f->role), verdict_name(f->verdict));
    html_text(out, f->metric, NAME);
    buf_puts(out, "</code> <span class=\"unit\">");
    html_text(out, show_unit(f->unit), 20);
    buf_puts(out, "</span></th>");
    html_cell(out, "base", e->base, show_number);
    html_cell(out, "candidate", e->cand, show_number);
    html_cell(out, "difference", e->delta, show_delta);
    buf_puts(out, "<td data-l=\"interval\">");
    html_interval_plot(out, e, f->margin);
    put_bca(out, e);
    buf_puts(out, "</td>");
    html_cell(out, "adjusted p", e->p_adj, show_p);
    html_cell(out, "detectable", e->mde, show_small);
    html_cell(out, "margin", f->margin, show_margin);
    buf_printf(out, "<td class=\"num\" data-l=\"pairs\">%zu</td><td data-l=\"verdict\">", e->n);
    html_chip(out, f->verdict);
    buf_printf(out, "</td></tr>\n<tr class=\"words\"><td colspan=\"10\">%s: ", role_name(f->role));
    html_text(out, show_or(f->words, "nothing to say"), WORDS);
    buf_puts(out, "</td></tr>\n");
}

void html_families(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t i;

    if (!j || j->n_families == 0)
        return;
    buf_printf(
        out,
        "<section id=\"metrics\"><h2>Metrics</h2>\n<p class=\"lead\">Difference is candidate minus base. The bar is "
        "its %.4g&nbsp;%% interval, the test inverted; BCa is the bootstrap's of the same level, for the eye; the "
        "shaded band is the margin within which a difference does not count. "
        "Hollow dots are advisory: they inform and never decide.</p>\n<div class=\"card scroll\">"
        "<table class=\"cards\"><thead><tr><th>metric</th><th class=\"num\">base</th><th class=\"num\">"
        "candidate</th><th class=\"num\">difference</th><th>interval and margin</th><th class=\"num\">adj. p</th>"
        "<th class=\"num\"><abbr title=\"smallest difference that this sample detects with power 0.8\">detectable"
        "</abbr></th><th class=\"num\">margin</th><th class=\"num\">pairs</th><th>verdict</th></tr></thead><tbody>\n",
        100 * (1 - 2 * j->alpha));
    for (i = 0; i < j->n_families; i++)
        put_family(out, &j->families[i]);
    buf_puts(out, "</tbody></table></div></section>\n");
}

/* A row; `n_more`: other places that break the same limit, counted behind the reason. */
static void put_limit(struct buf *out, const struct limit_result *l, size_t n_more)
{
    static const char *const ops[] = {"&lt;", "&le;", "&gt;", "&ge;"};
    enum verdict tone = !l->broken                                                 ? VERDICT_PASS
                        : l->limit.severity == SEVERITY_FAIL && !l->broken_by_base ? VERDICT_REGRESSED
                                                                                   : VERDICT_INCONCLUSIVE;

    buf_puts(out, "<tr><th scope=\"row\"><code>");
    html_text(out, l->metric, NAME);
    buf_puts(out, "</code></th><td class=\"any\" data-l=\"where\">");
    html_where(out, &l->where);
    buf_printf(out, "</td><td class=\"num\" data-l=\"must be\">%s ", ops[l->limit.op]);
    html_number(out, l->limit.value, show_margin);
    buf_puts(out, "</td>");
    html_cell(out, "base", l->base, show_number);
    html_cell(out, "candidate", l->cand, show_number);
    buf_printf(out, "<td data-l=\"result\"><span class=\"chip %s\">%s</span></td><td class=\"any\" data-l=\"reason\">",
               verdict_name(tone),
               !l->broken                  ? "holds"
               : tone == VERDICT_REGRESSED ? "broken"
               : l->broken_by_base         ? "broken before"
                                           : "warning");
    html_text(out, show_or(l->limit.reason, l->words), WORDS);
    show_more_places(out, n_more);
    buf_puts(out, "</td></tr>\n");
}

static void open_limits(struct buf *out)
{
    buf_puts(out, "<table class=\"cards\"><thead><tr><th>metric</th><th>where</th><th class=\"num\">must be</th>"
                  "<th class=\"num\">base</th><th class=\"num\">candidate</th><th>result</th><th>reason</th></tr>"
                  "</thead><tbody>\n");
}

static void put_all_limits(struct buf *out, const struct judgement *j)
{
    size_t n = j->n_limits < LISTED ? j->n_limits : LISTED, i;

    buf_puts(out, "<details><summary>All places</summary>\n<div class=\"card scroll\">");
    open_limits(out);
    for (i = 0; i < n; i++)
        put_limit(out, &j->limits[i], 0);
    buf_puts(out, "</tbody></table></div>\n");
    if (n < j->n_limits)
        buf_printf(out, "<p class=\"soft\">%zu more are in the JSON report.</p>\n", j->n_limits - n);
    buf_puts(out, "</details>\n");
}

static void put_list(struct buf *out, const char *title, const char *const *texts, size_t n)
{
    size_t i;

    if (n == 0)
        return;
    buf_printf(out, "<p><strong>%s</strong> (%zu): ", title, n);
    for (i = 0; i < n && i < LIST_WORDS; i++) {
        buf_puts(out, i ? ", <code>" : "<code>");
        html_text(out, texts[i], NAME);
        buf_puts(out, "</code>");
    }
    buf_puts(out, i < n ? " and more</p>\n" : "</p>\n");
}

void html_limits(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t n_more = 0, i, len;

    if (!j || j->n_limits + j->n_not_measured + j->n_missing + j->n_added == 0)
        return;
    buf_puts(out, "<section id=\"limits\"><h2>Limits and gaps</h2>\n");
    if (j->n_limits) {
        buf_puts(out, "<div class=\"card scroll\">");
        open_limits(out);
    }
    for (i = 0; i < j->n_limits; i += len) {
        len = limits_of_one(j, i);
        put_limit(out, &j->limits[i], len - 1);
        n_more += len - 1;
    }
    if (j->n_limits)
        buf_puts(out, "</tbody></table></div>\n");
    if (n_more)
        put_all_limits(out, j);
    put_list(out, "Not measured", j->not_measured, j->n_not_measured);
    put_list(out, "Tasks of the base alone", j->missing, j->n_missing);
    put_list(out, "Tasks of the candidate alone", j->added, j->n_added);
    buf_puts(out, "</section>\n");
}
