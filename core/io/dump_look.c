#include "core/io/dump_look.h"

#include "core/base/mem.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_reader.h"

#include <math.h>
#include <stdlib.h>

/* Elements looked at: more say nothing new. */
enum { LOOK_ELEMENTS = 1 << 22 };

/* A sum this far off 1 is no rounding of any type. */
#define OFF 0.05

static bool is_zero(const unsigned char *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

enum status dump_look_above_diagonal(struct dump *d, const struct dump_layer *l, bool *ret, struct error *err)
{
    size_t element = dtype_bytes(l->dtype), n = LOOK_ELEMENTS / l->n_cols, i;
    size_t length = (size_t)d->samples[0].length < l->n_cols ? (size_t)d->samples[0].length : l->n_cols;
    struct dump_name name = dump_layout_name(l, "attn_weights");
    unsigned char *rows = NULL;
    enum status st;
    bool has_weight = false;

    n = n < l->n_rows ? n : l->n_rows;
    TRY(mem_new(n * l->n_cols, element, &rows, err));
    st = d->reader->format->rows(d->reader, name.text, 0, 0, 0, n, rows, err);
    for (i = 0; st == OK && i < n && i + 1 < length && !has_weight; i++)
        has_weight = !is_zero(rows + (i * l->n_cols + i + 1) * element, (length - i - 1) * element);
    free(rows);
    TRY(st);
    *ret = has_weight;
    return OK;
}

/* How many of n sums are near 1. */
static size_t count_near_one(const double *sums, size_t n)
{
    size_t near = 0, i;

    for (i = 0; i < n; i++)
        near += fabs(sums[i] - 1) < OFF;
    return near;
}

/* sums: n of rows, then n of columns, of the n x n part that belongs to the sample. */
static void add_up(const struct dump_layer *l, const void *rows, size_t n, double *sums)
{
    size_t i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            double p = dtype_load(rows, l->dtype, i * l->n_cols + j);

            sums[i] += p;
            sums[n + j] += p;
        }
}

enum status dump_look_which_way(struct dump *d, const struct dump_layer *l, struct error *err)
{
    const struct dump_sample *s = &d->samples[0];
    struct dump_name name = dump_layout_name(l, "attn_weights");
    size_t n = (size_t)s->length, element = dtype_bytes(l->dtype), near_rows, near_cols;
    unsigned char *rows = NULL;
    double *sums = NULL;
    enum status st;

    if (s->first != 0 || s->query_start != 0 || l->key_start != 0 || n < 2 || n > l->n_rows || n > l->n_cols ||
        n > LOOK_ELEMENTS / l->n_cols)
        return OK;
    TRY(mem_new(n * l->n_cols * element + 2 * n * sizeof *sums, 1, &sums, err));
    rows = (unsigned char *)(sums + 2 * n);
    st = d->reader->format->rows(d->reader, name.text, 0, 0, 0, n, rows, err);
    if (st == OK)
        add_up(l, rows, n, sums);
    near_rows = count_near_one(sums, n);
    near_cols = count_near_one(sums + n, n);
    free(sums);
    TRY(st);
    if (near_rows > n / 2 || near_cols <= n - n / 10 - 1)
        return OK;
    return dump_layout_bad(d, name.text, err,
                           "not the rows sum to 1, but the columns (%zu of %zu): a row must hold the weights of one "
                           "query; save numpy.swapaxes(x, -1, -2) of it",
                           near_cols, n);
}
