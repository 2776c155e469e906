#include "core/io/dump_map_read.h"

#include "core/io/dump_dtype.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 };

static const char *const keys[] = {"weights",
                                   "logits",
                                   "stacked",
                                   "kind",
                                   "q",
                                   "k",
                                   "lse",
                                   "value_scales",
                                   "positions",
                                   "axes",
                                   "k_axes",
                                   "lse_axes",
                                   "layer",
                                   "causal",
                                   "window",
                                   "scale",
                                   "softcap",
                                   "key_start",
                                   "value_scale",
                                   "zero_point",
                                   "logits_are",
                                   "lse_base",
                                   "causal_by_layer",
                                   "window_by_layer",
                                   "scale_by_layer",
                                   "softcap_by_layer",
                                   "key_start_by_layer",
                                   "value_scale_by_layer",
                                   "cache",
                                   "dtype",
                                   "ids",
                                   "mask",
                                   "lengths",
                                   "pad_side",
                                   "query_start",
                                   "n_layers",
                                   "model_name",
                                   "weights_sha256",
                                   "prompt_version",
                                   "prompt_sha256",
                                   "compute_dtype",
                                   "store_dtype",
                                   "capture",
                                   "variant"};

static const char *const axis_words[N_MAP_AXES] = {"samples", "layers", "heads", "rows", "cols"};

static enum status read_name(struct dump_map *m, const struct json_at *top, const char *key, enum map_role role,
                             struct error *err)
{
    struct json_at at;
    const char *text = NULL;

    TRY(json_opt(top, key, JSON_STRING, &at, err));
    TRY(json_text_or(top, key, NULL, &text, err));
    if (!text)
        return OK;
    if (m->array[role].pattern.text)
        return json_bad(&at, err, "names the tensors once more: name them in one way");
    if (!name_pattern_parse(text, &m->array[role].pattern))
        return json_bad(&at, err,
                        "must be the name of an array, with one {layer} where the layer's number stands, and one "
                        "{step} or {sample} where there is an array for each");
    return OK;
}

static enum status add_axis(struct map_axes *axes, const struct json_at *at, const char *word, size_t len,
                            struct error *err)
{
    char text[16];
    size_t i;

    snprintf(text, sizeof text, "%.*s", (int)(len < 15 ? len : 15), word);
    for (i = 0; i < N_MAP_AXES; i++) {
        if (strcmp(text, axis_words[i]) != 0)
            continue;
        if (axes->axis[i] != SIZE_MAX)
            return json_bad(at, err, "'%s' stands there twice", text);
        axes->axis[i] = axes->rank++;
        return OK;
    }
    return json_bad(at, err,
                    "'%s' is no axis: samples, layers, heads, rows and cols are, as in "
                    "\"samples,layers,heads,rows,cols\"",
                    text);
}

/* "samples,layers,heads,rows,cols" in any order; `other` where the map says nothing. */
static enum status read_axes(const struct json_at *top, const char *key, const char *other, struct map_axes *ret,
                             struct error *err)
{
    const char *text = other;
    struct json_at at;
    size_t i;

    TRY(json_opt(top, key, JSON_STRING, &at, err));
    TRY(json_text_or(top, key, other, &text, err));
    ret->rank = 0;
    for (i = 0; i < N_MAP_AXES; i++)
        ret->axis[i] = SIZE_MAX;
    while (*text) {
        size_t len = strcspn(text, ",");

        TRY(add_axis(ret, &at, text, len, err));
        text += len + (text[len] == ',');
    }
    return OK;
}

static enum status check_axes(const struct dump_map *m, const struct json_at *top, const struct map_axes *axes,
                              struct error *err)
{
    struct json_at at;

    TRY(json_opt(top, "axes", JSON_STRING, &at, err));
    if (axes->axis[MAP_ROWS] == SIZE_MAX || axes->axis[MAP_COLS] == SIZE_MAX)
        return json_bad(&at, err, "rows and cols must be among the dimensions, as in \"samples,heads,rows,cols\"");
    if (axes->axis[MAP_LAYERS] != SIZE_MAX && !m->is_stacked)
        return json_bad(&at, err, "'layers' is a dimension only of an array that \"stacked\" names");
    return OK;
}

/* Axes of each role: those of weights, logits and queries, those of keys where they differ, and of numbers a row. */
static enum status read_all_axes(struct dump_map *m, const struct json_at *top, struct error *err)
{
    const char *text = m->is_stacked ? NULL : "samples,heads,rows,cols", *row_axes = "samples,heads,rows";
    struct map_axes axes;

    TRY(json_text_or(top, "axes", text, &text, err));
    if (!text)
        return json_bad(top, err,
                        "'axes' is missing: say which dimension of 'stacked' is which, as in "
                        "\"samples,layers,heads,rows,cols\"");
    TRY(read_axes(top, "axes", text, &axes, err));
    TRY(check_axes(m, top, &axes, err));
    m->array[MAP_WEIGHTS].axes = m->array[MAP_LOGITS].axes = m->array[MAP_Q].axes = axes;
    TRY(read_axes(top, "k_axes", text, &m->array[MAP_K].axes, err));
    TRY(check_axes(m, top, &m->array[MAP_K].axes, err));
    TRY(read_axes(top, "lse_axes", m->is_stacked ? "samples,layers,heads,rows" : row_axes, &m->array[MAP_LSE].axes,
                  err));
    m->array[MAP_SCALES].axes = m->array[MAP_LSE].axes;
    return read_axes(top, "", "cols", &m->array[MAP_POSITIONS].axes, err);
}

