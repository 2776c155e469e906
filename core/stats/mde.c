#include "core/stats/mde.h"

#include <math.h>
#include <stdbool.h>

static const double PI = 3.14159265358979323846;

/* From here on the normal quantile with its first three correction terms is exact to 1e-9. */
enum { LARGE_DF = 200 };

/* P(|T| <= t) by the finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4). */
static double two_sided(double t, size_t df)
{
    double theta = atan(t / sqrt((double)df));
    double cos2 = cos(theta) * cos(theta);
    double term = df % 2 ? cos(theta) : 1;
    double sum = df > 1 ? term : 0;
    size_t i;

    for (i = df % 2 ? 3 : 2; i < df; i += 2) {
        term *= cos2 * (double)(i - 1) / (double)i;
        sum += term;
    }
    sum *= sin(theta);
    return df % 2 ? 2 / PI * (theta + sum) : sum;
}

double mde_t_cdf(double t, size_t df)
{
    double half = two_sided(fabs(t), df) / 2;

    return t < 0 ? 0.5 - half : 0.5 + half;
}

double mde_normal_cdf(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

/* Halving until the ends meet: slow, exact to the last bits, and there is nothing in it to get wrong. */
static double solve(double p, size_t df, bool normal)
{
    double lo = -1, hi = 1;
    int i;

    while ((normal ? mde_normal_cdf(lo) : mde_t_cdf(lo, df)) > p && lo > -1e12)
        lo *= 2;
    while ((normal ? mde_normal_cdf(hi) : mde_t_cdf(hi, df)) < p && hi < 1e12)
        hi *= 2;
    for (i = 0; i < 100; i++) {
        double mid = lo + (hi - lo) / 2;

        if ((normal ? mde_normal_cdf(mid) : mde_t_cdf(mid, df)) < p)
            lo = mid;
        else
            hi = mid;
    }
    return lo + (hi - lo) / 2;
}

double mde_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p > 0 ? INFINITY : -INFINITY;
    return solve(p, 0, true);
}

double mde_t_quantile(double p, size_t df)
{
    double z, z2, n = (double)df;

    if (!(p > 0 && p < 1) || df < 1)
        return NAN;
    if (df < LARGE_DF)
        return solve(p, df, false);
    z = solve(p, df, true);
    z2 = z * z;
    /* Cornish-Fisher, Abramowitz and Stegun 26.7.5 */
    return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
           z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n);
}

double mde_paired(double sd, size_t n, double alpha, double power)
{
    if (n < 2 || isnan(sd))
        return NAN;
    return (mde_t_quantile(1 - alpha / 2, n - 1) + mde_t_quantile(power, n - 1)) * sd / sqrt((double)n);
}

size_t mde_pairs_for(double sd, double effect, double alpha, double power)
{
    size_t lo = 1, hi = MDE_MAX_PAIRS;

    if (!(effect > 0) || !(mde_paired(sd, hi, alpha, power) <= effect))
        return 0;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (mde_paired(sd, mid, alpha, power) <= effect)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}
