#include "core/stats/binomial.h"

#include <math.h>
#include <stdbool.h>

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* The terms of one tail, from the largest on, until they no longer count. */
static double tail(size_t k, size_t n, double p, bool down)
{
    double log_first = log_choose((double)n, (double)k) + (double)k * log(p) + (double)(n - k) * log1p(-p);
    double term = 1, sum = 0;
    size_t i = k;

    for (;;) {
        sum += term;
        if (term < sum * 1e-18 || (down ? i == 0 : i == n))
            break;
        if (down)
            term *= (double)i * (1 - p) / ((double)(n - i + 1) * p);
        else
            term *= (double)(n - i) * p / ((double)(i + 1) * (1 - p));
        i = down ? i - 1 : i + 1;
    }
    return sum * exp(log_first);
}

double binomial_cdf(size_t k, size_t n, double p)
{
    if (k >= n || !(p > 0))
        return 1;
    if (!(p < 1))
        return 0;
    /* The tail that lies away from the mean is the short one, and its terms fall. */
    if ((double)k <= (double)n * p)
        return fmin(1, tail(k, n, p, true));
    return fmax(0, 1 - tail(k + 1, n, p, false));
}

/* The p at which P(X <= k) has come down to `level`. */
static double solve(size_t k, size_t n, double level)
{
    double lo = 0, hi = 1;
    int i;

    for (i = 0; i < 60; i++) {
        double mid = (lo + hi) / 2;

        if (binomial_cdf(k, n, mid) > level)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

struct binomial_interval binomial_interval(size_t k, size_t n, double confidence)
{
    struct binomial_interval out = {0, 1};
    double rest = (1 - confidence) / 2;

    if (k > 0 && k <= n)
        out.lo = solve(k - 1, n, 1 - rest);
    if (k < n)
        out.hi = solve(k, n, rest);
    return out;
}

double binomial_confidence(size_t over, size_t n, double quantile)
{
    return n ? 1 - binomial_cdf(over, n, 1 - quantile) : 0;
}

size_t binomial_n_for(size_t over, double quantile, double confidence)
{
    size_t lo = over, hi = BINOMIAL_MAX;

    if (binomial_confidence(over, hi, quantile) < confidence)
        return 0;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (binomial_confidence(over, mid, quantile) >= confidence)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}
