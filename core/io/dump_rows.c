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

/* Dimensions of chunks from those of heads on. */
enum { HEADS, ROWS, COLUMNS, N_DIMS };

static const size_t *chunk_of(const struct dump_rows *r)
{
    return r->place.chunks->chunk + r->place.n_lead;
}

/* Chunks that hold several samples or layers are left to the container, which keeps them from one to the next. */
static bool may_fetch(const struct dump_rows *r)
{
    const struct h5chunk *c = r->place.chunks;
    size_t i;

    if (!c || c->codec.element != r->element || c->rank != r->place.n_lead + N_DIMS)
        return false;
    for (i = 0; i < r->place.n_lead; i++)
        if (c->chunk[i] != 1)
            return false;
    return true;
}

static void use_place(struct dump_rows *r)
{
    const struct h5chunk *c = r->place.chunks;

    r->step_heads = r->step_rows = 1;
    if (!may_fetch(r)) {
        r->place.chunks = NULL;
    } else {
        r->step_heads = chunk_of(r)[HEADS] < r->n_heads ? chunk_of(r)[HEADS] : r->n_heads;
        r->step_rows = chunk_of(r)[ROWS] < r->n_rows ? chunk_of(r)[ROWS] : r->n_rows;
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
    const size_t *chunk = chunk_of(r);
    size_t head = at[HEADS] > w->head ? at[HEADS] : w->head, end = w->head + w->n_heads, i;
    size_t left = at[COLUMNS], right = left + chunk[COLUMNS];

    end = end < at[HEADS] + chunk[HEADS] ? end : at[HEADS] + chunk[HEADS];
    for (; head < end; head++)
        for (i = from; i < to; i++) {
            struct row_span s = visible(r, w, i - w->row);
            size_t lo = s.lo > left ? s.lo : left, hi = s.hi < right ? s.hi : right;
            size_t first = (((head - at[HEADS]) * chunk[ROWS] + i - at[ROWS]) * chunk[COLUMNS]) + lo - left;

            if (lo < hi)
                chunk_values(&b->decoder, &r->place.chunks->codec, first, hi - lo,
                             b->buffer + ((head - w->head) * w->n + i - w->row) * r->row_bytes + lo * r->element);
        }
}

/* A chunk that has all that is wanted, as it is wanted, need not be copied. */
static bool is_whole(const struct dump_band *b, const struct dump_rows *r, const struct wanted *w, const hsize_t *at)
{
    const size_t *chunk = chunk_of(r);

    return !b->decoder.is_shuffled && chunk[COLUMNS] == r->n_cols && at[HEADS] <= w->head &&
           w->head + w->n_heads <= at[HEADS] + chunk[HEADS] && at[ROWS] <= w->row &&
           w->row + w->n <= at[ROWS] + chunk[ROWS];
}

/* `corner`: of the first chunk, all its dimensions. */
static enum status take_row_of_chunks(struct dump_band *b, const struct dump_rows *r, const struct wanted *w,
                                      hsize_t *corner, struct error *err)
{
    const size_t *chunk = chunk_of(r);
    hsize_t *at = corner + r->place.n_lead;
    size_t from = at[ROWS] > w->row ? at[ROWS] : w->row, to = w->row + w->n;
    struct row_span columns;

    to = to < at[ROWS] + chunk[ROWS] ? to : at[ROWS] + chunk[ROWS];
    columns = shown(r, w, from, to);
    if (columns.lo >= columns.hi)
        return OK;
    for (at[COLUMNS] = columns.lo / chunk[COLUMNS] * chunk[COLUMNS]; at[COLUMNS] < columns.hi;
         at[COLUMNS] += chunk[COLUMNS]) {
        TRY(h5chunk_fetch(r->place.chunks, r->place.dataset, corner, &b->decoder, err));
        if (is_whole(b, r, w, at)) {
            b->head_bytes = chunk[ROWS] * r->row_bytes;
            b->rows = (const char *)b->decoder.values + (w->head - at[HEADS]) * b->head_bytes +
                      (w->row - at[ROWS]) * r->row_bytes;
            return OK;
        }
        take_chunk(b, r, w, at, from, to);
    }
    return OK;
}

static enum status read_chunks(struct dump_band *b, const struct dump_rows *r, const struct wanted *w,
                               struct error *err)
{
    const size_t *chunk = chunk_of(r);
    hsize_t corner[H5CHUNK_MAX_RANK] = {0}, *at = corner + r->place.n_lead;
    size_t i;

    for (i = 0; i < r->place.n_lead; i++)
        corner[i] = r->place.lead[i];
    for (at[HEADS] = w->head / chunk[HEADS] * chunk[HEADS]; at[HEADS] < w->head + w->n_heads; at[HEADS] += chunk[HEADS])
        for (at[ROWS] = w->row / chunk[ROWS] * chunk[ROWS]; at[ROWS] < w->row + w->n; at[ROWS] += chunk[ROWS])
            TRY(take_row_of_chunks(b, r, w, corner, err));
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
