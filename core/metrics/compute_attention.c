#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/metrics/compute.h"
#include "core/metrics/compute_cubes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Row sums off 1 by more than the stored type's rounding explains. A correct softmax rounded to fp16 stays within 3e-4
 * and to bf16 within 2.3e-3 at 131,072 keys; the bounds leave a factor of two. */
static const double sum_tolerance[N_DTYPES] = {
    [DTYPE_F32] = 1e-4, [DTYPE_F16] = 1e-3, [DTYPE_BF16] = 5e-3, [DTYPE_F64] = 1e-6};

/* More rows than this share off by more than 2 %: the file does not hold what it says. */
#define MAX_BAD_SUM_SHARE 0.01

/* Samples in a row, in file order, in which a head has collapsed. */
enum { COLLAPSE_SAMPLES = 3 };

struct streak {
    size_t first, n;
};

/* Buffers of one pass; sizes follow the largest layer. */
struct pass {
    const struct backend *backend;
    size_t memory;
    void *a, *b; /* of the backend's host_alloc: weights, or q and k */
    size_t a_bytes, b_bytes;
    struct row_span *spans; /* owned: [n_rows]       */
    struct row_stat *rows;  /* owned: heads x rows   */
    struct head_stats *heads;
    double *entropies;      /* owned: heads x rows  */
    struct streak *streaks; /* owned: [heads]       */
    size_t cap_spans, cap_rows, cap_heads, cap_entropies, cap_streaks;
};

static void pass_done(struct pass *p)
{
    if (p->a)
        p->backend->host_free(p->a);
    if (p->b)
        p->backend->host_free(p->b);
    free(p->spans);
    free(p->rows);
    free(p->heads);
    free(p->entropies);
    free(p->streaks);
    memset(p, 0, sizeof *p);
}

static enum status reserve_host(const struct backend *backend, void **ptr, size_t *have, size_t want, struct error *err)
{
    if (want <= *have)
        return OK;
    if (*ptr)
        backend->host_free(*ptr);
    *have = 0;
    *ptr = backend->host_alloc(want);
    if (!*ptr)
        return error_set(err, ERR_MEMORY, "no memory for a tile of %zu bytes: lower --memory", want);
    *have = want;
    return OK;
}

/* Rows of a tile so that `per_row` bytes a row stay under the limit; at least one. */
static size_t tile_rows(const struct pass *p, size_t n_rows, size_t per_row)
{
    size_t fit = per_row ? p->memory / per_row : n_rows;

    return fit < 1 ? 1 : fit < n_rows ? fit : n_rows;
}

static void begin_heads(struct pass *p, const struct dump_layer *l)
{
    size_t h;

    for (h = 0; h < l->n_heads; h++)
        head_stats_init(&p->heads[h], p->entropies + h * l->n_rows);
}

/* Rows [row, row + n) of each of n_heads heads from `head` on, out of the file's own pages: all rows, or one head.
 * *ret_done is false where the file does not hold them as they are. */
static enum status mapped_tile(struct pass *p, struct dump *d, size_t layer, size_t sample, size_t head, size_t n_heads,
                               size_t row, size_t n, bool *ret_done, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    const struct dump_sample *s = &d->samples[sample];
    AUTO(dump_view) view = {0};
    struct row_entropy_args args = {.spans = p->spans + row,
                                    .dtype = l->dtype,
                                    .n_heads = n_heads,
                                    .n_rows = n,
                                    .n_cols = l->n_cols,
                                    .query_col = s->query_start - l->key_start + (int64_t)row,
                                    .sink_col = s->first - l->key_start};

    TRY(dump_view(d, layer, sample, DUMP_PART_WEIGHTS, head * l->n_rows + row, n_heads * n, &view, err));
    *ret_done = view.rows != NULL;
    if (!*ret_done)
        return OK;
    args.weights = view.rows;
    TRY(p->backend->row_entropy(&args, p->rows, err));
    heads_add(p->heads + head, n_heads, p->rows, n, sum_tolerance[l->dtype]);
    return OK;
}

