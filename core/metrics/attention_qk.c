#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/metrics/attention_parts.h"

#include <string.h>

/* Of queries and keys read at a time for a CPU: more would only take memory. */
enum { CPU_QK_BYTES = 16 << 20 };

/* Some key heads with the query heads that read them, tile by tile of queries. */
struct qk_tile {
    size_t kv_head, n_kv_heads, group; /* counted from the part's first */
    size_t n_rows;                     /* of a tile */
};

static struct row_span seen_keys(const struct part *part)
{
    const struct row_span *spans = part->pass->spans + part->first;
    struct row_span seen = {UINT32_MAX, 0};
    size_t i;

    for (i = 0; i < part->n; i++) {
        if (spans[i].lo >= spans[i].hi)
            continue;
        seen.lo = spans[i].lo < seen.lo ? spans[i].lo : seen.lo;
        seen.hi = spans[i].hi > seen.hi ? spans[i].hi : seen.hi;
    }
    return seen;
}

/* All keys of the tile's heads, and the digests of those that are seen behind the digests of each query head. */
static enum status read_keys(const struct part *part, const struct dump_rows *k, const struct qk_tile *tile,
                             struct error *err)
{
    struct pass *p = part->pass;
    size_t n_cols = part->layer->n_cols, i;
    struct row_span seen = seen_keys(part);

    TRY(mem_grow(&p->key_digests, &p->cap_key_digests, tile->n_kv_heads * n_cols, DIGEST_BYTES, err));
    TRY(part_fill(&(struct fill){k, part->head / tile->group + tile->kv_head, tile->n_kv_heads, 0, n_cols, NULL, p->b,
                                 p->key_digests, n_cols * DIGEST_BYTES, false},
                  err));
    for (i = 0; i < tile->n_kv_heads * tile->group; i++)
        memcpy(part_digest(part, tile->kv_head * tile->group + i, part->n),
               p->key_digests + (i / tile->group * n_cols + seen.lo) * DIGEST_BYTES, part->n_keys * DIGEST_BYTES);
    if (!part->layer->has_lse)
        return OK;
    TRY(mem_grow(&p->key_norms, &p->cap_key_norms, tile->n_kv_heads, sizeof *p->key_norms, err));
    for (i = 0; i < tile->n_kv_heads; i++)
        p->key_norms[i] = part_lse_norm(part, p->b, i * n_cols + seen.lo, seen.hi - seen.lo);
    return OK;
}

static enum status measure_rows(const struct part *part, const struct dump_rows *q, const struct qk_tile *tile,
                                size_t row, size_t n, struct error *err)
{
    const struct dump_layer *l = part->layer;
    struct pass *p = part->pass;
    size_t head = tile->kv_head * tile->group, n_heads = tile->n_kv_heads * tile->group;
    struct row_entropy_args place = part_args(part, NULL, head, row, n_heads, n);
    struct qk_entropy_args args = {.q = p->a,
                                   .k = p->b,
                                   .spans = place.spans,
                                   .dtype = l->dtype,
                                   .n_heads = n_heads,
                                   .n_kv_heads = tile->n_kv_heads,
                                   .n_rows = n,
                                   .n_cols = l->n_cols,
                                   .dim = l->dim,
                                   .scale = l->scale,
                                   .softcap = l->softcap,
                                   .query_col = place.query_col,
                                   .sink_col = place.sink_col,
                                   .profile = place.profile};

    TRY(part_fill(&(struct fill){q, part->head + head, n_heads, part->first + row, n, NULL, p->a,
                                 part_digest(part, head, row), (part->n + part->n_keys) * DIGEST_BYTES, false},
                  err));
    if (l->has_lse) {
        TRY(mem_grow(&p->lse, &p->cap_lse, n_heads * n, sizeof *p->lse, err));
        args.lse = p->lse;
    }
    TRY(p->backend->qk_entropy(&args, p->tile, err));
    if (l->has_lse)
        TRY(part_lse_check(
            part, &(struct lse_rows){head, n_heads, row, n, tile->group, p->a, p->key_norms, p->tile, p->lse}, err));
    part_keep(part, p->tile, head, n_heads, row, n);
    return OK;
}

static enum status too_large(const struct part *part, size_t key_bytes, size_t row_bytes, struct error *err)
{
    return error_set(err, ERR_LIMIT,
                     "the %zu keys of a head take %zu bytes and a query of its group %zu, and the memory is %zu: "
                     "raise --memory",
                     part->layer->n_cols, key_bytes, row_bytes, part->pass->memory);
}

enum status part_qk(const struct part *part, const struct dump_rows *q, const struct dump_rows *k, struct error *err)
{
    struct pass *p = part->pass;
    const struct dump_layer *l = part->layer;
    size_t memory = p->backend->works_in_bands && p->memory > CPU_QK_BYTES ? CPU_QK_BYTES : p->memory;
    struct qk_tile tile = {.group = l->n_heads / l->n_kv_heads};
    size_t n_kv = part->n_heads / tile.group, row_bytes = tile.group * q->row_bytes;
    size_t key_bytes = l->n_cols * k->row_bytes, step, row;

    if (key_bytes + row_bytes > memory)
        memory = p->memory;
    if (key_bytes > memory || row_bytes > memory - key_bytes)
        return too_large(part, key_bytes, row_bytes, err);
    step = pass_fit(memory, n_kv, key_bytes + part->n * row_bytes);
    tile.n_rows = pass_fit(memory / step - key_bytes, part->n, row_bytes);
    TRY(pass_reserve(p->backend, &p->a, &p->a_bytes, step * tile.n_rows * row_bytes, err));
    TRY(pass_reserve(p->backend, &p->b, &p->b_bytes, step * key_bytes, err));
    TRY(mem_grow(&p->tile, &p->cap_tile, step * tile.group * tile.n_rows, sizeof *p->tile, err));
    for (tile.kv_head = 0; tile.kv_head < n_kv; tile.kv_head += step) {
        tile.n_kv_heads = n_kv - tile.kv_head < step ? n_kv - tile.kv_head : step;
        TRY(read_keys(part, k, &tile, err));
        for (row = 0; row < part->n; row += tile.n_rows)
            TRY(measure_rows(part, q, &tile, row, part->n - row < tile.n_rows ? part->n - row : tile.n_rows, err));
    }
    return OK;
}
