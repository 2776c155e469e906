#include "core/stats/summary.h"

#include "kernels/select.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Values from which the place of an order statistic is guessed. */
enum { SAMPLE = 512 };

void summary_add(struct summary_sum *s, double x)
{
    double total = s->sum + x;

    if (fabs(s->sum) >= fabs(x))
        s->lost += (s->sum - total) + x;
    else
        s->lost += (x - total) + s->sum;
    s->sum = total;
}

double summary_total(const struct summary_sum *s)
{
    return s->sum + s->lost;
}

void summary_of(struct summary *s, const double *x, size_t n)
{
    struct summary_sum sum = {0}, squares = {0};
    struct summary out = {.mean = NAN, .sd = NAN, .min = NAN, .max = NAN};
    size_t i;

    for (i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        out.min = out.n && out.min < x[i] ? out.min : x[i];
        out.max = out.n && out.max > x[i] ? out.max : x[i];
        summary_add(&sum, x[i]);
        out.n++;
    }
    if (out.n)
        out.mean = summary_total(&sum) / (double)out.n;
    for (i = 0; i < n; i++)
        if (isfinite(x[i]))
            summary_add(&squares, (x[i] - out.mean) * (x[i] - out.mean));
    if (out.n >= 2)
        out.sd = sqrt(summary_total(&squares) / (double)(out.n - 1));
    *s = out;
}

double summary_quantile(const double *sorted, size_t n, double q)
{
    double at, low;
    size_t i;

    if (n == 0)
        return NAN;
    at = q * (double)(n - 1);
    low = floor(at);
    i = (size_t)low;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - low) * (sorted[i + 1] - sorted[i]);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void summary_sort(double *x, size_t n)
{
    if (n)
        qsort(x, n, sizeof *x, ascending);
}

/* Moves the values up to `cut`, or from it on, to the front; returns how many. Without a branch that depends on them.
 */
static size_t gather(const double *x, size_t n, double cut, double sign, double *out)
{
    size_t i, kept = 0;

    for (i = 0; i < n; i++) {
        out[kept] = x[i];
        kept += sign * x[i] <= cut;
    }
    return kept;
}

/* A value that somewhat more than k of n values are beneath, guessed from a few of them. */
static double guess(const double *x, size_t n, size_t k, double sign)
{
    double few[SAMPLE];
    size_t i, at = (size_t)((double)(SAMPLE) * ((double)k / (double)n + 0.04));

    for (i = 0; i < SAMPLE; i++)
        few[i] = sign * x[i * (n / SAMPLE)];
    return select_nth(few, SAMPLE, at < SAMPLE ? at : SAMPLE - 1);
}

/* The k-th smallest of sign * x. `room`: [n + 1]; `x` stays as it is where the guess was good. */
static double select_end(double *x, size_t n, size_t k, double sign, double *room)
{
    size_t kept = gather(x, n, guess(x, n, k, sign), sign, room);

    if (kept > k)
        return select_nth(room, kept, sign > 0 ? k : kept - 1 - k);
    return select_nth(x, n, sign > 0 ? k : n - 1 - k);
}

void summary_select_ends(double *x, size_t n, size_t k, double *ret_low, double *ret_high)
{
    double *room = n > 4 * (size_t)SAMPLE ? malloc((n + 1) * sizeof *room) : NULL;

    if (room) {
        *ret_low = select_end(x, n, k, 1, room);
        *ret_high = select_end(x, n, k, -1, room);
    } else {
        *ret_low = select_nth(x, n, k);
        *ret_high = select_nth(x, n, n - 1 - k);
    }
    free(room);
}