/* As many heads at a time as `memory` allows, or one head tile by tile. `row_bytes`: of one row of one head. */
static enum status mapped_weights(struct pass *p, struct dump *d, size_t layer, size_t sample, size_t row_bytes,
                                  bool *ret_done, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t tile = tile_rows(p, l->n_rows, row_bytes), n_heads = 1, head, row;

    if (tile == l->n_rows)
        n_heads = tile_rows(p, l->n_heads, row_bytes * l->n_rows);
    *ret_done = p->backend->reads_mapped;
    for (head = 0; *ret_done && head < l->n_heads; head += n_heads) {
        size_t heads = l->n_heads - head < n_heads ? l->n_heads - head : n_heads;

        for (row = 0; *ret_done && row < l->n_rows; row += tile)
            TRY(mapped_tile(p, d, layer, sample, head, heads, row, l->n_rows - row < tile ? l->n_rows - row : tile,
                            ret_done, err));
    }
    if (!*ret_done)
        begin_heads(p, l);
    return OK;
}

/* Rows [first, last) of all heads from stored weights, tile by tile. */
static enum status weights_rows(struct pass *p, struct dump *d, size_t layer, size_t sample, size_t first, size_t last,
                                struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    const struct dump_sample *s = &d->samples[sample];
    size_t element = dtype_bytes(l->dtype), row_bytes, per_row, tile, bytes, row, h;
    bool is_done = false;

    if (!size_mul(l->n_cols, element, &row_bytes) || !size_mul(row_bytes, l->n_heads, &per_row))
        return error_set(err, ERR_LIMIT, "a row of %zu keys and %zu heads is too large", l->n_cols, l->n_heads);
    TRY(mapped_weights(p, d, layer, sample, row_bytes, &is_done, err));
    if (is_done)
        return OK;
    tile = tile_rows(p, last - first, per_row);
    if (!size_mul(tile, per_row, &bytes))
        return error_set(err, ERR_LIMIT, "a tile of %zu rows is too large", tile);
    TRY(reserve_host(p->backend, &p->a, &p->a_bytes, bytes, err));
    for (row = first; row < last; row += tile) {
        size_t n = last - row < tile ? last - row : tile;
        struct row_entropy_args args = {.weights = p->a,
                                        .spans = p->spans + row,
                                        .dtype = l->dtype,
                                        .n_heads = l->n_heads,
                                        .n_rows = n,
                                        .n_cols = l->n_cols,
                                        .query_col = s->query_start - l->key_start + (int64_t)row,
                                        .sink_col = s->first - l->key_start};

        for (h = 0; h < l->n_heads; h++)
            TRY(dump_read_weights(d, layer, sample, h, row, n, (char *)p->a + h * n * row_bytes, err));
        TRY(p->backend->row_entropy(&args, p->rows, err));
        heads_add(p->heads, l->n_heads, p->rows, n, sum_tolerance[l->dtype]);
    }
    return OK;
}

/* All heads from queries and keys, out of the file's own pages. */
static enum status mapped_qk(struct pass *p, struct dump *d, size_t layer, size_t sample, bool *ret_done,
                             struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    const struct dump_sample *s = &d->samples[sample];
    AUTO(dump_view) q = {0};
    AUTO(dump_view) k = {0};
    struct qk_entropy_args args = {.spans = p->spans,
                                   .dtype = l->dtype,
                                   .n_heads = l->n_heads,
                                   .n_kv_heads = l->n_kv_heads,
                                   .n_rows = l->n_rows,
                                   .n_cols = l->n_cols,
                                   .dim = l->dim,
                                   .scale = l->scale,
                                   .softcap = l->softcap,
                                   .query_col = s->query_start - l->key_start,
                                   .sink_col = s->first - l->key_start};

    *ret_done = false;
    TRY(dump_view(d, layer, sample, DUMP_PART_Q, 0, l->n_heads * l->n_rows, &q, err));
    TRY(dump_view(d, layer, sample, DUMP_PART_K, 0, l->n_kv_heads * l->n_cols, &k, err));
    if (!q.rows || !k.rows || q.map_bytes > p->memory || k.map_bytes > p->memory - q.map_bytes)
        return OK;
    args.q = q.rows;
    args.k = k.rows;
    TRY(p->backend->qk_entropy(&args, p->rows, err));
    heads_add(p->heads, l->n_heads, p->rows, l->n_rows, sum_tolerance[l->dtype]);
    *ret_done = true;
    return OK;
}

