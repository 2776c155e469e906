#include "core/metrics/attention_pass.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"

#include <stdlib.h>
#include <string.h>

/* Row sums off 1 by more than the stored type's rounding explains. A correct softmax rounded to fp16 stays within 3e-4
 * and to bf16 within 2.3e-3 at 131,072 keys; the bounds leave a factor of two. */
static const double sum_tolerance[N_DTYPES] = {
    [DTYPE_F32] = 1e-4, [DTYPE_F16] = 1e-3, [DTYPE_BF16] = 5e-3,    [DTYPE_F64] = 1e-6,
    [DTYPE_U8] = 2e-2,  [DTYPE_I8] = 2e-2,  [DTYPE_F8_E4M3] = 2e-2, [DTYPE_F8_E5M2] = 2e-2};

void pass_done(struct pass *p)
{
    if (p->a)
        p->backend->host_free(p->a);
    if (p->b)
        p->backend->host_free(p->b);
    free(p->spans);
    free(p->rows);
    free(p->heads);
    free(p->entropies);
    free(p->digests);
    head_digests_done(&p->hashing);
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

static enum status begin_heads(struct pass *p, const struct dump_layer *l, struct error *err)
{
    size_t h;

    for (h = 0; h < l->n_heads; h++)
        head_stats_init(&p->heads[h], p->entropies + h * l->n_rows);
    return head_digests_begin(&p->hashing, l->n_heads, err);
}

/* Rows of heads from `head` on as they were given to a kernel. */
static void digest_weights(struct pass *p, size_t head, const struct row_entropy_args *args)
{
    struct digest_rows rows = {.rows = args->weights,
                               .spans = args->spans,
                               .n_heads = args->n_heads,
                               .n_rows = args->n_rows,
                               .n_columns = args->n_cols,
                               .element = dtype_bytes(args->dtype)};

    head_digests_add(&p->hashing, head, &rows);
}

static void digest_queries(struct pass *p, size_t head, const struct qk_entropy_args *args)
{
    struct digest_rows rows = {.rows = args->q,
                               .spans = args->spans,
                               .n_heads = args->n_heads,
                               .n_rows = args->n_rows,
                               .n_columns = args->dim,
                               .element = dtype_bytes(args->dtype),
                               .whole_rows = true};

    head_digests_add(&p->hashing, head, &rows);
}

/* The keys of one key head that any row of the sample sees, for the query heads that read it. */
static void digest_keys(struct pass *p, const struct dump_layer *l, size_t kv_head, const void *keys)
{
    size_t group = l->n_heads / l->n_kv_heads, key_bytes = l->dim * dtype_bytes(l->dtype), i;
    struct row_span seen = {UINT32_MAX, 0};

    for (i = 0; i < l->n_rows; i++) {
        if (p->spans[i].lo >= p->spans[i].hi)
            continue;
        seen.lo = p->spans[i].lo < seen.lo ? p->spans[i].lo : seen.lo;
        seen.hi = p->spans[i].hi > seen.hi ? p->spans[i].hi : seen.hi;
    }
    head_digests_add_keys(&p->hashing, kv_head * group, group, (const char *)keys + seen.lo * key_bytes,
                          seen.hi - seen.lo, key_bytes);
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
    digest_weights(p, head, &args);
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
    return *ret_done ? OK : begin_heads(p, l, err);
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
        digest_weights(p, 0, &args);
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
    size_t kv;

    *ret_done = false;
    TRY(dump_view(d, layer, sample, DUMP_PART_Q, 0, l->n_heads * l->n_rows, &q, err));
    TRY(dump_view(d, layer, sample, DUMP_PART_K, 0, l->n_kv_heads * l->n_cols, &k, err));
    if (!q.rows || !k.rows || q.map_bytes > p->memory || k.map_bytes > p->memory - q.map_bytes)
        return OK;
    args.q = q.rows;
    args.k = k.rows;
    TRY(p->backend->qk_entropy(&args, p->rows, err));
    heads_add(p->heads, l->n_heads, p->rows, l->n_rows, sum_tolerance[l->dtype]);
    digest_queries(p, 0, &args);
    for (kv = 0; kv < l->n_kv_heads; kv++)
        digest_keys(p, l, kv, (const char *)k.rows + kv * l->n_cols * l->dim * dtype_bytes(l->dtype));
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
            digest_queries(p, kv * group, &args);
        }
        digest_keys(p, l, kv, p->b);
    }
    return OK;
}

enum status pass_measure(struct pass *p, struct dump *d, size_t layer, size_t sample, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t first = 0, last = l->n_rows, n_rows;

    if (!size_mul(l->n_heads, l->n_rows, &n_rows))
        return error_set(err, ERR_LIMIT, "%zu heads of %zu rows are too many", l->n_heads, l->n_rows);
    TRY(mem_grow(&p->spans, &p->cap_spans, l->n_rows, sizeof *p->spans, err));
    TRY(mem_grow(&p->rows, &p->cap_rows, n_rows, sizeof *p->rows, err));
    TRY(mem_grow(&p->heads, &p->cap_heads, l->n_heads, sizeof *p->heads, err));
    TRY(mem_grow(&p->entropies, &p->cap_entropies, n_rows, sizeof *p->entropies, err));
    TRY(mem_grow(&p->digests, &p->cap_digests, l->n_heads, DIGEST_BYTES, err));
    memset(p->digests, 0, l->n_heads * DIGEST_BYTES);
    TRY(begin_heads(p, l, err));
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
    head_digests_end(&p->hashing, l->n_heads, p->digests);
    return OK;
}
