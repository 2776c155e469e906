#include "core/io/dump_values.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/io/dump_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most negative finite number of float16, and what no score of a wider type is. */
#define LOWEST_F16 (-65504.0)
#define MASKED     (-1e30)

struct dump_name dump_part_name(const struct dump_layer *l, enum dump_part part)
{
    static const char *const names[] = {[DUMP_PART_Q] = "q", [DUMP_PART_K] = "k"};

    if (part == DUMP_PART_WEIGHTS)
        return dump_layout_name(l, l->kind == DUMP_SCORES ? "attn_logits" : "attn_weights");
    return dump_layout_name(l, names[part]);
}

static enum dtype stored_type(const struct dump_layer *l, enum dump_part part)
{
    return part == DUMP_PART_K ? l->k_stored : l->stored;
}

bool dump_is_converted(const struct dump_layer *l, enum dump_part part)
{
    return stored_type(l, part) != l->dtype || l->is_raw;
}

bool dump_has_scales(const struct dump_layer *l)
{
    return l->value_scale > 0 || l->has_row_scales;
}

/* What the softmax takes: a masked score stays masked, whatever is done to the others. */
static double finish_score(const struct dump_layer *l, double score)
{
    if (score <= MASKED || (l->stored == DTYPE_F16 && score <= LOWEST_F16))
        return -INFINITY;
    score *= l->scale;
    return l->softcap > 0 ? l->softcap * tanh(score / l->softcap) : score;
}

/* n elements as the layer's dtype has them. */
static void convert(const struct dump_layer *l, enum dump_part part, const unsigned char *from, size_t n, void *ret)
{
    enum dtype stored = stored_type(l, part);
    unsigned char *bytes = ret;
    float *singles = ret;
    double *doubles = ret;
    size_t i;

    for (i = 0; i < n; i++) {
        if (l->is_offset)
            bytes[i] = from[i] ^ 0x80;
        else if (l->dtype == DTYPE_F32)
            singles[i] = (float)dtype_load(from, stored, i);
        else
            doubles[i] = l->is_raw ? finish_score(l, dtype_load(from, stored, i)) : dtype_load(from, stored, i);
    }
}

static enum status read_converted(struct dump *d, const struct dump_layer *l, size_t sample, enum dump_part part,
                                  size_t head, size_t row, size_t n_rows, void *ret, struct error *err)
{
    size_t width = part == DUMP_PART_WEIGHTS ? l->n_cols : l->dim, n;
    unsigned char *stored = NULL;
    enum status st;

    if (!size_mul(n_rows, width, &n))
        return error_set(err, ERR_LIMIT, "%zu rows of %zu numbers are too many", n_rows, width);
    TRY(mem_new(n, dtype_bytes(stored_type(l, part)), &stored, err));
    st = d->reader->format->rows(d->reader, dump_part_name(l, part).text, sample, head, row, n_rows, stored, err);
    if (st == OK)
        convert(l, part, stored, n, ret);
    free(stored);
    return st;
}

enum status dump_read_part(struct dump *d, size_t layer, size_t sample, enum dump_part part, size_t head, size_t row,
                           size_t n_rows, void *ret, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];

    if (layer >= d->n_layers || sample >= d->n_samples)
        return error_set(err, ERR_INTERNAL, "'%s': no layer %zu or sample %zu", d->path, layer, sample);
    if (dump_is_converted(l, part))
        return read_converted(d, l, sample, part, head, row, n_rows, ret, err);
    return d->reader->format->rows(d->reader, dump_part_name(l, part).text, sample, head, row, n_rows, ret, err);
}

enum status dump_read_weights(struct dump *d, size_t layer, size_t sample, size_t head, size_t row, size_t n_rows,
                              void *ret, struct error *err)
{
    return dump_read_part(d, layer, sample, DUMP_PART_WEIGHTS, head, row, n_rows, ret, err);
}

enum status dump_read_q(struct dump *d, size_t layer, size_t sample, size_t head, size_t row, size_t n_rows, void *ret,
                        struct error *err)
{
    return dump_read_part(d, layer, sample, DUMP_PART_Q, head, row, n_rows, ret, err);
}

enum status dump_read_k(struct dump *d, size_t layer, size_t sample, size_t kv_head, void *ret, struct error *err)
{
    return dump_read_part(d, layer, sample, DUMP_PART_K, kv_head, 0, layer < d->n_layers ? d->layers[layer].n_cols : 0,
                          ret, err);
}

enum status dump_read_row_numbers(struct dump *d, const struct dump_layer *l, const char *tensor, enum dtype stored,
                                  size_t sample, size_t head, size_t row, size_t n, double *ret, struct error *err)
{
    unsigned char *numbers = NULL;
    enum status st;
    size_t i;

    TRY(mem_new(n, dtype_bytes(stored), &numbers, err));
    st = d->reader->format->rows(d->reader, dump_layout_name(l, tensor).text, sample, head, row, n, numbers, err);
    for (i = 0; st == OK && i < n; i++)
        ret[i] = dtype_load(numbers, stored, i);
    free(numbers);
    return st;
}

enum status dump_read_scales(struct dump *d, size_t layer, size_t sample, size_t head, size_t row, size_t n_rows,
                             double *ret, struct error *err)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t i;

    for (i = 0; i < n_rows; i++)
        ret[i] = l->value_scale > 0 ? l->value_scale : 1;
    if (!l->has_row_scales)
        return OK;
    TRY(dump_read_row_numbers(d, l, "value_scales", l->scales_dtype, sample, head, row, n_rows, ret, err));
    for (i = 0; i < n_rows; i++)
        if (!isfinite(ret[i]) || ret[i] < 0)
            return dump_layout_bad(d, dump_layout_name(l, "value_scales").text, err,
                                   "sample '%.80s', head %zu, row %zu has the factor %g, it must be a positive number",
                                   d->samples[sample].id, head, row + i, ret[i]);
    return OK;
}
