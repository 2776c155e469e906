#include "kernels/select.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TRIES = 64 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of_3(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Parts x[lo, hi) about a value of its own; returns where the upper part begins: neither is empty. */
static size_t part(double *x, size_t lo, size_t hi)
{
    double pivot = median_of_3(x[lo], x[lo + (hi - lo - 1) / 2], x[hi - 1]);
    size_t i = lo, j = hi - 1;

    for (;;) {
        double swap;

        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i >= j)
            return i > lo ? i : lo + 1;
        swap = x[i];
        x[i++] = x[j];
        x[j--] = swap;
    }
}

double select_nth(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n;

    assert(k < n);
    for (int tries = MOST_TRIES; hi - lo > 1; tries--) {
        size_t middle;

        if (tries == 0) { /* made to be slow */
            qsort(x + lo, hi - lo, sizeof *x, compare);
            return x[k];
        }
        middle = part(x, lo, hi);
        if (k < middle)
            hi = middle;
        else
            lo = middle;
    }
    return x[k];
}