/* The same from queries and keys: one key head at a time, with the query heads that read it. */
static enum status qk_rows(struct pass *p, struct dump *d, size_t layer, size_t sample, size_t first, size_t last,
                           struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    const struct dump_sample *s = &d->samples[sample];
    size_t group = l->n_heads / l->n_kv_heads, q_row, k_bytes, per_row, tile, bytes, kv, row, h;
    bool is_done = false;

    if (p->backend->reads_mapped)
        TRY(mapped_qk(p, d, layer, sample, &is_done, err));
    if (is_done)
        return OK;
    if (!size_mul(l->dim, dtype_bytes(l->dtype), &q_row) || !size_mul(q_row, l->n_cols, &k_bytes) ||
        !size_mul(q_row, group, &per_row))
        return error_set(err, ERR_LIMIT, "%zu keys of %zu numbers are too large", l->n_cols, l->dim);
    tile = tile_rows(p, last - first, per_row);
    if (!size_mul(tile, per_row, &bytes))
        return error_set(err, ERR_LIMIT, "a tile of %zu rows is too large", tile);
    TRY(reserve_host(p->backend, &p->a, &p->a_bytes, bytes, err));
    TRY(reserve_host(p->backend, &p->b, &p->b_bytes, k_bytes, err));
    for (kv = 0; kv < l->n_kv_heads; kv++) {
        TRY(dump_read_k(d, layer, sample, kv, p->b, err));
        for (row = first; row < last; row += tile) {
            size_t n = last - row < tile ? last - row : tile;
            struct qk_entropy_args args = {.q = p->a,
                                           .k = p->b,
                                           .spans = p->spans + row,
                                           .dtype = l->dtype,
                                           .n_heads = group,
                                           .n_kv_heads = 1,
                                           .n_rows = n,
                                           .n_cols = l->n_cols,
                                           .dim = l->dim,
                                           .scale = l->scale,
                                           .softcap = l->softcap,
                                           .query_col = s->query_start - l->key_start + (int64_t)row,
                                           .sink_col = s->first - l->key_start};

            for (h = 0; h < group; h++)
                TRY(dump_read_q(d, layer, sample, kv * group + h, row, n, (char *)p->a + h * n * q_row, err));
            TRY(p->backend->qk_entropy(&args, p->rows, err));
            heads_add(p->heads + kv * group, group, p->rows, n, sum_tolerance[l->dtype]);
        }
    }
    return OK;
}

static enum status sample_layer(struct pass *p, struct dump *d, size_t layer, size_t sample, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t first = 0, last = l->n_rows, n_rows;

    if (!size_mul(l->n_heads, l->n_rows, &n_rows))
        return error_set(err, ERR_LIMIT, "%zu heads of %zu rows are too many", l->n_heads, l->n_rows);
    TRY(mem_grow(&p->spans, &p->cap_spans, l->n_rows, sizeof *p->spans, err));
    TRY(mem_grow(&p->rows, &p->cap_rows, n_rows, sizeof *p->rows, err));
    TRY(mem_grow(&p->heads, &p->cap_heads, l->n_heads, sizeof *p->heads, err));
    TRY(mem_grow(&p->entropies, &p->cap_entropies, n_rows, sizeof *p->entropies, err));
    begin_heads(p, l);
    dump_spans(l, &d->samples[sample], p->spans);
    while (first < last && p->spans[first].lo >= p->spans[first].hi)
        first++;
    while (last > first && p->spans[last - 1].lo >= p->spans[last - 1].hi)
        last--;
    if (first == last)
        return OK;
    TRY(l->kind == DUMP_QK ? qk_rows(p, d, layer, sample, first, last, err)
                           : weights_rows(p, d, layer, sample, first, last, err));
    heads_finish(p->heads, l->n_heads);
    return OK;
}

