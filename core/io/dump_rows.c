#include "core/io/dump_rows.h"

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/dump_values.h"
#include "core/io/h5chunk.h"

#include <stdlib.h>
#include <string.h>

/* A call costs as much time as copying this. */
enum { WORTH_A_CALL = 8192 };

/* Chunks that hold several samples are left to the container, which keeps them from one sample to the next. */
static void use_place(struct dump_rows *r)
{
    const struct h5chunk *c = r->place.chunks;

    r->step_heads = r->step_rows = 1;
    if (c && (c->chunk[0] != 1 || c->codec.element != r->element))
        r->place.chunks = NULL;
    else if (c) {
        r->step_heads = c->chunk[1] < r->n_heads ? c->chunk[1] : r->n_heads;
        r->step_rows = c->chunk[2] < r->n_rows ? c->chunk[2] : r->n_rows;
        r->extra_bytes = (CHUNK_COPIES - 1) * c->codec.bytes;
    }
    r->for_threads = r->place.fd >= 0 || r->place.chunks;
}

enum status dump_rows_find(struct dump_rows *r, struct dump *d, size_t layer, size_t sample, enum dump_part part,
                           struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    struct dump_rows rows = {.dump = d, .layer = layer, .sample = sample, .part = part, .place.fd = -1};
    size_t n;

    rows.n_heads = part == DUMP_PART_K ? l->n_kv_heads : l->n_heads;
    rows.n_rows = part == DUMP_PART_K ? l->n_cols : l->n_rows;
    rows.n_cols = part == DUMP_PART_WEIGHTS ? l->n_cols : l->dim;
    rows.element = dtype_bytes(l->dtype);
    if (!size_mul(rows.n_cols, rows.element, &rows.row_bytes) || !size_mul(rows.row_bytes, rows.n_rows, &n) ||
        !size_mul(n, rows.n_heads, &n))
        return error_set(err, ERR_LIMIT, "rows of %zu keys are too large", l->n_cols);
    if (!dump_is_converted(l, part))
        TRY(d->reader->format->place(d->reader, dump_part_name(l, part).text, sample, &rows.place, err));
    use_place(&rows);
    *r = rows;
    return OK;
}

enum status dump_rows_too_large(const struct dump_rows *r, size_t memory, struct error *err)
{
    return h5chunk_too_large(r->place.chunks, r->place.dataset, memory, err);
}

void dump_band_done(struct dump_band *b)
{
    free(b->buffer);
    chunk_decoder_done(&b->decoder);
    memset(b, 0, sizeof *b);
}

static enum status check_rows(const struct dump_rows *r, size_t head, size_t n_heads, size_t row, size_t n,
                              struct error *err)
{
    if (head > r->n_heads || n_heads > r->n_heads - head || row > r->n_rows || n > r->n_rows - row)
        return error_set(err, ERR_INTERNAL, "'%s': rows %zu + %zu of heads %zu + %zu do not exist", r->dump->path, row,
                         n, head, n_heads);
    return OK;
}

static enum status read_range(const struct dump_rows *r, uint64_t at, size_t from, size_t to, char *ret,
                              struct error *err)
{
    return file_read_at(r->place.fd, r->dump->path, at + from, ret + from, to - from, err);
}

/* Visible parts of rows that begin at `at` in the file; parts that lie close together in one read. */
static enum status read_spans(const struct dump_rows *r, uint64_t at, size_t n, const struct row_span *spans, char *ret,
                              struct error *err)
{
    size_t from = 0, to = 0, i;

    for (i = 0; i < n; i++) {
        size_t lo = i * r->row_bytes + spans[i].lo * r->element, hi = i * r->row_bytes + spans[i].hi * r->element;

        if (spans[i].lo >= spans[i].hi)
            continue;
        if (to > 0 && lo - to > WORTH_A_CALL) {
            TRY(read_range(r, at, from, to, ret, err));
            to = 0;
        }
        if (to == 0)
            from = lo;
        to = hi;
    }
    return to > 0 ? read_range(r, at, from, to, ret, err) : OK;
}

enum status dump_rows_read(const struct dump_rows *r, size_t head, size_t row, size_t n, const struct row_span *spans,
                           void *ret, struct error *err)
{
    uint64_t at = r->place.offset + ((uint64_t)head * r->n_rows + row) * r->row_bytes;

    TRY(check_rows(r, head, 1, row, n, err));
    if (r->place.fd < 0)
        return dump_read_part(r->dump, r->layer, r->sample, r->part, head, row, n, ret, err);
    if (spans)
        return read_spans(r, at, n, spans, ret, err);
    return read_range(r, at, 0, n * r->row_bytes, ret, err);
}

/* Rows of heads that chunks are asked for. */
struct wanted {
    size_t head, n_heads, row, n;
    const struct row_span *spans;
};

