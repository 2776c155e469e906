#include "core/metrics/decay.h"

#include <math.h>

/* Steps over log tau, and of the golden section between two of them. */
enum { STEPS = 80, REFINE = 60 };

static const double LEAST_TAU = 0.2, MOST_SPANS = 5;

/* The line y = c + a x by least squares, and what is left. */
struct line {
    double a, c, squares;
};

static struct line fit_line(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    struct line out = {NAN, NAN, 0};
    size_t i;

    for (i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    if (!(xx > 0))
        return out;
    out.a = xy / xx;
    out.c = my - out.a * mx;
    for (i = 0; i < n; i++) {
        double rest = y[i] - out.c - out.a * x[i];

        out.squares += rest * rest;
    }
    return out;
}

double decay_slope(const double *turn, const double *value, size_t n)
{
    return n < DECAY_MIN_SLOPE_TURNS ? NAN : fit_line(turn, value, n).a;
}

/* For a given tau the fit is a line over exp(-turn / tau). */
static struct line fit_at(const double *turn, const double *value, size_t n, double log_tau)
{
    enum { MOST = 1000 };
    double x[MOST];
    size_t i;

    n = n < MOST ? n : MOST;
    for (i = 0; i < n; i++)
        x[i] = exp(-(turn[i] - turn[0]) / exp(log_tau));
    return fit_line(x, value, n);
}

static double refine(const double *turn, const double *value, size_t n, double lo, double hi)
{
    static const double part = 0.6180339887498949;
    int i;

    for (i = 0; i < REFINE; i++) {
        double left = hi - part * (hi - lo), right = lo + part * (hi - lo);

        if (fit_at(turn, value, n, left).squares <= fit_at(turn, value, n, right).squares)
            hi = right;
        else
            lo = left;
    }
    return (lo + hi) / 2;
}

double decay_half_life(const double *turn, const double *value, size_t n)
{
    double first = log(LEAST_TAU), step, best = INFINITY, tau;
    size_t i, at = 0;

    if (n < DECAY_MIN_FIT_TURNS || !(fit_line(turn, value, n).a < 0))
        return NAN;
    step = (log(MOST_SPANS * (turn[n - 1] - turn[0])) - first) / STEPS;
    for (i = 0; i <= STEPS; i++) {
        double squares = fit_at(turn, value, n, first + (double)i * step).squares;

        if (squares < best) {
            best = squares;
            at = i;
        }
    }
    if (at == 0 || at == STEPS)
        return NAN;
    tau = refine(turn, value, n, first + (double)(at - 1) * step, first + (double)(at + 1) * step);
    return fit_at(turn, value, n, tau).a > 0 ? exp(tau) * log(2) : NAN;
}
