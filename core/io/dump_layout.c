#include "core/io/dump_layout.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_dtype.h"
#include "core/io/dump_look.h"
#include "core/io/dump_reader.h"
#include "core/io/dump_samples.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYERS = 100000 };

/* Columns and rows are counted in 32 bits further on. */
#define MAX_DIM ((size_t)1 << 31)

enum status dump_layout_bad(const struct dump *d, const char *name, struct error *err, const char *fmt, ...)
{
    char why[480];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at /%s: %s", d->path, name, why);
}

struct dump_name dump_layout_name(const struct dump_layer *l, const char *tensor)
{
    struct dump_name name;

    snprintf(name.text, sizeof name.text, "layers/%s%s%s", l->name, tensor[0] ? "/" : "", tensor);
    return name;
}

static enum status text_or_empty(struct dump *d, const char *attr, char **ret, struct error *err)
{
    bool found = false;

    TRY(d->reader->format->attr_text(d->reader, "", attr, &d->arena, &found, ret, err));
    return found ? OK : arena_strdup(&d->arena, "", ret, err);
}

static enum status read_source(struct dump *d, struct error *err)
{
    struct dump_source *s = &d->source;

    TRY(text_or_empty(d, "model_name", &s->model_name, err));
    TRY(text_or_empty(d, "weights_sha256", &s->weights_sha256, err));
    TRY(text_or_empty(d, "prompt_version", &s->prompt_version, err));
    TRY(text_or_empty(d, "prompt_sha256", &s->prompt_sha256, err));
    TRY(text_or_empty(d, "compute_dtype", &s->compute_dtype, err));
    TRY(text_or_empty(d, "store_dtype", &s->store_dtype, err));
    TRY(text_or_empty(d, "capture", &s->capture, err));
    return text_or_empty(d, "variant", &s->variant, err);
}

static enum status check_format(struct dump *d, struct error *err)
{
    const struct dump_format *format = d->reader->format;
    bool found = false;
    int64_t version = 0;
    char *text = NULL;

    TRY(format->attr_text(d->reader, "", "format", &d->arena, &found, &text, err));
    if (!found)
        return dump_layout_bad(d, "", err,
                               "not an attention dump: no attribute 'format' = \"attn-dump\"; a file "
                               "laid out in another way needs a map that says how: --layout");
    if (strcmp(text, "attn-dump") != 0)
        return dump_layout_bad(d, "", err, "not an attention dump: format is '%.60s', not 'attn-dump'", text);
    TRY(format->attr_i64(d->reader, "", "format_version", &found, &version, err));
    if (!found)
        return dump_layout_bad(d, "", err, "no attribute 'format_version'; write %d", (int)DUMP_LAYOUT_VERSION);
    if (version > DUMP_LAYOUT_VERSION)
        return dump_layout_bad(d, "", err,
                               "written in layout attn-dump %lld, this tare reads up to %d; install a newer tare",
                               (long long)version, (int)DUMP_LAYOUT_VERSION);
    if (version < 1)
        return dump_layout_bad(d, "", err, "format_version %lld does not exist", (long long)version);
    return OK;
}

static enum status i64_or(struct dump *d, const char *layer, const char *attr, int64_t min, int64_t max, int64_t other,
                          int64_t *ret, struct error *err)
{
    bool found = false;

    *ret = other;
    TRY(d->reader->format->attr_i64(d->reader, layer, attr, &found, ret, err));
    if (found && (*ret < min || *ret > max))
        return dump_layout_bad(d, layer, err, "attribute '%s' is %lld, it must be between %lld and %lld", attr,
                               (long long)*ret, (long long)min, (long long)max);
    return OK;
}

/* Positive, or 0 where that is allowed. */
static enum status double_or_zero(struct dump *d, const char *layer, const char *attr, double *ret, struct error *err)
{
    bool found = false;

