/* What calibrating the baseline found: noise, false alarms, power. */
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "reports/html.h"
#include "reports/show.h"

#include <math.h>

enum { NAME = 160 };

static void put_count(struct buf *out, const char *what, const struct calibration_count *c)
{
    AUTO(buf) share = {0};

    if (!c->n)
        return;
    calibration_put_share(&share, calibration_alarms(c), c->n);
    buf_printf(out, "<div><dt>%s</dt><dd>", what);
    html_text(out, buf_text(&share), NAME);
    buf_puts(out, "</dd></div>\n");
}

static void put_metric(struct buf *out, const struct calibration_metric *m)
{
    size_t s;

    buf_printf(out, "<tr class=\"%s\"><th scope=\"row\"><code>", role_name(m->role));
    html_text(out, m->metric, NAME);
    buf_puts(out, "</code> <span class=\"unit\">");
    html_text(out, show_unit(m->unit), 20);
    buf_printf(out, "</span></th><td data-l=\"role\">%s</td>", role_name(m->role));
    html_cell(out, "deviation", m->mean_sd, show_small);
    html_cell(out, "noisiest cell", m->cell_sd, show_small);
    buf_puts(out, "<td class=\"any\" data-l=\"where\">");
    if (m->cell_sd > 0)
        html_where(out, &m->cell);
    buf_puts(out, "</td>");
    html_cell(out, "margin", m->margin, show_margin);
    for (s = 0; s < CALIBRATION_SHIFTS; s++) {
        buf_printf(out, "<td class=\"num\" data-l=\"finds %g margins\">", calibration_shift[s]);
        if (m->n_trials)
            buf_printf(out, "%.0f&nbsp;%%", 100 * (double)m->n_found[s] / (double)m->n_trials);
        else
            buf_puts(out, "&ndash;");
        buf_puts(out, "</td>");
    }
    buf_puts(out, "</tr>\n");
}

void html_calibration(struct buf *out, const struct report_input *in)
{
    const struct calibration *c = in->calibration;
    bool is_one = c && c->n_runs == 1;
    size_t i;

    if (!c)
        return;
    buf_printf(out,
               "<section id=\"calibration\"><h2>Calibration of the baseline</h2>\n<p class=\"lead\">What %zu run%s of "
               "one version, %zu tasks%s, show%s of the gate under the policy ",
               c->n_runs, is_one ? "" : "s", c->n_tasks, is_one ? "" : " each", is_one ? "s" : "");
    html_text(out, c->policy_name, 80);
    buf_puts(out, ": how noisy each metric is, how often it would have cried wolf, and how often it finds a shift of "
                  "every cell by one and by two margins.</p>\n");
    if (is_one) {
        buf_puts(out, "<p>");
        html_text(out, calibration_of_halves, 1000);
        buf_puts(out, "</p>\n");
    }
    buf_puts(out, "<dl class=\"facts\">\n");
    put_count(out, "false alarms, run against run", &c->pairs);
    put_count(out, "false alarms, exchanged within tasks", &c->exchanged);
    put_count(out, "false alarms, half of the tasks against half", &c->halves);
    buf_puts(out, "</dl>\n<div class=\"card scroll\"><table class=\"cards\"><thead><tr><th>metric</th><th>role</th>"
                  "<th class=\"num\"><abbr title=\"");
    buf_puts(out, is_one
                      ? "of the difference of two tasks, of the mean over cells"
                      : "of a task's difference between two runs, of the mean over cells; of latencies between runs");
    buf_puts(out, "\">deviation</abbr></th><th class=\"num\">noisiest cell</th><th>where</th>"
                  "<th class=\"num\">margin</th><th class=\"num\">finds 1 margin</th><th class=\"num\">finds 2"
                  "</th></tr></thead><tbody>\n");
    for (i = 0; i < c->n_metrics; i++)
        put_metric(out, &c->metrics[i]);
    buf_puts(out, "</tbody></table></div></section>\n");
}
