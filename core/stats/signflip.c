#include "core/stats/signflip.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Four tasks make a group: a table of the 16 signed sums of their differences turns four additions into one look-up.
 * A block of cells keeps its tables within the first-level cache for some tens of tasks. */
enum { GROUP = SIGNFLIP_GROUP, N_PATTERNS = SIGNFLIP_PATTERNS, BLOCK = 32, TABLE = N_PATTERNS * BLOCK };

/* z is at most sqrt(n) and its rounding error at most n^1.5 eps: far below this for a hundred thousand tasks. */
static const double TIE = 1e-9;

void signflip_done(struct signflip *s)
{
    free(s->pattern);
    memset(s, 0, sizeof *s);
}

/* Whether all 2^n flips are no more than `max`. */
static bool can_enumerate(size_t n_tasks, size_t max)
{
    return n_tasks < 40 && ((size_t)1 << n_tasks) <= max;
}

static void enumerate(struct signflip *s)
{
    size_t g, f;

    /* The last task is never flipped, so that one of each pair of opposite flips remains. */
    for (g = 0; g < s->n_groups; g++)
        for (f = 0; f < s->n_flips; f++)
            s->pattern[g * s->n_flips + f] = (uint8_t)((f >> (GROUP * g)) & (N_PATTERNS - 1));
}

static void draw(struct signflip *s, const uint64_t *stream, uint64_t seed)
{
    size_t i, f;

    for (i = 0; i < s->n_tasks; i++) {
        uint8_t *row = s->pattern + i / GROUP * s->n_flips;
        struct rng_block bits = {{0}};

        for (f = 0; f < s->n_flips; f++) {
            if (f % 128 == 0)
                bits = rng_at(seed, stream[i], f / 128);
            row[f] |= (uint8_t)(((bits.word[f % 128 / 32] >> (f % 32)) & 1u) << (i % GROUP));
        }
    }
}

enum status signflip_init(struct signflip *s, const uint64_t *stream, size_t n_tasks, uint64_t seed,
                          size_t max_resamples, struct error *err)
{
    struct signflip out = {.n_tasks = n_tasks, .n_groups = (n_tasks + GROUP - 1) / GROUP};
    size_t len;

    out.is_enumerated = can_enumerate(n_tasks, max_resamples);
    out.n_flips = max_resamples;
    if (out.is_enumerated)
        out.n_flips = n_tasks ? (size_t)1 << (n_tasks - 1) : 1;
    if (!size_mul(out.n_groups, out.n_flips, &len))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many for %zu sign flips", n_tasks, max_resamples);
    TRY(mem_new(len, 1, &out.pattern, err));
    if (out.is_enumerated)
        enumerate(&out);
    else
        draw(&out, stream, seed);
    *s = out;
    return OK;
}

/* What one call works with. */
struct work {
    double *column;          /* [n_tasks]                                                       */
    double *scaled;          /* n_tasks x n_used: d / sqrt(sum d^2), 0 where missing; ascending z */
    double *z;               /* [n_cells] as seen; NaN for a cell that is not tested            */
    size_t *order;           /* [n_used] cells, ascending by z                                  */
    double *max;             /* [n_flips] largest z so far                                      */
    double *table;           /* n_groups x N_PATTERNS x BLOCK                                   */
    size_t *hits, *hits_max; /* [BLOCK] */
    size_t n_used;
};

static void work_done(struct work *w)
{
    free(w->column);
    free(w->scaled);
    free(w->z);
    free(w->order);
    free(w->max);
    free(w->table);
    free(w->hits);
    free(w->hits_max);
    memset(w, 0, sizeof *w);
}

static enum status work_init(struct work *w, const struct signflip *s, size_t n_cells, struct error *err)
{
    size_t cells, table;