    *ret = 0;
    TRY(d->reader->format->attr_double(d->reader, layer, attr, &found, ret, err));
    if (!isfinite(*ret) || *ret < 0)
        return dump_layout_bad(d, layer, err, "attribute '%s' is %g, it must be a positive number", attr, *ret);
    return OK;
}

/* Whether a row sees later keys cannot be assumed: it decides what every number means. */
static enum status refuse_without_causal(struct dump *d, const struct dump_layer *l, const char *layer,
                                         struct error *err)
{
    const char *hint = "1 where a row sees only keys up to its own, 0 where it sees all";
    bool sees_later = false;
    struct error ignored = {0};

    if (l->kind == DUMP_WEIGHTS && d->samples[0].query_start == 0 && d->samples[0].first == 0 &&
        dump_look_above_diagonal(d, l, &sees_later, &ignored) == OK)
        hint = sees_later ? "0, since there are weights above the diagonal (a row sees later keys)"
                          : "1, since all weights above the diagonal are zero";
    return dump_layout_bad(d, layer, err, "no attribute 'causal'; write %s%s", hint,
                           d->is_mapped ? ": \"causal\" in the layout map" : "");
}

static enum status read_attrs(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name name = dump_layout_name(l, "");
    int64_t causal = 0, n_heads = 0, n_kv_heads = 0, dim = 0;
    bool found = false;

    TRY(d->reader->format->attr_i64(d->reader, name.text, "causal", &found, &causal, err));
    if (!found)
        return refuse_without_causal(d, l, name.text, err);
    if (causal != 0 && causal != 1)
        return dump_layout_bad(d, name.text, err, "attribute 'causal' is %lld, it must be 0 or 1", (long long)causal);
    l->causal = causal == 1;
    TRY(i64_or(d, name.text, "window", 0, INT32_MAX, 0, &l->window, err));
    TRY(i64_or(d, name.text, "key_start", 0, INT32_MAX, 0, &l->key_start, err));
    TRY(i64_or(d, name.text, "n_heads", 1, INT32_MAX, (int64_t)l->n_heads, &n_heads, err));
    TRY(i64_or(d, name.text, "n_kv_heads", 1, INT32_MAX, (int64_t)l->n_kv_heads, &n_kv_heads, err));
    TRY(i64_or(d, name.text, "head_dim", 1, INT32_MAX, (int64_t)l->dim, &dim, err));
    if ((uint64_t)n_heads != l->n_heads)
        return dump_layout_bad(d, name.text, err, "attribute 'n_heads' is %lld, the tensor has %zu heads",
                               (long long)n_heads, l->n_heads);
    if (l->kind == DUMP_QK && ((uint64_t)n_kv_heads != l->n_kv_heads || (uint64_t)dim != l->dim))
        return dump_layout_bad(d, name.text, err,
                               "attributes n_kv_heads %lld and head_dim %lld do not fit k with %zu heads of %zu",
                               (long long)n_kv_heads, (long long)dim, l->n_kv_heads, l->dim);
    TRY(double_or_zero(d, name.text, "softcap", &l->softcap, err));
    TRY(double_or_zero(d, name.text, "scale", &l->scale, err));
    if (l->kind == DUMP_QK && !(l->scale > 0))
        return dump_layout_bad(
            d, name.text, err,
            "attribute 'scale' must be the factor of q·k before the softmax, such as 1/sqrt(head_dim)");
    return OK;
}

