/* The interval plot of a table row, and strips of one dot a task for latencies. */
#include "reports/html.h"
#include "reports/show.h"
#include "reports/svg.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 420, MOST_DOTS = 400, PLOT_W = 168, PLOT_H = 22 };

static double largest(double a, double b)
{
    return isfinite(b) && fabs(b) > a ? fabs(b) : a;
}

void html_interval_plot(struct buf *out, const struct effect *e, double margin)
{
    double most = fmin(largest(largest(largest(largest(0, e->delta), e->ci_lo), e->ci_hi), margin) * 1.12, 1e300),
           end = most > 0 ? most : 1;
    struct svg_plot p = {2, PLOT_W - 2, 0, PLOT_H, -end, end, 0, 1};

    if (!isfinite(e->delta)) {
        buf_puts(out, "<span class=\"same\">not known</span>");
        return;
    }
    buf_printf(out, "<svg class=\"ci\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"difference ", PLOT_W, PLOT_H);
    html_number(out, e->delta, show_delta);
    buf_puts(out, ", interval ");
    html_interval(out, e->ci_lo, e->ci_hi);
    buf_puts(out, "\"><title>");
    html_number(out, e->delta, show_delta);
    buf_putc(out, ' ');
    html_interval(out, e->ci_lo, e->ci_hi);
    buf_puts(out, "</title>");
    if (isfinite(margin))
        buf_printf(out, "<rect class=\"band\" x=\"%.1f\" y=\"2\" width=\"%.1f\" height=\"%d\"/>",
                   svg_x(&p, -fabs(margin)), svg_x(&p, fabs(margin)) - svg_x(&p, -fabs(margin)), PLOT_H - 4);
    buf_printf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"1\" y2=\"%d\"/>", svg_x(&p, 0), svg_x(&p, 0),
               PLOT_H - 1);
    if (isfinite(e->ci_lo) && isfinite(e->ci_hi))
        buf_printf(out, "<line class=\"ci-line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", svg_x(&p, e->ci_lo),
                   svg_x(&p, e->ci_hi), PLOT_H / 2, PLOT_H / 2);
    buf_printf(out, "<circle class=\"ci-dot\" cx=\"%.1f\" cy=\"%d\" r=\"3.6\"/></svg>", svg_x(&p, e->delta),
               PLOT_H / 2);
}

static void grow(double *hi, const struct cube *c)
{
    double most = c ? cube_span_by_unit(c, 0, NULL).max : NAN;

    *hi = fmax(*hi, most);
}

/* One run's tasks as dots, spread a little up and down by their number so that equal ones can be told apart. */
static void put_dots(struct buf *out, const struct run *r, const char *metric, const struct svg_plot *p, double y,
                     const char *class)
{
    const struct cube *c = run_cube(r, metric);
    size_t at[N_AXES] = {0};

    for (; c && at[AXIS_TASK] < c->dim[AXIS_TASK] && at[AXIS_TASK] < MOST_DOTS; at[AXIS_TASK]++) {
        double value = cube_span(c, AXIS_BIT(AXIS_TASK), at).mean;

        if (!isfinite(value))
            continue;
        buf_printf(out, "<circle class=\"dot d-%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.4\"><title>", class, svg_x(p, value),
                   y + 2.6 * ((double)(at[AXIS_TASK] * 7 % 5) - 2));
        html_text(out, c->axes & AXIS_BIT(AXIS_TASK) ? r->axes.task[at[AXIS_TASK]] : "all", 80);
        buf_puts(out, ": ");
        html_number(out, value, show_number);
        buf_puts(out, "</title></circle>\n");
    }
}

static void put_row(struct buf *out, const struct series *s, enum side side, const char *metric,
                    const struct svg_plot *p, double y)
{
    static const char *const names[] = {"base", "candidate"}, *const classes[] = {"base", "cand"};
    struct where all = series_all();
    struct span mean = series_at(s, side, metric, &all, AXIS_TASK);
    size_t k;

    if (mean.n == 0)
        return;
    buf_printf(out, "<text class=\"name\" x=\"0\" y=\"%.1f\">%s</text>\n", y + 4, names[side]);
    for (k = 0; side == SIDE_CAND && k < s->in->n_cand; k++)
        put_dots(out, &s->in->cand[k], metric, p, y, classes[side]);
    for (k = 0; side == SIDE_BASE && k < s->in->n_base; k++)
        put_dots(out, &s->in->base[k], metric, p, y, classes[side]);
    buf_printf(out,
               "<line class=\"mean %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"name\" "
               "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
               classes[side], svg_x(p, mean.mean), svg_x(p, mean.mean), y - 12, y + 12, svg_x(p, mean.mean), y - 15);
    html_number(out, mean.mean, show_small);
    buf_puts(out, "</text>\n");
}

static void put_strip(struct buf *out, const struct series *s, const struct cube *c)
{
    bool has_base = series_has(s, SIDE_BASE, c->metric);
    double height = has_base ? 132 : 86, hi = 0;
    struct svg_plot p = {70, WIDTH - 12, 8, height - 34, 0, 1, 0, 1};
    size_t k;

    grow(&hi, c);
    for (k = 0; has_base && k < s->in->n_base; k++)
        grow(&hi, run_cube(&s->in->base[k], c->metric));
    svg_range(&p.x_lo, &hi, 0);
    p.x_lo = 0;
    p.x_hi = hi * 1.05;
    buf_puts(out, "<figure class=\"card\"><figcaption><h3>");
    html_text(out, c->metric, 60);
    buf_puts(out, "</h3><small>");
    html_text(out, c->help, 160);
    buf_puts(out, c->help && *c->help ? ". A dot is a task, the tick their mean.</small></figcaption>\n"
                                      : "A dot is a task, the tick their mean.</small></figcaption>\n");
    buf_printf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", WIDTH, height);
    html_text(out, c->metric, 60);
    buf_puts(out, " of each task, base and candidate\">\n");
    svg_grid_x(out, &p, show_unit(c->unit));
    if (has_base)
        put_row(out, s, SIDE_BASE, c->metric, &p, 34);
    put_row(out, s, SIDE_CAND, c->metric, &p, has_base ? 80 : 34);
    buf_puts(out, "</svg></figure>\n");
}

static bool is_latency(const struct cube *c)
{
    return c->noise == NOISE_RUN && c->better == BETTER_LOWER && !(c->axes & AXIS_BIT(AXIS_LAYER)) && cube_count(c);
}

void html_latency(struct buf *out, const struct series *s)
{
    const struct run *r = s->in->cand;
    size_t n = 0, i;

    for (i = 0; i < r->n_cubes; i++)
        n += is_latency(&r->cubes[i]);
    if (n == 0)
        return;
    buf_puts(
        out,
        "<section id=\"latency\"><h2>Latency</h2>\n<p class=\"lead\">A slow minute hits all tasks at once, so latency "
        "is judged over runs, not over tasks; one run on a side can only inform.</p>\n<div class=\"pair\">\n");
    for (i = 0; i < r->n_cubes; i++)
        if (is_latency(&r->cubes[i]))
            put_strip(out, s, &r->cubes[i]);
    buf_puts(out, "</div></section>\n");
}