/* Rows of one dump by status, and a place to look at for each kind. */
struct census {
    uint64_t n[N_ROW_STATUSES];
    uint64_t n_sum_off, n_sum_bad;
    double sum_min, sum_max;
    char place[N_ROW_STATUSES][160], sum_place[160];
    uint64_t n_collapsed;
    char collapse_place[160];
};

static void count_head(struct census *c, const struct dump_layer *l, const struct dump_sample *s, size_t head,
                       const struct head_stats *h)
{
    char place[160];
    int i;

    snprintf(place, sizeof place, "sample '%.80s', layer %lld, head %zu", s->id, (long long)l->index, head);
    for (i = 0; i < N_ROW_STATUSES; i++) {
        if (h->n_rows[i] && !c->n[i])
            memcpy(c->place[i], place, sizeof place);
        c->n[i] += h->n_rows[i];
    }
    if (h->n_sum_off && !c->n_sum_off)
        memcpy(c->sum_place, place, sizeof place);
    c->n_sum_off += h->n_sum_off;
    c->n_sum_bad += h->n_sum_bad;
    c->sum_min = fmin(c->sum_min, h->sum_min);
    c->sum_max = fmax(c->sum_max, h->sum_max);
}

/* Called for the samples of a layer in file order. */
static void count_collapses(struct census *c, struct streak *streaks, const struct dump *d, const struct dump_layer *l,
                            size_t sample, const struct head_stats *heads)
{
    size_t h;

    for (h = 0; h < l->n_heads; h++) {
        if (!head_has_collapsed(&heads[h])) {
            streaks[h].n = 0;
            continue;
        }
        if (streaks[h].n == 0)
            streaks[h].first = sample;
        if (++streaks[h].n != COLLAPSE_SAMPLES)
            continue;
        if (c->n_collapsed++ == 0)
            snprintf(c->collapse_place, sizeof c->collapse_place, "layer %lld, head %zu from sample '%.80s' on",
                     (long long)l->index, h, d->samples[streaks[h].first].id);
    }
}

