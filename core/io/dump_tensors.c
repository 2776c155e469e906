#include "core/io/dump_tensors.h"

#include "core/io/dump_dtype.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_look.h"
#include "core/io/dump_reader.h"

#include <math.h>
#include <string.h>

/* Columns and rows are counted in 32 bits further on. */
#define MAX_DIM ((size_t)1 << 31)

enum status dump_attr_i64_or(struct dump *d, const char *object, const char *attr, int64_t min, int64_t max,
                             int64_t other, bool *ret_found, int64_t *ret, struct error *err)
{
    int64_t value = other;
    bool found = false;

    TRY(d->reader->format->attr_i64(d->reader, object, attr, &found, &value, err));
    if (found && (value < min || value > max))
        return dump_layout_bad(d, object, err, "attribute '%s' is %lld, it must be between %lld and %lld", attr,
                               (long long)value, (long long)min, (long long)max);
    *ret_found = found;
    *ret = found ? value : other;
    return OK;
}

enum status dump_attr_double_or_zero(struct dump *d, const char *object, const char *attr, double *ret,
                                     struct error *err)
{
    bool found = false;
    double value = 0;

    TRY(d->reader->format->attr_double(d->reader, object, attr, &found, &value, err));
    value = found ? value : 0;
    if (!isfinite(value) || value < 0)
        return dump_layout_bad(d, object, err, "attribute '%s' is %g, it must be a positive number", attr, value);
    *ret = value;
    return OK;
}

static bool is_8_bit_integer(enum dtype t)
{
    return t == DTYPE_U8 || t == DTYPE_I8;
}

static bool is_8_bit_float(enum dtype t)
{
    return t == DTYPE_F8_E4M3 || t == DTYPE_F8_E5M2;
}

/* The option or the map settles what the container leaves open, and may not contradict it. */
static enum status take_said(const struct dump *d, const char *name, struct dump_tensor *t, struct error *err)
{
    if (t->dtype == N_DTYPES && dtype_bytes(d->said_dtype) == t->element)
        t->dtype = d->said_dtype;
    if (is_8_bit_integer(t->dtype) && is_8_bit_float(d->said_dtype))
        t->dtype = d->said_dtype;
    if (t->dtype == N_DTYPES || !dump_dtype_fits(t->dtype, d->said_dtype))
        return dump_layout_bad(d, name, err, "holds %s, but --dtype or the layout says %s",
                               t->dtype != N_DTYPES ? dtype_name(t->dtype)
                               : t->element == 1    ? "values of 1 byte"
                                                    : "values of 2 bytes",
                               dtype_name(d->said_dtype));
    return OK;
}

/* Rows of weights that sum to 1 as one type do not as another. */
static enum status ask_for_type(struct dump *d, const char *name, const struct dump_tensor *t, struct error *err)
{
    const char *what = t->is_opaque ? "opaque values" : "integers";
    enum dtype fits = N_DTYPES;

    if (strstr(name, "attn_weights"))
        TRY(dump_look_two_bytes(d, name, t->dim, &fits, err));
    if (fits != N_DTYPES)
        return dump_layout_bad(
            d, name, err,
            "%s of 2 bytes without the attribute 'logical_dtype'; add it: \"%s\", with which rows sum to "
            "1, or say --dtype %s",
            what, dtype_name(fits), dtype_name(fits));
    return dump_layout_bad(d, name, err,
                           "%s of 2 bytes without the attribute 'logical_dtype'; add it: \"bfloat16\" or \"float16\", "
                           "or say --dtype",
                           what);
}

/* What two bytes mean where the container does not say: opaque ones are bfloat16 wherever we met them, and what was
 * assumed is told; whole numbers could be anything. */
static enum status settle_dtype(struct dump *d, const char *name, struct dump_tensor *t, struct error *err)
{
    const char *store = d->source.store_dtype;
    enum dtype said = DTYPE_BF16;

    if (d->said_dtype != N_DTYPES)
        return take_said(d, name, t, err);
    if (t->dtype != N_DTYPES)
        return OK;
    if (t->element == 1)
        return dump_layout_bad(d, name, err,
                               "values of 1 byte without the attribute 'logical_dtype'; add it: \"float8_e4m3\", "
                               "\"float8_e5m2\", \"uint8\" or \"int8\", or say --dtype");
    if (t->is_opaque && (!dump_dtype_named(store, &said) || said == DTYPE_BF16)) {
        t->dtype = DTYPE_BF16;
        return dump_note(d, err,
                         "'%s': opaque values of 2 bytes are taken for bfloat16; the attribute logical_dtype = "
                         "\"bfloat16\" says so",
                         d->path);
    }
    if (!dump_dtype_named(store, &said) || dtype_bytes(said) != 2)
        return ask_for_type(d, name, t, err);
    return dump_layout_bad(d, name, err,
                           "%s of 2 bytes without the attribute 'logical_dtype'; add it: \"%s\", as the file's "
                           "store_dtype '%.20s' suggests, or say --dtype %s",
                           t->is_opaque ? "opaque values" : "integers", dtype_name(said), store, dtype_name(said));
}

