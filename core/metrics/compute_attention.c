#include "core/base/scope.h"
#include "core/metrics/attention_census.h"
#include "core/metrics/attention_content.h"
#include "core/metrics/attention_pass.h"
#include "core/metrics/compute.h"
#include "core/metrics/compute_cubes.h"

#include <assert.h>
#include <math.h>

/* A metric's value for one head, or for the whole layer. */
static double value_of(const struct metric *m, const struct head_stats *heads, size_t n_heads, size_t head,
                       const struct attention_options *options)
{
    if (m->of_head)
        return m->of_head(&heads[head]);
    return m->of_layer ? m->of_layer(heads, n_heads) : m->of_head_by(&heads[head], options);
}

/* A sum for a cell and how many samples (repeats of one turn) went into it. */
static void fill_cells(struct metric_cubes *cubes, double *const *counts, const struct run *run,
                       const struct dump_layer *l, const struct dump_sample *s, const struct head_stats *heads,
                       const struct attention_options *options)
{
    size_t at[N_AXES] = {[AXIS_TASK] = axes_find_task(&run->axes, s->task),
                         [AXIS_TURN] = axes_find(&run->axes, AXIS_TURN, s->turn),
                         [AXIS_LAYER] = axes_find(&run->axes, AXIS_LAYER, l->index)};
    size_t i, h;

    for (i = 0; i < cubes->n; i++) {
        const struct metric *m = cubes->metrics[i];
        size_t n = m->of_layer ? 1 : l->n_heads;

        for (h = 0; h < n; h++) {
            double value = value_of(m, heads, l->n_heads, h, options);
            size_t cell;

            at[AXIS_HEAD] = h;
            cell = cube_index(&cubes->cubes[i], at);
            if (isnan(value))
                continue;
            cubes->cubes[i].values[cell] = counts[i][cell] > 0 ? cubes->cubes[i].values[cell] + value : value;
            counts[i][cell]++;
        }
    }
}

/* Repeats of a turn have one digest: the sum of theirs, which hangs on no order. */
static void add_digest(unsigned char *to, const unsigned char *digest)
{
    unsigned carry = 0;
    size_t i;

    for (i = DIGEST_BYTES; i-- > 0;) {
        carry += (unsigned)to[i] + digest[i];
        to[i] = (unsigned char)(carry & 0xff);
        carry >>= 8;
    }
}

static_assert((int)PROFILE_BINS == (int)PROFILE_BUCKETS, "a bin is a bucket of the kernels");

/* Weight in units of the kernels, whole numbers that a double holds; repeats of a turn are taken together. */
static void add_profile(double *to, const uint64_t *profile)
{
    size_t i;

    for (i = 0; i < PROFILE_BINS; i++)
        to[i] = (isnan(to[i]) ? 0 : to[i]) + (double)profile[i];
}

/* To shares; a head without weight has none. */
static void normalise_profiles(struct fingerprints *f)
{
    size_t len = fingerprints_len(f), cell, i;

    for (cell = 0; cell < len; cell++) {
        double *profile = f->profile + cell * PROFILE_BINS, sum = 0;

        for (i = 0; i < PROFILE_BINS; i++)
            sum += profile[i];
        for (i = 0; i < PROFILE_BINS; i++)
            profile[i] = sum > 0 ? profile[i] / sum : NAN;
    }
}

static void fill_fingerprints(struct run *run, const struct dump_layer *l, const struct dump_sample *s,
                              const struct pass *p)
{
    struct fingerprints *f = &run->fingerprints;
    size_t at[N_AXES] = {[AXIS_TASK] = axes_find_task(&run->axes, s->task),
                         [AXIS_TURN] = axes_find(&run->axes, AXIS_TURN, s->turn),
                         [AXIS_LAYER] = axes_find(&run->axes, AXIS_LAYER, l->index)};
    size_t h;

    for (h = 0; h < l->n_heads; h++) {
        size_t cell;

        at[AXIS_HEAD] = h;
        cell = fingerprints_index(f, at);
        add_digest(f->digest + cell * DIGEST_BYTES, p->digests + h * DIGEST_BYTES);
        add_profile(f->profile + cell * PROFILE_BINS, p->profiles + h * PROFILE_BUCKETS);
    }
}

static enum status compute_dump(struct run *run, struct dump *d, struct pass *p, struct metric_cubes *cubes,
                                double *const *counts, struct error *err)
{
    AUTO(census) census = {0};
    AUTO(content) content = {0};
    size_t layer, sample;

    dump_limit_memory(d, p->memory);
    census_init(&census, p->options);
    content_begin(&content, d);
    for (layer = 0; layer < d->n_layers; layer++) {
        const struct dump_layer *l = &d->layers[layer];

        if (l->kind == DUMP_QK && p->options->eps_form != EPS_NONE)
            return error_set(err, ERR_USAGE,
                             "'%s', layer %lld holds queries and keys: an epsilon is for stored weights, leave "
                             "--entropy-eps out",
                             d->path, (long long)l->index);
        TRY(census_begin_layer(&census, l, err));
        for (sample = 0; sample < d->n_samples; sample++) {
            enum status st = pass_measure(p, d, layer, sample, err);

            if (st != OK) {
                error_context(err, "sample '%s', layer %lld", d->samples[sample].id, (long long)l->index);
                return st;
            }
            census_add(&census, d, layer, sample, p->heads);
            fill_cells(cubes, counts, run, l, &d->samples[sample], p->heads, p->options);
            fill_fingerprints(run, l, &d->samples[sample], p);
            content_add(&content, p->digests, l->n_heads);
        }
        TRY(content_end_layer(&content, l, err));
    }
    TRY(dump_unchanged(d, err));
    TRY(content_end(&content, &d->source.content, err));
    return census_judge(&census, run, d, err);
}

static bool reads_attention(const struct metric *metric)
{
    return metric->of_head || metric->of_head_by || metric->of_layer;
}

/* Repeats of a turn are averaged: a cell of attention has no repeat axis. */
static void average(struct metric_cubes *cubes, double *const *counts)
{
    size_t i, cell;

    for (i = 0; i < cubes->n; i++)
        for (cell = 0; cell < cube_len(&cubes->cubes[i]); cell++)
            if (counts[i][cell] > 1)
                cubes->cubes[i].values[cell] /= counts[i][cell];
}

enum status compute_attention(struct run *run, struct dump *const *dumps, size_t n_dumps,
                              const struct attention_options *options, const struct backend *backend, size_t memory,
                              struct error *err)
{
    AUTO(pass) pass = {.backend = backend, .options = options, .memory = memory};
    AUTO(metric_cubes) cubes = {0};
    AUTO(arena) arena = {0};
    double **counts = NULL;
    size_t i;

    if (n_dumps == 0)
        return OK;
    backend_set_memory(memory);
    fingerprints_done(&run->fingerprints);
    TRY(fingerprints_init(&run->fingerprints, &run->axes, err));
    TRY(metric_cubes_init(&cubes, run, reads_attention, err));
    TRY(arena_new(&arena, cubes.n, sizeof *counts, &counts, err));
    for (i = 0; i < cubes.n; i++)
        TRY(arena_new(&arena, cube_len(&cubes.cubes[i]), sizeof **counts, &counts[i], err));
    for (i = 0; i < n_dumps; i++)
        TRY(compute_dump(run, dumps[i], &pass, &cubes, counts, err));
    average(&cubes, counts);
    normalise_profiles(&run->fingerprints);
    TRY(attention_options_keep(options, run, err));
    return metric_cubes_keep(&cubes, run, err);
}