/* A sum for a cell and how many samples (repeats of one turn) went into it. */
static void fill_cells(struct metric_cubes *cubes, double *const *counts, const struct run *run,
                       const struct dump_layer *l, const struct dump_sample *s, const struct head_stats *heads)
{
    size_t at[N_AXES] = {[AXIS_TASK] = axes_find_task(&run->axes, s->task),
                         [AXIS_TURN] = axes_find(&run->axes, AXIS_TURN, s->turn),
                         [AXIS_LAYER] = axes_find(&run->axes, AXIS_LAYER, l->index)};
    size_t i, h;

    for (i = 0; i < cubes->n; i++) {
        const struct metric *m = cubes->metrics[i];
        size_t n = m->of_head ? l->n_heads : 1;

        for (h = 0; h < n; h++) {
            double value = m->of_head ? m->of_head(&heads[h]) : m->of_layer(heads, l->n_heads);
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

static enum status judge_rows(struct run *run, const struct dump *d, const struct census *c, struct error *err)
{
    static const char *const what[N_ROW_STATUSES] = {
        [ROW_ZERO] = "are all zero (fully masked)", [ROW_NAN] = "hold NaN (fully masked, or broken)"};
    uint64_t n_ok = c->n[ROW_OK];
    int i;

    if (c->n[ROW_NEGATIVE])
        return error_set(
            err, ERR_FORMAT,
            "'%s': %llu rows hold negative weights, the first in %s: these are no softmax weights; scores belong in "
            "'attn_logits'",
            d->path, (unsigned long long)c->n[ROW_NEGATIVE], c->place[ROW_NEGATIVE]);
    if (c->n[ROW_INF])
        return error_set(err, ERR_FORMAT,
                         "'%s': %llu rows hold infinities, the first in %s: dump the weights again in a wider type",
                         d->path, (unsigned long long)c->n[ROW_INF], c->place[ROW_INF]);
    if (n_ok == 0)
        return error_set(err, ERR_FORMAT,
                         "'%s': no row has weights to measure (%llu NaN, %llu all zero): dump it again", d->path,
                         (unsigned long long)c->n[ROW_NAN], (unsigned long long)c->n[ROW_ZERO]);
    if ((double)c->n_sum_bad > MAX_BAD_SUM_SHARE * (double)n_ok)
        return error_set(
            err, ERR_FORMAT,
            "'%s': %llu of %llu rows sum to something off 1 by more than 2 %% (between %.4g and %.4g), the first in "
            "%s: "
            "these are no softmax weights over the visible keys; check causal, window and lengths, or dump again",
            d->path, (unsigned long long)c->n_sum_bad, (unsigned long long)n_ok, c->sum_min, c->sum_max, c->sum_place);
    for (i = 0; i < N_ROW_STATUSES; i++)
        if (what[i] && c->n[i])
            TRY(run_note(run, err, "masked-rows", "'%s': %llu rows %s and are left out, the first in %s", d->path,
                         (unsigned long long)c->n[i], what[i], c->place[i]));
    if (c->n_collapsed)
        TRY(run_note(
            run, err, "collapsed-heads",
            "'%s': heads put nearly all weight on single keys over %d or more samples in a row (%llu such streaks), "
            "the first is %s; see attn.collapse",
            d->path, (int)COLLAPSE_SAMPLES, (unsigned long long)c->n_collapsed, c->collapse_place));
    if (c->n_sum_off)
        TRY(run_note(run, err, "row-sums",
                     "'%s': %llu of %llu rows sum to something off 1 (between %.6g and %.6g), the first in %s", d->path,
                     (unsigned long long)c->n_sum_off, (unsigned long long)n_ok, c->sum_min, c->sum_max, c->sum_place));
    return OK;
}

static enum status compute_dump(struct run *run, struct dump *d, struct pass *p, struct metric_cubes *cubes,
                                double *const *counts, struct error *err)
{
    struct census census = {.sum_min = INFINITY, .sum_max = -INFINITY};
    size_t layer, sample, h;

    for (layer = 0; layer < d->n_layers; layer++) {
        const struct dump_layer *l = &d->layers[layer];

        TRY(mem_grow(&p->streaks, &p->cap_streaks, l->n_heads, sizeof *p->streaks, err));
        memset(p->streaks, 0, p->cap_streaks * sizeof *p->streaks);
        for (sample = 0; sample < d->n_samples; sample++) {
            enum status st = sample_layer(p, d, layer, sample, err);

            if (st != OK) {
                error_context(err, "sample '%s', layer %lld", d->samples[sample].id, (long long)l->index);
                return st;
            }
            for (h = 0; h < l->n_heads; h++)
                count_head(&census, l, &d->samples[sample], h, &p->heads[h]);
            count_collapses(&census, p->streaks, d, l, sample, p->heads);
            fill_cells(cubes, counts, run, l, &d->samples[sample], p->heads);
        }
    }
    TRY(dump_unchanged(d, err));
    return judge_rows(run, d, &census, err);
}

static bool reads_attention(const struct metric *metric)
{
    return metric->of_head || metric->of_layer;
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

enum status compute_attention(struct run *run, struct dump *const *dumps, size_t n_dumps, const struct backend *backend,
                              size_t memory, struct error *err)
{
    AUTO(pass) pass = {.backend = backend, .memory = memory};
    AUTO(metric_cubes) cubes = {0};
    AUTO(arena) arena = {0};
    double **counts = NULL;
    size_t i;

    if (n_dumps == 0)
        return OK;
    TRY(metric_cubes_init(&cubes, run, reads_attention, err));
    TRY(arena_new(&arena, cubes.n, sizeof *counts, &counts, err));
    for (i = 0; i < cubes.n; i++)
        TRY(arena_new(&arena, cube_len(&cubes.cubes[i]), sizeof **counts, &counts[i], err));
    for (i = 0; i < n_dumps; i++)
        TRY(compute_dump(run, dumps[i], &pass, &cubes, counts, err));
    average(&cubes, counts);
    return metric_cubes_keep(&cubes, run, err);
}
