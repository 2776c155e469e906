#include "core/io/dump_rows.h"

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_reader.h"
#include "core/io/dump_values.h"

#include <string.h>

/* A call costs as much time as copying this. */
enum { WORTH_A_CALL = 8192 };

enum status dump_rows_find(struct dump_rows *r, struct dump *d, size_t layer, size_t sample, enum dump_part part,
                           struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    struct dump_rows rows = {.dump = d, .layer = layer, .sample = sample, .part = part, .fd = -1};
    struct dump_place place = {.fd = -1};
    size_t n;

    rows.n_heads = part == DUMP_PART_K ? l->n_kv_heads : l->n_heads;
    rows.n_rows = part == DUMP_PART_K ? l->n_cols : l->n_rows;
    if (!size_mul(part == DUMP_PART_WEIGHTS ? l->n_cols : l->dim, dtype_bytes(l->dtype), &rows.row_bytes) ||
        !size_mul(rows.row_bytes, rows.n_rows, &n) || !size_mul(n, rows.n_heads, &n))
        return error_set(err, ERR_LIMIT, "rows of %zu keys are too large", l->n_cols);
    if (!dump_is_converted(l, part))
        TRY(d->reader->format->place(d->reader, dump_part_name(l, part).text, sample, &place, err));
    rows.fd = place.fd;
    rows.offset = place.offset;
    rows.is_direct = rows.fd >= 0;
    *r = rows;
    return OK;
}

static enum status read_range(const struct dump_rows *r, uint64_t at, size_t from, size_t to, char *ret,
                              struct error *err)
{
    return file_read_at(r->fd, r->dump->path, at + from, ret + from, to - from, err);
}

/* Visible parts of rows that begin at `at` in the file; parts that lie close together in one read. */
static enum status read_spans(const struct dump_rows *r, uint64_t at, size_t n, const struct row_span *spans, char *ret,
                              struct error *err)
{
    size_t element = dtype_bytes(r->dump->layers[r->layer].dtype), from = 0, to = 0, i;

    for (i = 0; i < n; i++) {
        size_t lo = i * r->row_bytes + spans[i].lo * element, hi = i * r->row_bytes + spans[i].hi * element;

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
    uint64_t at = r->offset + ((uint64_t)head * r->n_rows + row) * r->row_bytes;

    if (head >= r->n_heads || row > r->n_rows || n > r->n_rows - row)
        return error_set(err, ERR_INTERNAL, "'%s': rows %zu + %zu of head %zu do not exist", r->dump->path, row, n,
                         head);
    if (!r->is_direct)
        return dump_read_part(r->dump, r->layer, r->sample, r->part, head, row, n, ret, err);
    if (spans)
        return read_spans(r, at, n, spans, ret, err);
    return read_range(r, at, 0, n * r->row_bytes, ret, err);
}