static enum status check_shape(const struct dump *d, const char *name, const struct dump_tensor *t, struct error *err)
{
    int i;

    if (t->dim[0] != d->n_samples)
        return dump_layout_bad(d, name, err, "%zu samples in the tensor, %zu in /samples", t->dim[0], d->n_samples);
    for (i = 1; i < 4; i++)
        if (t->dim[i] == 0 || t->dim[i] > MAX_DIM)
            return dump_layout_bad(d, name, err, "dimension %d has %zu elements", i, t->dim[i]);
    return OK;
}

static enum status open_tensor(struct dump *d, const char *name, struct dump_tensor *ret, struct error *err)
{
    struct dump_tensor t = {0};

    TRY(d->reader->format->tensor(d->reader, name, &t, err));
    TRY(settle_dtype(d, name, &t, err));
    TRY(check_shape(d, name, &t, err));
    *ret = t;
    return OK;
}

/* An attribute of a tensor, or of its layer. */
static enum status value_attr(struct dump *d, const struct dump_layer *l, const char *tensor, const char *attr,
                              double *ret, struct error *err)
{
    TRY(dump_attr_double_or_zero(d, dump_layout_name(l, tensor).text, attr, ret, err));
    return *ret > 0 ? OK : dump_attr_double_or_zero(d, dump_layout_name(l, "").text, attr, ret, err);
}

/* One number a row, of any float type, for the heads and rows that the layer has. */
static enum status open_row_numbers(struct dump *d, const struct dump_layer *l, const char *tensor, enum dtype *ret,
                                    struct error *err)
{
    struct dump_name name = dump_layout_name(l, tensor);
    struct dump_tensor t;

    TRY(open_tensor(d, name.text, &t, err));
    if (t.dim[1] != l->n_heads || t.dim[2] != l->n_rows || t.dim[3] != 1)
        return dump_layout_bad(d, name.text, err, "is %zu x %zu x %zu, but there are %zu heads of %zu rows", t.dim[1],
                               t.dim[2], t.dim[3], l->n_heads, l->n_rows);
    *ret = t.dtype;
    return OK;
}

/* A quantised zero other than 0 is that of int8, -128: the bytes are uint8 with one bit turned. */
static enum status read_zero_point(struct dump *d, struct dump_layer *l, const char *tensor, struct error *err)
{
    int64_t zero = 0;
    bool found = false;

    TRY(dump_attr_i64_or(d, dump_layout_name(l, tensor).text, "zero_point", -128, 128, 0, &found, &zero, err));
    if (!found)
        TRY(dump_attr_i64_or(d, dump_layout_name(l, "").text, "zero_point", -128, 128, 0, &found, &zero, err));
    if (zero == 0)
        return OK;
    if (l->dtype != DTYPE_I8 || zero != -128)
        return dump_layout_bad(d, dump_layout_name(l, tensor).text, err,
                               "attribute 'zero_point' is %lld: 0, and of int8 -128, are read; weights of 0 must be "
                               "stored exactly",
                               (long long)zero);
    l->is_offset = true;
    l->dtype = DTYPE_U8;
    return OK;
}

static enum status read_scales(struct dump *d, struct dump_layer *l, const char *tensor, struct error *err)
{
    TRY(read_zero_point(d, l, tensor, err));
    TRY(value_attr(d, l, tensor, "value_scale", &l->value_scale, err));
    l->has_row_scales = d->reader->format->has(d->reader, dump_layout_name(l, "value_scales").text);
    if (l->has_row_scales)
        TRY(open_row_numbers(d, l, "value_scales", &l->scales_dtype, err));
    if (l->has_row_scales && l->value_scale > 0)
        return dump_layout_bad(d, dump_layout_name(l, "value_scales").text, err,
                               "stands beside the attribute 'value_scale': write one of them");
    return OK;
}

/* Scores may be stored before their scale, and then before softcap too. */
static enum status read_stage(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name name = dump_layout_name(l, "");
    bool found = false;
    char *text = NULL;

    if (is_8_bit_integer(l->dtype) || is_8_bit_float(l->dtype))
        return dump_layout_bad(d, dump_layout_name(l, "attn_logits").text, err,
                               "scores of 8 bits say nothing of the weights; store float16 at least");
    TRY(d->reader->format->attr_text(d->reader, name.text, "logits_are", &d->arena, &found, &text, err));
    if (!found)
        return OK;
    l->is_raw = strcmp(text, "raw") == 0;
    if (!l->is_raw && strcmp(text, "final") != 0)
        return dump_layout_bad(d, name.text, err,
                               "attribute 'logits_are' is '%.40s', it must be \"final\", as the softmax takes them, or "
                               "\"raw\", before 'scale' and 'softcap'",
                               text);
    if (l->is_raw)
        l->dtype = DTYPE_F64;
    return OK;
}

