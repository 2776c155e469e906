#include "core/io/dump_layout.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_look.h"
#include "core/io/dump_lse.h"
#include "core/io/dump_reader.h"
#include "core/io/dump_samples.h"
#include "core/io/dump_tensors.h"
#include "core/io/dump_values.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYERS = 100000 };

enum status dump_layout_bad(const struct dump *d, const char *name, struct error *err, const char *fmt, ...)
{
    char why[480];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at /%s: %s", d->path, name, why);
}

struct dump_name dump_layout_number(double value)
{
    struct dump_name name;

    snprintf(name.text, sizeof name.text, "%.17g", value);
    return name;
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

/* Whether a row sees later keys cannot be assumed: it decides what every number means. */
static enum status refuse_without_causal(struct dump *d, const struct dump_layer *l, const char *layer,
                                         struct error *err)
{
    const char *hint = "1 where a row sees only keys up to its own, 0 where it sees all";
    bool sees_later = false;
    struct error ignored = {0};

    if (l->kind != DUMP_QK && dump_look_above_diagonal(d, l, &sees_later, &ignored) == OK)
        hint = sees_later ? "0, since there are weights above the diagonal (a row sees later keys)"
                          : "1, since all weights above the diagonal are zero";
    return dump_layout_bad(d, layer, err, "no attribute 'causal'; write %s%s", hint,
                           d->is_mapped ? ": \"causal\" in the layout map" : "");
}

static enum status read_window(struct dump *d, struct dump_layer *l, const char *name, struct error *err)
{
    bool found = false;

    TRY(dump_attr_i64_or(d, name, "window", 0, INT32_MAX, 0, &found, &l->window, err));
    return found || !l->causal || !l->may_be_looked_at ? OK : dump_look_window(d, l, err);
}

static enum status read_heads(struct dump *d, const struct dump_layer *l, const char *name, struct error *err)
{
    int64_t n_heads = 0, n_kv_heads = 0, dim = 0;
    bool found = false, is_expanded;

    TRY(dump_attr_i64_or(d, name, "n_heads", 1, INT32_MAX, (int64_t)l->n_heads, &found, &n_heads, err));
    TRY(dump_attr_i64_or(d, name, "n_kv_heads", 1, INT32_MAX, (int64_t)l->n_kv_heads, &found, &n_kv_heads, err));
    TRY(dump_attr_i64_or(d, name, "head_dim", 1, INT32_MAX, (int64_t)l->dim, &found, &dim, err));
    if ((uint64_t)n_heads != l->n_heads)
        return dump_layout_bad(d, name, err, "attribute 'n_heads' is %lld, the tensor has %zu heads",
                               (long long)n_heads, l->n_heads);
    if (l->kind != DUMP_QK)
        return OK;
    is_expanded = l->n_kv_heads == l->n_heads && n_heads % n_kv_heads == 0;
    if (((uint64_t)n_kv_heads != l->n_kv_heads && !is_expanded) || (uint64_t)dim != l->dim)
        return dump_layout_bad(d, name, err,
                               "attributes n_kv_heads %lld and head_dim %lld do not fit k with %zu heads of %zu",
                               (long long)n_kv_heads, (long long)dim, l->n_kv_heads, l->dim);
    if ((uint64_t)n_kv_heads != l->n_kv_heads)
        return dump_note(
            d, err,
            "'%s': k has a head for each of the %zu query heads, repeated from %lld key heads: those alone "
            "would say the same in less room",
            d->path, l->n_heads, (long long)n_kv_heads);
    return OK;
}

static enum status read_attrs(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_name name = dump_layout_name(l, "");
    int64_t causal = 0;
    bool found = false;

    TRY(d->reader->format->attr_i64(d->reader, name.text, "causal", &found, &causal, err));
    if (!found)
        return refuse_without_causal(d, l, name.text, err);
    if (causal != 0 && causal != 1)
        return dump_layout_bad(d, name.text, err, "attribute 'causal' is %lld, it must be 0 or 1", (long long)causal);
    l->causal = causal == 1;
    TRY(dump_attr_i64_or(d, name.text, "key_start", 0, INT32_MAX, 0, &found, &l->key_start, err));
    TRY(read_window(d, l, name.text, err));
    TRY(read_heads(d, l, name.text, err));
    TRY(dump_attr_double_or_zero(d, name.text, "softcap", &l->softcap, err));
    TRY(dump_attr_double_or_zero(d, name.text, "scale", &l->scale, err));
    if ((l->kind == DUMP_QK || l->is_raw) && !(l->scale > 0))
        return dump_layout_bad(
            d, name.text, err,
            "attribute 'scale' must be the factor of q·k before the softmax, such as 1/sqrt(head_dim)%s%s",
            l->dim ? ", here " : "", l->dim ? dump_layout_number(1 / sqrt((double)l->dim)).text : "");
    return OK;
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

/* A look at the values is always worth it where a map describes them, or where integers want a factor. Where attn-dump
 * says all, it must cost nothing: no inflating, no checksum of the whole. */
static enum status find_looks(struct dump *d, struct dump_layer *l, struct error *err)
{
    struct dump_place place = {.fd = -1};

    l->may_be_looked_at = l->kind != DUMP_QK && (d->is_mapped || l->dtype == DTYPE_U8 || l->dtype == DTYPE_I8);
    if (l->kind == DUMP_QK || l->may_be_looked_at || !d->reader->format->enters_freely)
        return OK;
    TRY(d->reader->format->place(d->reader, dump_part_name(l, DUMP_PART_WEIGHTS).text, 0, &place, err));
    l->may_be_looked_at = place.fd >= 0;
    return OK;
}

static enum status read_layer(struct dump *d, struct dump_layer *l, struct error *err)
{
    size_t i;

    TRY(find_looks(d, l, err));
    TRY(read_attrs(d, l, err));
    if (l->kind == DUMP_WEIGHTS && l->may_be_looked_at)
        TRY(dump_look_at_sums(d, l, err));
    for (i = 0; i < d->n_samples; i++)
        TRY(check_reach(d, l, &d->samples[i], err));
    return l->has_lse ? dump_lse_check(d, l, err) : OK;
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

/* Finds the tensors of n layers, and keeps those that have any: layers whose attention was not returned are named, and
 * the others measured. */
static enum status keep_present(struct dump *d, size_t n, struct error *err)
{
    const char *first = "";
    size_t i, n_absent = 0;

    for (i = 0; i < n; i++) {
        struct dump_layer l = d->layers[i];
        bool found = false;

        TRY(dump_tensors_read(d, &l, &found, err));
        if (found)
            d->layers[d->n_layers++] = l;
        else if (n_absent++ == 0)
            first = l.name;
    }
    if (d->n_layers == 0)
        return dump_layout_bad(d, dump_layout_name(&d->layers[0], "").text, err,
                               "has no tensor; it needs attn_weights, attn_logits, or q and k");
    if (n_absent == 0)
        return OK;
    return dump_note(d, err, "'%s': %zu layers hold no attention and are left out, the first is %s", d->path, n_absent,
                     first);
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
    TRY(keep_present(d, n, err));
    TRY(dump_samples_place(d, err));
    for (i = 0; i < d->n_layers; i++)
        TRY(read_layer(d, &d->layers[i], err));
    return OK;
}

enum status dump_layout_read(struct dump *d, struct error *err)
{
    TRY(check_format(d, err));
    TRY(read_source(d, err));
    TRY(dump_samples_read(d, err));
    return read_layers(d, err);
}