    if (!size_mul(s->n_tasks, n_cells, &cells) || !size_mul(s->n_groups, TABLE, &table))
        return error_set(err, ERR_LIMIT, "%zu tasks by %zu cells are too many to compare", s->n_tasks, n_cells);
    TRY(mem_new(s->n_tasks, sizeof *w->column, &w->column, err));
    TRY(mem_new(cells, sizeof *w->scaled, &w->scaled, err));
    TRY(mem_new(n_cells, sizeof *w->z, &w->z, err));
    TRY(mem_new(n_cells, sizeof *w->order, &w->order, err));
    TRY(mem_new(s->n_flips, sizeof *w->max, &w->max, err));
    TRY(mem_new(table, sizeof *w->table, &w->table, err));
    TRY(mem_new(BLOCK, sizeof *w->hits, &w->hits, err));
    return mem_new(BLOCK, sizeof *w->hits_max, &w->hits_max, err);
}

/* Copies one cell's differences, missing as 0, divided by sqrt(sum d^2); false when there is nothing to test. */
static bool scale_column(const double *diff, size_t n_tasks, size_t n_cells, size_t cell, double *column)
{
    double largest = 0, squares = 0;
    size_t i;

    for (i = 0; i < n_tasks; i++) {
        double d = diff[i * n_cells + cell];

        column[i] = isfinite(d) ? d : 0;
        largest = fmax(largest, fabs(column[i]));
    }
    if (!(largest > 0))
        return false;
    /* First by the largest: squares of 1e200 or 1e-200 would leave the range. */
    for (i = 0; i < n_tasks; i++) {
        column[i] /= largest;
        squares += column[i] * column[i];
    }
    for (i = 0; i < n_tasks; i++)
        column[i] /= sqrt(squares);
    return true;
}

/* The sums in the order in which flipped ones are added, so that the flip that flips nothing is an exact tie. */
static double seen_z(const double *column, size_t n_tasks)
{
    double sum = 0;
    size_t i, j;

    for (i = 0; i < n_tasks; i += GROUP) {
        double part = 0;

        for (j = i; j < i + GROUP && j < n_tasks; j++)
            part += column[j];
        sum += part;
    }
    return fabs(sum);
}