/* The option or the map settles what the container leaves open, and may not contradict it. */
static enum status take_said(const struct dump *d, const char *name, struct dump_tensor *t, struct error *err)
{
    if (t->dtype == N_DTYPES && dtype_bytes(d->said_dtype) == 2)
        t->dtype = d->said_dtype;
    if (t->dtype == N_DTYPES || !dump_dtype_fits(t->dtype, d->said_dtype))
        return dump_layout_bad(d, name, err, "holds %s, but --dtype or the layout says %s",
                               t->dtype == N_DTYPES ? "values of 2 bytes" : dtype_name(t->dtype),
                               dtype_name(d->said_dtype));
    return OK;
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
    if (t->is_opaque && (!dump_dtype_named(store, &said) || said == DTYPE_BF16)) {
        t->dtype = DTYPE_BF16;
        return dump_note(d, err,
                         "'%s': opaque values of 2 bytes are taken for bfloat16; the attribute logical_dtype = "
                         "\"bfloat16\" says so",
                         d->path);
    }
    if (dump_dtype_named(store, &said) && dtype_bytes(said) == 2)
        return dump_layout_bad(d, name, err,
                               "%s of 2 bytes without the attribute 'logical_dtype'; add it: \"%s\", as the file's "
                               "store_dtype '%.20s' suggests, or say --dtype %s",
                               t->is_opaque ? "opaque values" : "integers", dtype_name(said), store, dtype_name(said));
    return dump_layout_bad(d, name, err,
                           "%s of 2 bytes without the attribute 'logical_dtype'; add it: \"bfloat16\" or \"float16\", "
                           "or say --dtype",
                           t->is_opaque ? "opaque values" : "integers");
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

static enum status read_weights(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name name = dump_layout_name(l, "attn_weights");
    struct dump_tensor w;

    TRY(open_tensor(d, name.text, &w, err));
    l->kind = DUMP_WEIGHTS;
    l->dtype = w.dtype;
    l->n_heads = w.dim[1];
    l->n_kv_heads = w.dim[1];
    l->n_rows = w.dim[2];
    l->n_cols = w.dim[3];
    return OK;
}

static enum status read_qk(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name q_name = dump_layout_name(l, "q"), k_name = dump_layout_name(l, "k");
    struct dump_tensor q, k;

    TRY(open_tensor(d, q_name.text, &q, err));
    TRY(open_tensor(d, k_name.text, &k, err));
    if (q.dtype != k.dtype)
        return dump_layout_bad(d, k_name.text, err, "is %s, but q is %s: store both in one type", dtype_name(k.dtype),
                               dtype_name(q.dtype));
    if (q.dim[3] != k.dim[3])
        return dump_layout_bad(d, k_name.text, err, "heads of %zu numbers, but q has %zu", k.dim[3], q.dim[3]);
    if (q.dim[1] % k.dim[1] != 0)
        return dump_layout_bad(d, k_name.text, err, "%zu query heads do not divide among %zu key heads", q.dim[1],
                               k.dim[1]);
    l->kind = DUMP_QK;
    l->dtype = q.dtype;
    l->n_heads = q.dim[1];
    l->n_kv_heads = k.dim[1];
    l->n_rows = q.dim[2];
    l->n_cols = k.dim[2];
    l->dim = q.dim[3];
    return OK;
}

static enum status read_tensors(struct dump *d, struct dump_layer *l, struct error *err)
{
    const struct dump_format *format = d->reader->format;
    struct dump_name name = dump_layout_name(l, "");
    bool has_q = format->has(d->reader, dump_layout_name(l, "q").text);
    bool has_k = format->has(d->reader, dump_layout_name(l, "k").text);

    if (format->has(d->reader, dump_layout_name(l, "attn_weights").text))
        return read_weights(d, l, err);
    if (has_q && has_k)
        return read_qk(d, l, err);
    if (has_q || has_k)
        return dump_layout_bad(d, name.text, err, "has '%s' without '%s'; both are needed", has_q ? "q" : "k",
                               has_q ? "k" : "q");
    if (format->has(d->reader, dump_layout_name(l, "attn_logits").text))
        return dump_layout_bad(
            d, name.text, err,
            "has attn_logits alone, and this tare reads attn_weights, or q and k; record one of those");
    return dump_layout_bad(d, name.text, err, "has no tensor; it needs attn_weights, or q and k");
}

/* Every key that a valid row of the sample sees must be among the layer's columns. */
static enum status check_reach(const struct dump *d, const struct dump_layer *l, const struct dump_sample *s,
                               struct error *err)
{
    int64_t end = s->first + s->length, rows_end = s->query_start + (int64_t)l->n_rows;
    int64_t p_first = s->query_start > s->first ? s->query_start : s->first;
    int64_t p_last = (rows_end < end ? rows_end : end) - 1;
    int64_t lowest = s->first, highest = end - 1;
    struct dump_name name = dump_layout_name(l, "");

