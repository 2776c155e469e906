#include "core/stats/relabel.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/stats/maxt.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two means of the same values in another order differ by rounding alone. */
static const double MIRROR = 1e-9;

void relabel_done(struct relabel *r)
{
    free(r->pattern);
    free(r->first);
    free(r->n_options);
    memset(r, 0, sizeof *r);
}

/* The number of all relabellings; 0 when there are more than `max`. */
static size_t count_all(const size_t *n_options, size_t n_tasks, size_t max)
{
    size_t i, n = 1;

    for (i = 0; i < n_tasks; i++) {
        if (n > max / n_options[i])
            return 0;
        n *= n_options[i];
    }
    return n;
}

/* Draw f in mixed radix, a digit a task: the first of them leaves every label as it is. */
static void enumerate(struct relabel *r)
{
    size_t g, f, i, before = 1;

    for (g = 0; g < r->n_groups; g++) {
        size_t patterns = 1;

        for (i = r->first[g]; i < r->first[g + 1]; i++)
            patterns *= r->n_options[i];
        for (f = 0; f < r->n_draws; f++)
            r->pattern[g * r->n_draws + f] = (uint8_t)(f / before % patterns);
        before *= patterns;
    }
}

/* Choice of draw f; of two runs by the bit that the sign-flip test takes. `bits` is the block that f lies in. */
static size_t choice(uint64_t seed, uint64_t stream, size_t n_options, size_t f, struct rng_block *bits)
{
    size_t per_block = n_options == 2 ? 128 : 4;

    if (f % per_block == 0)
        *bits = rng_at(seed, stream, f / per_block);
    if (n_options == 2)
        return (bits->word[f % 128 / 32] >> (f % 32)) & 1u;
    return (size_t)(((uint64_t)bits->word[f % 4] * n_options) >> 32);
}

static void draw(struct relabel *r, const uint64_t *stream, uint64_t seed)
{
    size_t g, i, f;

    for (g = 0; g < r->n_groups; g++) {
        size_t stride = 1;

        for (i = r->first[g]; i < r->first[g + 1]; i++) {
            uint8_t *row = r->pattern + g * r->n_draws;
            struct rng_block bits = {{0}};

            for (f = 0; f < r->n_draws; f++)
                row[f] = (uint8_t)(row[f] + stride * choice(seed, stream[i], r->n_options[i], f, &bits));
            stride *= r->n_options[i];
        }
    }
}

enum status relabel_init(struct relabel *r, const uint64_t *stream, const size_t *n_options, size_t n_tasks,
                         uint64_t seed, size_t max_resamples, struct error *err)
{
    AUTO(relabel) out = {.n_tasks = n_tasks};
    size_t len;

    TRY(mem_new(n_tasks, sizeof *out.n_options, &out.n_options, err));
    TRY(mem_new(n_tasks + 1, sizeof *out.first, &out.first, err));
    for (len = 0; len < n_tasks; len++) {
        assert(n_options[len] >= 1 && n_options[len] <= MAXT_OPTIONS);
        out.n_options[len] = n_options[len];
    }
    out.n_groups = maxt_groups(n_options, n_tasks, out.first);
    out.n_draws = count_all(n_options, n_tasks, max_resamples);
    out.is_enumerated = out.n_draws > 0;
    if (!out.is_enumerated)
        out.n_draws = max_resamples;
    if (!size_mul(out.n_groups, out.n_draws, &len))
        return error_set(err, ERR_LIMIT, "%zu tasks are too many for %zu relabellings", n_tasks, max_resamples);
    TRY(mem_new(len, 1, &out.pattern, err));
    if (out.is_enumerated)
        enumerate(&out);
    else
        draw(&out, stream, seed);
    *r = out;
    memset(&out, 0, sizeof out);
    return OK;
}

/* One cell's value of a task's run: as seen where the run has none, 0 where there is no pair. */
static double value_of(const double *rows, size_t n_cells, size_t cell, size_t option)
{
    double seen = rows[cell], other = rows[option * n_cells + cell];

    if (!isfinite(seen))
        return 0;
    return isfinite(other) ? other : seen;
}

/* Whether a relabelling swaps the sides: then it gives the same difference the other way. */
static bool is_mirrored(const double *rows, size_t n_options, size_t n_cells, size_t cell)
{
    size_t c;

    for (c = 0; c < n_options; c++)
        if (fabs(rows[cell] + rows[c * n_cells + cell]) <= MIRROR * fabs(rows[cell]))
            return true;
    return false;
}

/* The smallest p: the relabellings of the runs that have a value, one of which is the one seen, and one more where
 * both sides have as many runs. */