static enum status read_dtype(struct dump_map *m, const struct json_at *top, struct error *err)
{
    const char *text = NULL;
    struct json_at at;

    TRY(json_text_or(top, "dtype", NULL, &text, err));
    if (!text)
        return OK;
    TRY(json_opt(top, "dtype", JSON_STRING, &at, err));
    if (!dump_dtype_named(text, &m->dtype))
        return json_bad(
            &at, err, "'%.40s' is no type: bfloat16, float16, float32, float64, float8_e4m3 and float8_e5m2 are", text);
    return OK;
}

/* An array of all layers, of either kind. */
static enum status read_stacked(struct dump_map *m, const struct json_at *top, struct error *err)
{
    const char *kind = NULL;
    struct json_at at;
    enum map_role role;

    TRY(json_text_or(top, "kind", "weights", &kind, err));
    TRY(json_opt(top, "kind", JSON_STRING, &at, err));
    if (strcmp(kind, "weights") != 0 && strcmp(kind, "logits") != 0)
        return json_bad(&at, err, "must be \"weights\", after the softmax, or \"logits\", before it");
    role = strcmp(kind, "logits") == 0 ? MAP_LOGITS : MAP_WEIGHTS;
    if (at.value && role == MAP_LOGITS && m->array[MAP_WEIGHTS].pattern.text) { /* of "weights": what they really are */
        m->array[MAP_LOGITS].pattern = m->array[MAP_WEIGHTS].pattern;
        m->array[MAP_WEIGHTS].pattern.text = NULL;
    }
    TRY(json_opt(top, "stacked", JSON_STRING, &at, err));
    m->is_stacked = at.value != NULL;
    TRY(read_name(m, top, "stacked", role, err));
    if (m->is_stacked && name_pattern_has(&m->array[role].pattern, HOLE_LAYER))
        return json_bad(top, err, "'stacked' is one array of all layers: it has no {layer}");
    return OK;
}

static enum status check_names(const struct dump_map *m, const struct json_at *top, struct error *err)
{
    const struct map_array *a = m->array;
    bool has_q = a[MAP_Q].pattern.text, has_k = a[MAP_K].pattern.text;
    size_t role;

    if ((a[MAP_WEIGHTS].pattern.text != NULL) + (a[MAP_LOGITS].pattern.text != NULL) + has_q > 1)
        return json_bad(top, err, "names two of 'weights', 'logits', 'stacked' and 'q': name one kind of tensor");
    if (has_q != has_k)
        return json_bad(top, err, "has '%s' without '%s'; both are needed", has_q ? "q" : "k", has_q ? "k" : "q");
    if (a[MAP_LSE].pattern.text && !has_q)
        return json_bad(top, err, "'lse' checks 'q' and 'k': name those too");
    for (role = MAP_K; role <= MAP_LSE; role++)
        if (a[role].pattern.text &&
            name_pattern_has(&a[role].pattern, HOLE_LAYER) != name_pattern_has(&a[MAP_Q].pattern, HOLE_LAYER))
            return json_bad(top, err, "'q', 'k' and 'lse' must all have a {layer}, or none");
    return OK;
}

static enum status read_names(struct dump_map *m, const struct json_at *top, struct error *err)
{
    TRY(read_name(m, top, "weights", MAP_WEIGHTS, err));
    TRY(read_name(m, top, "logits", MAP_LOGITS, err));
    TRY(read_name(m, top, "q", MAP_Q, err));
    TRY(read_name(m, top, "k", MAP_K, err));
    TRY(read_name(m, top, "lse", MAP_LSE, err));
    TRY(read_name(m, top, "value_scales", MAP_SCALES, err));
    TRY(read_name(m, top, "positions", MAP_POSITIONS, err));
    TRY(read_stacked(m, top, err));
    return check_names(m, top, err);
}

enum status dump_map_read(struct dump_map *m, const char *name, const char *text, struct error *err)
{
    struct json_at top;

    TRY(text ? json_parse(&m->doc, name, text, strlen(text), err) : json_read(&m->doc, name, MAX_FILE, err));
    top = json_top(&m->doc);
    TRY(json_only_keys(&top, keys, sizeof keys / sizeof *keys, err));
    m->dtype = N_DTYPES;
    TRY(read_names(m, &top, err));
    TRY(read_all_axes(m, &top, err));
    return read_dtype(m, &top, err);
}

bool dump_map_names_tensors(const struct dump_map *m)
{
    return m->array[MAP_WEIGHTS].pattern.text || m->array[MAP_LOGITS].pattern.text || m->array[MAP_Q].pattern.text;
}

json_t *dump_map_said(const struct dump_map *m, const char *key)
{
    json_t *value = json_object_get(m->doc.root, key);

    return json_is_null(value) ? NULL : value;
}

struct json_at dump_map_place(const struct dump_map *m, const char *key)
{
    struct json_at at = json_top(&m->doc);

    at.value = dump_map_said(m, key);
    snprintf(at.pointer, sizeof at.pointer, "/%s", key);
    return at;
}

enum status dump_map_ask(const struct dump_map *m, struct error *err, const char *what)
{
    return error_set(err, ERR_FORMAT, "'%s': with the layout '%s': %s", m->base.path, m->doc.name, what);
}