static struct row_span visible(const struct dump_rows *r, const struct wanted *w, size_t i)
{
    return w->spans ? w->spans[i] : (struct row_span){0, (uint32_t)r->n_cols};
}

/* The columns that rows [from, to) show, together. */
static struct row_span shown(const struct dump_rows *r, const struct wanted *w, size_t from, size_t to)
{
    struct row_span all = {UINT32_MAX, 0};
    size_t i;

    for (i = from; i < to; i++) {
        struct row_span s = visible(r, w, i - w->row);

        if (s.lo >= s.hi)
            continue;
        all.lo = s.lo < all.lo ? s.lo : all.lo;
        all.hi = s.hi > all.hi ? s.hi : all.hi;
    }
    return all;
}

/* Rows [from, to) and heads [head, end) of what was wanted, out of the chunk at at[]. */
static void take_chunk(struct dump_band *b, const struct dump_rows *r, const struct wanted *w, const hsize_t *at,
                       size_t from, size_t to)
{
    const struct h5chunk *c = r->place.chunks;
    size_t head = at[1] > w->head ? at[1] : w->head, end = w->head + w->n_heads, i;
    size_t left = at[3], right = left + c->chunk[3];

    end = end < at[1] + c->chunk[1] ? end : at[1] + c->chunk[1];
    for (; head < end; head++)
        for (i = from; i < to; i++) {
            struct row_span s = visible(r, w, i - w->row);
            size_t lo = s.lo > left ? s.lo : left, hi = s.hi < right ? s.hi : right;
            size_t first = (((head - at[1]) * c->chunk[2] + i - at[2]) * c->chunk[3]) + lo - left;

            if (lo < hi)
                chunk_values(&b->decoder, &c->codec, first, hi - lo,
                             b->buffer + ((head - w->head) * w->n + i - w->row) * r->row_bytes + lo * r->element);
        }
}

/* A chunk that has all that is wanted, as it is wanted, need not be copied. */
static bool is_whole(const struct dump_band *b, const struct dump_rows *r, const struct wanted *w, const hsize_t *at)
{
    const struct h5chunk *c = r->place.chunks;

    return !b->decoder.is_shuffled && c->chunk[3] == r->n_cols && at[1] <= w->head &&
           w->head + w->n_heads <= at[1] + c->chunk[1] && at[2] <= w->row && w->row + w->n <= at[2] + c->chunk[2];
}

static enum status take_row_of_chunks(struct dump_band *b, const struct dump_rows *r, const struct wanted *w,
                                      hsize_t *at, struct error *err)
{
    const struct h5chunk *c = r->place.chunks;
    size_t from = at[2] > w->row ? at[2] : w->row, to = w->row + w->n;
    struct row_span columns;

    to = to < at[2] + c->chunk[2] ? to : at[2] + c->chunk[2];
    columns = shown(r, w, from, to);
    if (columns.lo >= columns.hi)
        return OK;
    for (at[3] = columns.lo / c->chunk[3] * c->chunk[3]; at[3] < columns.hi; at[3] += c->chunk[3]) {
        TRY(h5chunk_fetch(c, r->place.dataset, at, &b->decoder, err));
        if (is_whole(b, r, w, at)) {
            b->head_bytes = c->chunk[2] * r->row_bytes;
            b->rows =
                (const char *)b->decoder.values + (w->head - at[1]) * b->head_bytes + (w->row - at[2]) * r->row_bytes;
            return OK;
        }
        take_chunk(b, r, w, at, from, to);
    }
    return OK;
}

static enum status read_chunks(struct dump_band *b, const struct dump_rows *r, const struct wanted *w,
                               struct error *err)
{
    const struct h5chunk *c = r->place.chunks;
    hsize_t at[H5CHUNK_MAX_RANK] = {r->sample};

    for (at[1] = w->head / c->chunk[1] * c->chunk[1]; at[1] < w->head + w->n_heads; at[1] += c->chunk[1])
        for (at[2] = w->row / c->chunk[2] * c->chunk[2]; at[2] < w->row + w->n; at[2] += c->chunk[2])
            TRY(take_row_of_chunks(b, r, w, at, err));
    return OK;
}

enum status dump_band_read(struct dump_band *b, const struct dump_rows *r, size_t head, size_t n_heads, size_t row,
                           size_t n, const struct row_span *spans, struct error *err)
{
    size_t i;

    TRY(check_rows(r, head, n_heads, row, n, err));
    TRY(mem_grow(&b->buffer, &b->cap, n_heads * n * r->row_bytes, 1, err));
    b->rows = b->buffer;
    b->head_bytes = n * r->row_bytes;
    if (r->place.chunks)
        return read_chunks(b, r, &(struct wanted){head, n_heads, row, n, spans}, err);
    for (i = 0; i < n_heads; i++)
        TRY(dump_rows_read(r, head + i, row, n, spans, b->buffer + i * b->head_bytes, err));
    return OK;
}
