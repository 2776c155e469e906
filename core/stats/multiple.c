#include "core/stats/multiple.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->p < y->p || x->p > y->p)
        return x->p < y->p ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The tests that are no NaN, ascending; owned by the caller. */
static enum status rank(const double *p, size_t n, struct ranked **ret, size_t *ret_n, struct error *err)
{
    struct ranked *r = NULL;
    size_t i, m = 0;

    TRY(mem_new(n, sizeof *r, &r, err));
    for (i = 0; i < n; i++) {
        if (isnan(p[i]))
            continue;
        r[m].p = p[i];
        r[m++].at = i;
    }
    if (m)
        qsort(r, m, sizeof *r, by_p);
    *ret = r;
    *ret_n = m;
    return OK;
}

enum status multiple_holm(const double *p, size_t n, double *ret, struct error *err)
{
    struct ranked *r = NULL;
    double floor_p = 0;
    size_t i, m = 0;

    TRY(rank(p, n, &r, &m, err));
    for (i = 0; i < n; i++)
        ret[i] = NAN;
    for (i = 0; i < m; i++) {
        floor_p = fmax(floor_p, fmin(1, (double)(m - i) * r[i].p));
        ret[r[i].at] = floor_p;
    }
    free(r);
    return OK;
}

enum status multiple_bh(const double *p, size_t n, double *ret, struct error *err)
{
    struct ranked *r = NULL;
    double ceiling = 1;
    size_t i, m = 0;

    TRY(rank(p, n, &r, &m, err));
    for (i = 0; i < n; i++)
        ret[i] = NAN;
    for (i = m; i-- > 0;) {
        ceiling = fmin(ceiling, (double)m / (double)(i + 1) * r[i].p);
        ret[r[i].at] = ceiling;
    }
    free(r);
    return OK;
}