static double smallest_p(const struct relabel *r, const double *diff, size_t n_cells, size_t cell)
{
    bool mirrored = true;
    size_t i, c, tasks = 0;
    double p = 1;

    for (i = 0; i < r->n_tasks; diff += r->n_options[i++] * n_cells) {
        size_t n = 0;

        for (c = 0; c < r->n_options[i] && isfinite(diff[cell]); c++)
            n += isfinite(diff[c * n_cells + cell]);
        if (!n)
            continue;
        tasks++;
        p /= (double)n;
        mirrored = mirrored && is_mirrored(diff, r->n_options[i], n_cells, cell);
    }
    if (mirrored && tasks)
        p *= 2;
    return fmax(p, r->is_enumerated ? 0 : 1 / (double)(r->n_draws + 1));
}

/* Fills one column of `part`, scaled; returns |sum| as seen, NaN when there is nothing to test: no pair, or the same
 * sum under every relabelling. */
static double scale_cell(const struct relabel *r, const double *diff, size_t n_cells, size_t cell, double *part)
{
    double largest = 0, squares = 0, sum = 0;
    size_t i, c, row = 0;

    for (i = 0; i < r->n_tasks; row += r->n_options[i++])
        for (c = 0; c < r->n_options[i]; c++) {
            double d = value_of(diff + row * n_cells, n_cells, cell, c);

            part[(row + c) * n_cells + cell] = d;
            largest = fmax(largest, fabs(d));
        }
    if (!(largest > 0))
        return NAN;
    /* First by the largest: squares of 1e200 or 1e-200 would leave the range. */
    for (i = 0, row = 0; i < r->n_tasks; row += r->n_options[i++])
        for (c = 0; c < r->n_options[i]; c++) {
            double *d = &part[(row + c) * n_cells + cell];

            *d /= largest;
            squares += *d * *d / (double)r->n_options[i];
        }
    for (i = 0, row = 0; i < r->n_tasks; row += r->n_options[i++]) {
        for (c = 0; c < r->n_options[i]; c++)
            part[(row + c) * n_cells + cell] /= sqrt(squares);
        sum += part[row * n_cells + cell];
    }
    return fabs(sum);
}

/* mean, sd, t and n of the differences as they are. */
static enum status describe(const struct relabel *r, const double *diff, size_t n_cells, struct signflip_cell *ret,
                            struct error *err)
{
    double *column = NULL;
    size_t i, k, row;

    TRY(mem_new(r->n_tasks, sizeof *column, &column, err));
    for (k = 0; k < n_cells; k++) {
        for (i = 0, row = 0; i < r->n_tasks; row += r->n_options[i++])
            column[i] = diff[row * n_cells + k];
        signflip_describe(column, r->n_tasks, &ret[k]);
        if (ret[k].n)
            ret[k].p_min = smallest_p(r, diff, n_cells, k);
    }
    free(column);
    return OK;
}

struct work {
    double *part, *z, *p, *p_adj; /* owned */
};

static void work_done(struct work *w)
{
    free(w->part);
    free(w->z);
    free(w->p);
    free(w->p_adj);
    memset(w, 0, sizeof *w);
}

enum status relabel_test(const struct relabel *r, const double *diff, size_t n_cells, struct signflip_cell *ret,
                         struct error *err)
{
    const struct maxt m = {.n_tasks = r->n_tasks,
                           .n_groups = r->n_groups,
                           .n_draws = r->n_draws,
                           .n_options = r->n_options,
                           .first = r->first,
                           .pattern = r->pattern,
                           .is_enumerated = r->is_enumerated};
    AUTO(work) w = {0};
    size_t i, k, len, rows = 0;

    for (i = 0; i < r->n_tasks; i++)
        rows += r->n_options[i];
    if (!size_mul(rows, n_cells, &len))
        return error_set(err, ERR_LIMIT, "%zu rows by %zu cells are too many to compare", rows, n_cells);
    TRY(mem_new(len, sizeof *w.part, &w.part, err));
    TRY(mem_new(n_cells, sizeof *w.z, &w.z, err));
    TRY(mem_new(n_cells, sizeof *w.p, &w.p, err));
    TRY(mem_new(n_cells, sizeof *w.p_adj, &w.p_adj, err));
    TRY(describe(r, diff, n_cells, ret, err));
    for (k = 0; k < n_cells; k++)
        w.z[k] = scale_cell(r, diff, n_cells, k, w.part);
    TRY(maxt_test(&m, w.part, w.z, n_cells, w.p, w.p_adj, err));
    for (k = 0; k < n_cells; k++) {
        if (isnan(w.z[k]))
            continue;
        ret[k].p = w.p[k];
        ret[k].p_adj = w.p_adj[k];
    }
    return OK;
}

size_t relabel_pairs_for(double p, size_t n_options, size_t max_resamples)
{
    size_t n;

    if (n_options <= 2)
        return signflip_pairs_for(p, max_resamples);
    for (n = 1; n < 1000; n++) {
        double least = pow((double)n_options, -(double)n);

        if (least * (double)max_resamples < 1)
            least = fmax(least, 1 / (double)(max_resamples + 1));
        if (least <= p)
            return n;
    }
    return 0;
}