    if (p_first > p_last)
        return dump_layout_bad(d, name.text, err,
                               "no row belongs to sample '%.80s': its rows have key indices %lld to %lld, its keys are "
                               "%lld to %lld; check query_start, first and length",
                               s->id, (long long)s->query_start, (long long)(rows_end - 1), (long long)s->first,
                               (long long)(end - 1));
    if (l->causal)
        highest = p_last;
    if (l->causal && l->window > 0 && p_first - l->window + 1 > lowest)
        lowest = p_first - l->window + 1;
    if (lowest < l->key_start || highest >= l->key_start + (int64_t)l->n_cols)
        return dump_layout_bad(d, name.text, err,
                               "rows of sample '%.80s' see keys %lld to %lld, but the columns hold keys %lld to %lld; "
                               "check first, length, query_start, window and key_start",
                               s->id, (long long)lowest, (long long)highest, (long long)l->key_start,
                               (long long)(l->key_start + (int64_t)l->n_cols - 1));
    return OK;
}

static enum status read_layer(struct dump *d, struct dump_layer *l, struct error *err)
{
    size_t i;

    TRY(read_tensors(d, l, err));
    TRY(read_attrs(d, l, err));
    if (d->is_mapped && l->kind == DUMP_WEIGHTS)
        TRY(dump_look_which_way(d, l, err));
    for (i = 0; i < d->n_samples; i++)
        TRY(check_reach(d, l, &d->samples[i], err));
    return OK;
}

static enum status parse_index(const struct dump *d, const char *name, int64_t *ret, struct error *err)
{
    uint64_t index = 0;

    if (strlen(name) > 9 || !num_u64(name, &index))
        return dump_layout_bad(d, "layers", err, "'%.60s' is no layer: groups are named by number, \"000\", \"001\", …",
                               name);
    *ret = (int64_t)index;
    return OK;
}

static int by_index(const void *a, const void *b)
{
    const struct dump_layer *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

static enum status read_layers(struct dump *d, struct error *err)
{
    char **names = NULL;
    size_t n = 0, i;

    TRY(d->reader->format->layer_names(d->reader, &d->arena, &names, &n, err));
    if (n == 0)
        return dump_layout_bad(d, "layers", err, "the dump holds no layers");
    if (n > MAX_LAYERS)
        return dump_layout_bad(d, "layers", err, "%zu layers, %d are the limit", n, (int)MAX_LAYERS);
    TRY(arena_new(&d->arena, n, sizeof *d->layers, &d->layers, err));
    for (i = 0; i < n; i++) {
        TRY(parse_index(d, names[i], &d->layers[i].index, err));
        d->layers[i].name = names[i];
    }
    qsort(d->layers, n, sizeof *d->layers, by_index);
    for (i = 1; i < n; i++)
        if (d->layers[i].index == d->layers[i - 1].index)
            return dump_layout_bad(d, "layers", err, "'%s' and '%s' are the same layer", d->layers[i - 1].name,
                                   d->layers[i].name);
    for (i = 0; i < n; i++)
        TRY(read_layer(d, &d->layers[i], err));
    d->n_layers = n;
    return OK;
}

enum status dump_layout_read(struct dump *d, struct error *err)
{
    TRY(check_format(d, err));
    TRY(read_source(d, err));
    TRY(dump_samples_read(d, err));
    return read_layers(d, err);
}
