/* svg.h - a plot area with a scale on each side; coordinates are SVG user units, sized for a 420 wide view box. */
#ifndef REPORTS_SVG_H
#define REPORTS_SVG_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct svg_plot {
    double left, right, top, bottom; /* of the plot area */
    double x_lo, x_hi, y_lo, y_hi;   /* data at its ends */
};

/* A range that is never empty, padded by a share of its length; {0,1} when lo and hi are no numbers. */
void svg_range(double *lo, double *hi, double pad);

double svg_x(const struct svg_plot *p, double x);
double svg_y(const struct svg_plot *p, double y);

/* A round step so that about `n` of them cover lo..hi. */
double svg_step(double lo, double hi, int n);

/* Tick labels in the digits that `step` needs. */
void svg_tick(struct buf *out, double value, double step);

/* Horizontal grid lines with labels on the left; vertical ticks with labels below. */
void svg_grid_y(struct buf *out, const struct svg_plot *p, const char *label);
void svg_grid_x(struct buf *out, const struct svg_plot *p, const char *label);

#endif
