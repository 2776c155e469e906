#include "core/stats/run_t.h"

#include "core/stats/mde.h"
#include "core/stats/summary.h"

#include <math.h>

double run_t_detectable(double sd, size_t n_base, size_t n_cand, double alpha, double power)
{
    size_t df = n_base + n_cand - 2;

    return (mde_t_quantile(1 - alpha / 2, df) + mde_t_quantile(power, df)) * sd *
           sqrt(1 / (double)n_base + 1 / (double)n_cand);
}

/* 1 less a probability is known to a few times 1e-16 for every two degrees of freedom: no p below this is. */
static const double LEAST_P = 1e-12;

/* Sum of squares about the mean; 0 for values that are all the same, whatever rounding says. */
static double squares(const struct summary *s)
{
    return s->n > 1 && s->max > s->min ? s->sd * s->sd * (double)(s->n - 1) : 0;
}

bool run_t_test(struct run_t *r, const double *base, size_t n_base, const double *cand, size_t n_cand, double alpha,
                double power)
{
    struct run_t out = {.sd = NAN, .t = NAN, .p = NAN, .lo = NAN, .hi = NAN, .mde = NAN};
    struct summary b, c;
    double se, half;

    summary_of(&b, base, n_base);
    summary_of(&c, cand, n_cand);
    out.n_base = b.n;
    out.n_cand = c.n;
    out.base = b.mean;
    out.cand = c.mean;
    out.delta = c.mean - b.mean;
    *r = out;
    if (!b.n || !c.n || b.n + c.n < 3)
        return false;
    out.df = b.n + c.n - 2;
    out.sd = sqrt((squares(&b) + squares(&c)) / (double)out.df);
    *r = out;
    if (!(out.sd > 0) || !isfinite(out.sd))
        return false;
    se = out.sd * sqrt(1 / (double)b.n + 1 / (double)c.n);
    out.t = out.delta / se;
    out.p = fmin(1, fmax(LEAST_P, 2 * (1 - mde_t_cdf(fabs(out.t), out.df))));
    half = mde_t_quantile(1 - alpha, out.df) * se;
    out.lo = out.delta - half;
    out.hi = out.delta + half;
    out.mde = run_t_detectable(out.sd, b.n, c.n, alpha, power);
    *r = out;
    return true;
}

size_t run_t_runs_for(double sd, double effect, double alpha, double power)
{
    size_t lo = 1, hi = RUN_T_MAX;

    if (!(effect > 0) || !(sd > 0) || !(run_t_detectable(sd, hi, hi, alpha, power) <= effect))
        return 0;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (run_t_detectable(sd, mid, mid, alpha, power) <= effect)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}
