#include "reports/svg.h"

#include "reports/html.h"

#include <math.h>

enum { MOST_TICKS = 16 };

/* Larger values are drawn at the edge: differences of what is larger still would overflow. */
#define MOST 1e300

void svg_range(double *lo, double *hi, double pad)
{
    double length;

    if (!isfinite(*lo) || !isfinite(*hi)) {
        *lo = 0;
        *hi = 1;
    }
    *lo = fmax(*lo, -MOST);
    *hi = fmin(*hi, MOST);
    length = *hi - *lo;
    if (!(length > fabs(*hi) * 1e-12)) {
        length = fabs(*hi) > 0 ? fmax(fabs(*hi) * 0.2, 1e-6) : 1; /* of nothing but zeros any will do */
        *lo -= length / 2;
        *hi += length / 2;
    }
    *lo -= pad * length;
    *hi += pad * length;
}

/* What lies far outside is drawn just outside: an infinite coordinate is no SVG. */
static double near(double at)
{
    return fmin(fmax(at, -9999), 9999);
}

double svg_x(const struct svg_plot *p, double x)
{
    return near(p->left + (x - p->x_lo) / (p->x_hi - p->x_lo) * (p->right - p->left));
}

double svg_y(const struct svg_plot *p, double y)
{
    return near(p->bottom - (y - p->y_lo) / (p->y_hi - p->y_lo) * (p->bottom - p->top));
}

double svg_step(double lo, double hi, int n)
{
    double raw = (hi - lo) / n, power = pow(10, floor(log10(raw))), share = raw / power;

    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

void svg_tick(struct buf *out, double value, double step)
{
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

    if (fabs(value) < step * 1e-6)
        value = 0;
    if (decimals > 5 || fabs(value) >= 1e7)
        buf_printf(out, "%.2g", value);
    else
        buf_printf(out, "%s%.*f", value < 0 ? "&minus;" : "", decimals, fabs(value));
}

void svg_grid_y(struct buf *out, const struct svg_plot *p, const char *label)
{
    double step = svg_step(p->y_lo, p->y_hi, 4), first = ceil(p->y_lo / step);
    int k;

    for (k = 0; k < MOST_TICKS && (first + k) * step <= p->y_hi + step * 1e-6; k++) {
        double y = (first + k) * step;

        buf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", p->left, p->right,
                   svg_y(p, y), svg_y(p, y));
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", p->left - 6, svg_y(p, y) + 3.8);
        svg_tick(out, y, step);
        buf_puts(out, "</text>\n");
    }
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", 2.0, p->top - 8);
    html_text(out, label, 60);
    buf_puts(out, "</text>\n");
}

void svg_grid_x(struct buf *out, const struct svg_plot *p, const char *label)
{
    double step = svg_step(p->x_lo, p->x_hi, 5), first = ceil(p->x_lo / step);
    int k;

    for (k = 0; k < MOST_TICKS && (first + k) * step <= p->x_hi + step * 1e-6; k++) {
        double x = (first + k) * step;

        buf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", svg_x(p, x),
                   svg_x(p, x), p->top, p->bottom);
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", svg_x(p, x), p->bottom + 15);
        svg_tick(out, x, step);
        buf_puts(out, "</text>\n");
    }
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", p->right, p->bottom + 29);
    html_text(out, label, 60);
    buf_puts(out, "</text>\n");
}
