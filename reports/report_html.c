/* One page that needs nothing else: no script, no font, no picture from anywhere. */
#include "core/base/scope.h"
#include "reports/formats.h"
#include "reports/html.h"
#include "reports/show.h"

#include <string.h>

static void put_head(struct buf *out, const struct report_input *in)
{
    buf_puts(out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
             "img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    if (in->judgement)
        buf_printf(out, "%s: ", verdict_name(in->judgement->verdict));
    html_text(out, show_cand(in), 80);
    buf_puts(out, " - tare</title>\n<style>\n");
    buf_puts(out, html_style);
    buf_puts(out, "</style>\n</head>\n<body>\n");
}

static void put_nav(struct buf *out, const struct buf *body)
{
    static const struct {
        const char *id, *name;
    } parts[] = {{"changed", "What changed"}, {"findings", "Findings"},      {"metrics", "Metrics"},
                 {"turns", "Turns"},          {"attention", "Attention"},    {"tasks", "Tasks"},
                 {"latency", "Latency"},      {"limits", "Limits and gaps"}, {"calibration", "Calibration"},
                 {"notes", "Notes"},          {"provenance", "Provenance"},  {"read", "How to read this page"}};
    size_t i;

    buf_puts(out, "<nav aria-label=\"parts of the page\">");
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        AUTO(buf) tag = {0};

        buf_printf(&tag, "<section id=\"%s\">", parts[i].id);
        if (strstr(buf_text(body), buf_text(&tag)))
            buf_printf(out, "<a href=\"#%s\">%s</a> ", parts[i].id, parts[i].name);
    }
    buf_puts(out, "</nav>\n");
}

static void put_reading(struct buf *out, bool has_verdict)
{
    buf_puts(out, "<section id=\"read\"><h2>How to read this page</h2>\n<ul class=\"read\">\n");
    if (has_verdict)
        buf_puts(out,
                 "<li>The verdict follows from primary metrics and limits alone; advisory metrics inform and never "
                 "decide.</li>\n<li>A metric passes when its whole interval lies inside the margin: it is shown to be "
                 "as good, not merely not shown to be worse.</li>\n<li>Inconclusive means that this sample is too "
                 "small or too noisy to tell; it is neither good nor bad news, and \"detectable\" says how large an "
                 "effect would have been seen.</li>\n<li>Adjusted p accounts for how many cells and metrics were "
                 "looked at; a small p with a difference inside the margin is real and does not matter.</li>\n");
    else
        buf_puts(out,
                 "<li>These are the numbers of one run: whether they are good or bad shows in comparison with "
                 "another.</li>\n<li>Means count each task once, however many turns, layers and heads it has.</li>\n");
    buf_puts(out,
             "<li>An internal metric such as attention entropy shows that something moved inside the model; alone it "
             "proves neither cause nor harm.</li>\n</ul></section>\n");
}

static void put_body(struct buf *out, const struct series *s)
{
    const struct report_input *in = s->in;

    html_changes(out, in);
    html_findings(out, in);
    html_families(out, in);
    html_metrics(out, in);
    html_turns(out, s);
    html_attention(out, s);
    html_tasks(out, s);
    html_latency(out, s);
    html_limits(out, in);
    html_calibration(out, in);
    html_notes(out, in);
    html_provenance(out, in);
    put_reading(out, in->judgement != NULL);
}

static void write_html(const struct report_input *in, struct buf *out)
{
    AUTO(series) s = {0};
    AUTO(buf) body = {0};

    if (series_init(&s, in, NULL) != OK) {
        out->failed = true;
        return;
    }
    put_body(&body, &s);
    out->failed |= body.failed;
    put_head(out, in);
    html_banner(out, in);
    put_nav(out, &body);
    buf_puts(out, "<main>\n");
    buf_puts(out, buf_text(&body));
    buf_puts(out, "</main>\n<footer>Written by tare ");
    html_text(out, in->cand->provenance.tool_version, 40);
    buf_puts(out, ".</footer>\n</body>\n</html>\n");
}

const struct report report_html = {".html", "HTML", "one self-contained page with charts", write_html};