/* mean, sd and t of a cell; everything that does not need flips. */
static void describe(const double *column, size_t n, struct signflip_cell *ret)
{
    struct summary s;

    summary_of(&s, column, n);
    ret->n = s.n;
    ret->mean = s.mean;
    ret->sd = s.sd;
    ret->p = s.n ? 1 : NAN;
    ret->p_adj = ret->p;
    ret->t = NAN;
    if (s.n < 2)
        return;
    if (!(s.max > s.min)) { /* all equal: no rounding may pass for a deviation */
        ret->sd = 0;
        ret->mean = s.max;
    }
    if (ret->sd > 0)
        ret->t = s.mean / (s.sd / sqrt((double)s.n));
    else
        ret->t = fabs(ret->mean) > 0 ? copysign(INFINITY, ret->mean) : 0;
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

/* Fills scaled, z, order; a cell of one pair is left out: both signs give the same. */
static enum status prepare(struct work *w, const struct signflip *s, const double *diff, size_t n_cells,
                           struct signflip_cell *ret, struct error *err)
{
    struct seen *seen = NULL;
    size_t i, k;

    TRY(mem_new(n_cells, sizeof *seen, &seen, err));
    for (k = 0; k < n_cells; k++) {
        for (i = 0; i < s->n_tasks; i++)
            w->column[i] = diff[i * n_cells + k];
        describe(w->column, s->n_tasks, &ret[k]);
        w->z[k] = NAN;
        if (ret[k].n < 2 || !scale_column(diff, s->n_tasks, n_cells, k, w->column))
            continue;
        w->z[k] = seen_z(w->column, s->n_tasks);
        seen[w->n_used].z = w->z[k];
        seen[w->n_used++].cell = k;
    }
    if (w->n_used)
        qsort(seen, w->n_used, sizeof *seen, by_z);
    for (k = 0; k < w->n_used; k++) {
        w->order[k] = seen[k].cell;
        if (scale_column(diff, s->n_tasks, n_cells, seen[k].cell, w->column))
            for (i = 0; i < s->n_tasks; i++)
                w->scaled[i * w->n_used + k] = w->column[i];
    }
    free(seen);
    return OK;
}

/* Adds one task's differences, signed, to the 16 rows of its group. */
static void add_to_tables(double *rows, size_t bit, const double *x, size_t n)
{
    size_t p, k;

    for (p = 0; p < N_PATTERNS; p++) {
        double sign = (p >> bit) & 1 ? -1 : 1;

        for (k = 0; k < n; k++)
            rows[p * BLOCK + k] += sign * x[k];
    }
}

/* The signed sums of each group's differences for cells [first, first + n). Opposite patterns are exact opposites. */
static void make_tables(struct work *w, const struct signflip *s, size_t first, size_t n)
{
    size_t i;

    for (i = 0; i < s->n_groups * TABLE; i++)
        w->table[i] = 0;
    for (i = 0; i < s->n_tasks; i++)
        add_to_tables(w->table + i / GROUP * TABLE, i % GROUP, w->scaled + i * w->n_used + first, n);
}

/* Adds flip f's hits for the block; `limit` is z as seen less the allowance for ties. */
static void count_flip(struct work *w, const struct signflip *s, size_t f, size_t n, const double limit[BLOCK])
{
    double sum[BLOCK] = {0};
    double max = w->max[f];
    size_t g, k;

    for (g = 0; g < s->n_groups; g++) {
        const double *row = w->table + g * TABLE + (size_t)s->pattern[g * s->n_flips + f] * BLOCK;

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

static double share(const struct signflip *s, size_t hits)
{
    if (s->is_enumerated)
        return (double)hits / (double)s->n_flips;
    return (double)(hits + 1) / (double)(s->n_flips + 1);
}

static void test_block(struct work *w, const struct signflip *s, size_t first, size_t n, struct signflip_cell *ret)
{
    double limit[BLOCK] = {0};
    size_t f, k;

    for (k = 0; k < n; k++)
        limit[k] = w->z[w->order[first + k]] - TIE;
    memset(w->hits, 0, BLOCK * sizeof *w->hits);
    memset(w->hits_max, 0, BLOCK * sizeof *w->hits_max);
    make_tables(w, s, first, n);
    for (f = 0; f < s->n_flips; f++)
        count_flip(w, s, f, n, limit);
    for (k = 0; k < n; k++) {
        ret[w->order[first + k]].p = share(s, w->hits[k]);
        ret[w->order[first + k]].p_adj = share(s, w->hits_max[k]);
    }
}

enum status signflip_test(const struct signflip *s, const double *diff, size_t n_cells, struct signflip_cell *ret,
                          struct error *err)
{
    AUTO(work) w = {0};
    double floor_p = 0;
    size_t k;

    TRY(work_init(&w, s, n_cells, err));
    TRY(prepare(&w, s, diff, n_cells, ret, err));
    for (k = 0; k < w.n_used; k += BLOCK)
        test_block(&w, s, k, w.n_used - k < BLOCK ? w.n_used - k : BLOCK, ret);
    /* Step down: no cell is more significant than one with a larger z. */
    for (k = w.n_used; k-- > 0;) {
        floor_p = fmax(floor_p, ret[w.order[k]].p_adj);
        ret[w.order[k]].p_adj = floor_p;
    }
    return OK;
}

double signflip_p_min(size_t n_pairs, size_t max_resamples)
{
    double p = ldexp(1, n_pairs > 1000 ? -999 : 1 - (int)n_pairs);

    if (!can_enumerate(n_pairs, max_resamples))
        p = fmax(p, 1 / (double)(max_resamples + 1));
    return fmin(p, 1);
}

size_t signflip_pairs_for(double p, size_t max_resamples)
{
    size_t n;

    for (n = 1; n < 1000; n++)
        if (signflip_p_min(n, max_resamples) <= p)
            return n;
    return 0;
}