static enum status read_rows_of(struct dump *d, struct dump_layer *l, enum dump_kind kind, struct error *err)
{
    const char *tensor = kind == DUMP_SCORES ? "attn_logits" : "attn_weights";
    struct dump_tensor t;

    TRY(open_tensor(d, dump_layout_name(l, tensor).text, &t, err));
    l->kind = kind;
    l->stored = l->dtype = t.dtype;
    l->n_heads = l->n_kv_heads = t.dim[1];
    l->n_rows = t.dim[2];
    l->n_cols = t.dim[3];
    return kind == DUMP_SCORES ? read_stage(d, l, err) : read_scales(d, l, tensor, err);
}

/* Queries and keys of two types, or of 8 bits, are measured in the wider one. */
static enum status join_types(struct dump *d, struct dump_layer *l, enum dtype q, enum dtype k, struct error *err)
{
    struct dump_name name = dump_layout_name(l, is_8_bit_integer(q) ? "q" : "k");

    if (is_8_bit_integer(q) || is_8_bit_integer(k))
        return dump_layout_bad(d, name.text, err, "holds integers of 1 byte; store float16, or float8 with its type");
    l->stored = q;
    l->k_stored = k;
    l->dtype = q;
    if (q != k || is_8_bit_float(q))
        l->dtype = q == DTYPE_F64 || k == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    return OK;
}

static enum status read_lse(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name name = dump_layout_name(l, "lse");
    bool found = false;
    char *text = NULL;

    l->has_lse = d->reader->format->has(d->reader, name.text);
    if (!l->has_lse)
        return OK;
    TRY(open_row_numbers(d, l, "lse", &l->lse_dtype, err));
    TRY(d->reader->format->attr_text(d->reader, dump_layout_name(l, "").text, "lse_base", &d->arena, &found, &text,
                                     err));
    l->lse_is_base2 = found && strcmp(text, "2") == 0;
    if (found && !l->lse_is_base2 && strcmp(text, "e") != 0)
        return dump_layout_bad(d, name.text, err, "attribute 'lse_base' is '%.20s', it must be \"e\" or \"2\"", text);
    return OK;
}

static enum status read_qk(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name q_name = dump_layout_name(l, "q"), k_name = dump_layout_name(l, "k");
    struct dump_tensor q, k;

    TRY(open_tensor(d, q_name.text, &q, err));
    TRY(open_tensor(d, k_name.text, &k, err));
    TRY(join_types(d, l, q.dtype, k.dtype, err));
    if (q.dim[3] != k.dim[3])
        return dump_layout_bad(d, k_name.text, err, "heads of %zu numbers, but q has %zu", k.dim[3], q.dim[3]);
    if (q.dim[1] % k.dim[1] != 0)
        return dump_layout_bad(d, k_name.text, err,
                               "%zu query heads do not divide among %zu key heads; where heads and rows were taken for "
                               "each other (%zu and %zu rows), store samples, heads, rows, numbers",
                               q.dim[1], k.dim[1], q.dim[2], k.dim[2]);
    l->kind = DUMP_QK;
    l->n_heads = q.dim[1];
    l->n_kv_heads = k.dim[1];
    l->n_rows = q.dim[2];
    l->n_cols = k.dim[2];
    l->dim = q.dim[3];
    return read_lse(d, l, err);
}

/* Is there a tensor, and something in it? */
static enum status is_there(struct dump *d, const struct dump_layer *l, const char *tensor, bool *ret,
                            struct error *err)
{
    struct dump_name name = dump_layout_name(l, tensor);
    struct dump_shape shape = {0};

    *ret = d->reader->format->has(d->reader, name.text);
    if (!*ret || !d->reader->format->shape)
        return OK;
    TRY(d->reader->format->shape(d->reader, name.text, &shape, err));
    *ret = !shape.is_none;
    return OK;
}

enum status dump_tensors_read(struct dump *d, struct dump_layer *l, bool *ret_found, struct error *err)
{
    bool has_weights = false, has_logits = false, has_q = false, has_k = false;

    TRY(is_there(d, l, "attn_weights", &has_weights, err));
    TRY(is_there(d, l, "attn_logits", &has_logits, err));
    TRY(is_there(d, l, "q", &has_q, err));
    TRY(is_there(d, l, "k", &has_k, err));
    *ret_found = true;
    if (has_weights)
        return read_rows_of(d, l, DUMP_WEIGHTS, err);
    if (has_q && has_k)
        return read_qk(d, l, err);
    if (has_q || has_k)
        return dump_layout_bad(d, dump_layout_name(l, "").text, err, "has '%s' without '%s'; both are needed",
                               has_q ? "q" : "k", has_q ? "k" : "q");
    if (has_logits)
        return read_rows_of(d, l, DUMP_SCORES, err);
    *ret_found = false;
    return OK;
}
