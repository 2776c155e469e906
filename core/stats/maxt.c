#include "core/stats/maxt.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/backend.h"
#include "kernels/maxt_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* z is at most some sqrt(n) and its rounding error at most n^1.5 eps: far below this for a hundred thousand tasks. */
static const double TIE = 1e-9;

/* What one call works with. */
struct work {
    size_t *order; /* owned: [n] cells that are tested, ascending by z */
    double *limit; /* owned: [n] what counts as at least z             */
    size_t n;
    int64_t *hits, *hits_max; /* owned: [n] */
};

static void work_done(struct work *w)
{
    free(w->order);
    free(w->limit);
    free(w->hits);
    free(w->hits_max);
    memset(w, 0, sizeof *w);
}

size_t maxt_groups(const size_t *n_options, size_t n_tasks, size_t *ret)
{
    size_t i, patterns = 1, n = 0;

    ret[0] = 0;
    for (i = 0; i < n_tasks; i++) {
        if (i > ret[n] && (i - ret[n] == MAXT_GROUP || patterns * n_options[i] > MAXT_PATTERNS)) {
            ret[++n] = i;
            patterns = 1;
        }
        patterns *= n_options[i];
    }
    if (n_tasks)
        ret[++n] = n_tasks;
    return n;
}

struct seen {
    double z;
    size_t cell;
};

static int by_z(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->z < y->z || x->z > y->z)
        return x->z < y->z ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static enum status sort_cells(struct work *w, const double *z, size_t n_cells, struct error *err)
{
    struct seen *seen = NULL;
    size_t k;

    TRY(mem_new(n_cells, sizeof *w->order, &w->order, err));
    TRY(mem_new(n_cells, sizeof *w->limit, &w->limit, err));
    TRY(mem_new(n_cells, sizeof *w->hits, &w->hits, err));
    TRY(mem_new(n_cells, sizeof *w->hits_max, &w->hits_max, err));
    TRY(mem_new(n_cells, sizeof *seen, &seen, err));
    for (k = 0; k < n_cells; k++) {
        if (isnan(z[k]))
            continue;
        seen[w->n].z = z[k];
        seen[w->n++].cell = k;
    }
    if (w->n)
        qsort(seen, w->n, sizeof *seen, by_z);
    for (k = 0; k < w->n; k++) {
        w->order[k] = seen[k].cell;
        w->limit[k] = seen[k].z - TIE;
    }
    free(seen);
    return OK;
}

static double share(const struct maxt *m, int64_t hits)
{
    if (m->is_enumerated)
        return (double)hits / (double)m->n_draws;
    return (double)(hits + 1) / (double)(m->n_draws + 1);
}

/* Step down: no cell is more significant than one with a larger z. */
static void give(const struct work *w, const struct maxt *m, double *ret_p, double *ret_p_adj)
{
    double floor_p = 0;
    size_t k;

    for (k = w->n; k-- > 0;) {
        floor_p = fmax(floor_p, share(m, w->hits_max[k]));
        ret_p[w->order[k]] = share(m, w->hits[k]);
        ret_p_adj[w->order[k]] = floor_p;
    }
}

enum status maxt_test(const struct maxt *m, const double *part, const double *z, size_t n_cells, double *ret_p,
                      double *ret_p_adj, struct error *err)
{
    struct maxt_count_args args = {.n_tasks = m->n_tasks,
                                   .n_groups = m->n_groups,
                                   .n_draws = m->n_draws,
                                   .n_options = m->n_options,
                                   .first = m->first,
                                   .pattern = m->pattern,
                                   .part = part,
                                   .n_columns = n_cells};
    AUTO(work) w = {0};

    TRY(sort_cells(&w, z, n_cells, err));
    args.n_cells = w.n;
    args.column = w.order;
    args.limit = w.limit;
    TRY(backend_maxt_count(&args, w.hits, w.hits_max, err));
    give(&w, m, ret_p, ret_p_adj);
    return OK;
}
