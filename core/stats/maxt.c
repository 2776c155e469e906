#include "core/stats/maxt.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A group's table of all sums that its tasks can give turns several additions into one look-up. A block of cells keeps
 * its tables within the first-level cache for some tens of tasks. */
enum { BLOCK = 32 };

/* z is at most some sqrt(n) and its rounding error at most n^1.5 eps: far below this for a hundred thousand tasks. */
static const double TIE = 1e-9;

/* What one call works with. */
struct work {
    size_t *order;           /* [n_used] cells, ascending by z             */
    size_t *row;             /* [n_tasks] the first of a task's rows       */
    size_t *at;              /* [n_groups] where a group's table begins    */
    double *max;             /* [n_draws] largest z so far                 */
    double *table;           /* n_patterns of all groups x BLOCK           */
    size_t *hits, *hits_max; /* [BLOCK] */
    size_t n_used, n_table;
};

static void work_done(struct work *w)
{
    free(w->order);
    free(w->row);
    free(w->at);
    free(w->max);
    free(w->table);
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

static size_t n_patterns(const struct maxt *m, size_t group)
{
    size_t i, n = 1;

    for (i = m->first[group]; i < m->first[group + 1]; i++)
        n *= m->n_options[i];
    return n;
}

static enum status work_init(struct work *w, const struct maxt *m, size_t n_cells, struct error *err)
{
    size_t i, rows = 0, patterns = 0;

    TRY(mem_new(m->n_tasks, sizeof *w->row, &w->row, err));
    TRY(mem_new(m->n_groups, sizeof *w->at, &w->at, err));
    for (i = 0; i < m->n_tasks; i++) {
        w->row[i] = rows;
        rows += m->n_options[i];
    }
    for (i = 0; i < m->n_groups; i++) {
        w->at[i] = patterns * BLOCK;
        patterns += n_patterns(m, i);
    }
    w->n_table = patterns * BLOCK;
    TRY(mem_new(n_cells, sizeof *w->order, &w->order, err));
    TRY(mem_new(m->n_draws, sizeof *w->max, &w->max, err));
    TRY(mem_new(w->n_table, sizeof *w->table, &w->table, err));
    TRY(mem_new(BLOCK, sizeof *w->hits, &w->hits, err));
    return mem_new(BLOCK, sizeof *w->hits_max, &w->hits_max, err);
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

    TRY(mem_new(n_cells, sizeof *seen, &seen, err));
    for (k = 0; k < n_cells; k++) {
        if (isnan(z[k]))
            continue;
        seen[w->n_used].z = z[k];
        seen[w->n_used++].cell = k;
    }
    if (w->n_used)
        qsort(seen, w->n_used, sizeof *seen, by_z);
    for (k = 0; k < w->n_used; k++)
        w->order[k] = seen[k].cell;
    free(seen);
    return OK;
}

/* Adds one task's choices to the rows of its group: `stride` patterns on, the task takes its next choice. */
static void add_task(double *rows, size_t patterns, size_t stride, size_t n_options, const double *part, size_t n_cells,
                     const size_t *cell, size_t n)
{
    size_t p, k;

    for (p = 0; p < patterns; p++) {
        const double *choice = part + p / stride % n_options * n_cells;

        for (k = 0; k < n; k++)
            rows[p * BLOCK + k] += choice[cell[k]];
    }
}

/* The sums of each group for the cells order[first, first + n). */
static void make_tables(struct work *w, const struct maxt *m, const double *part, size_t n_cells, size_t first,
                        size_t n)
{
    size_t g, i;

    for (i = 0; i < w->n_table; i++)
        w->table[i] = 0;
    for (g = 0; g < m->n_groups; g++) {
        size_t patterns = n_patterns(m, g), stride = 1;

        for (i = m->first[g]; i < m->first[g + 1]; i++) {
            add_task(w->table + w->at[g], patterns, stride, m->n_options[i], part + w->row[i] * n_cells, n_cells,
                     w->order + first, n);
            stride *= m->n_options[i];
        }
    }
}

/* Adds draw f's hits for the block; `limit` is z as seen less the allowance for ties. */
static void count_draw(struct work *w, const struct maxt *m, size_t f, size_t n, const double limit[BLOCK])
{
    double sum[BLOCK] = {0};
    double max = w->max[f];
    size_t g, k;

    for (g = 0; g < m->n_groups; g++) {
        const double *row = w->table + w->at[g] + (size_t)m->pattern[g * m->n_draws + f] * BLOCK;

        for (k = 0; k < BLOCK; k++)
            sum[k] += row[k];
    }
    for (k = 0; k < n; k++) {
        double z = fabs(sum[k]);

        max = z > max ? z : max;
        w->hits[k] += z >= limit[k];
        w->hits_max[k] += max >= limit[k];
    }
    w->max[f] = max;
}

static double share(const struct maxt *m, size_t hits)
{
    if (m->is_enumerated)
        return (double)hits / (double)m->n_draws;
    return (double)(hits + 1) / (double)(m->n_draws + 1);
}

enum status maxt_test(const struct maxt *m, const double *part, const double *z, size_t n_cells, double *ret_p,
                      double *ret_p_adj, struct error *err)
{
    AUTO(work) w = {0};
    double floor_p = 0;
    size_t first, k, f;

    TRY(work_init(&w, m, n_cells, err));
    TRY(sort_cells(&w, z, n_cells, err));
    for (first = 0; first < w.n_used; first += BLOCK) {
        size_t n = w.n_used - first < BLOCK ? w.n_used - first : BLOCK;
        double limit[BLOCK] = {0};

        for (k = 0; k < n; k++)
            limit[k] = z[w.order[first + k]] - TIE;
        memset(w.hits, 0, BLOCK * sizeof *w.hits);
        memset(w.hits_max, 0, BLOCK * sizeof *w.hits_max);
        make_tables(&w, m, part, n_cells, first, n);
        for (f = 0; f < m->n_draws; f++)
            count_draw(&w, m, f, n, limit);
        for (k = 0; k < n; k++) {
            ret_p[w.order[first + k]] = share(m, w.hits[k]);
            ret_p_adj[w.order[first + k]] = share(m, w.hits_max[k]);
        }
    }
    /* Step down: no cell is more significant than one with a larger z. */
    for (k = w.n_used; k-- > 0;) {
        floor_p = fmax(floor_p, ret_p_adj[w.order[k]]);
        ret_p_adj[w.order[k]] = floor_p;
    }
    return OK;
}
