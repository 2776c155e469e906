#include "core/io/dump_map_read.h"

#include "core/io/dump_dtype.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 };

static const char *const keys[] = {"weights",
                                   "q",
                                   "k",
                                   "stacked",
                                   "axes",
                                   "layer",
                                   "causal",
                                   "window",
                                   "window_by_layer",
                                   "key_start",
                                   "scale",
                                   "softcap",
                                   "dtype",
                                   "ids",
                                   "lengths",
                                   "pad_side",
                                   "query_start",
                                   "model_name",
                                   "weights_sha256",
                                   "prompt_version",
                                   "prompt_sha256",
                                   "compute_dtype",
                                   "store_dtype",
                                   "capture",
                                   "variant"};

static const char *const axis_words[N_MAP_AXES] = {"samples", "layers", "heads", "rows", "cols"};

static enum status read_name(struct dump_map *m, const struct json_at *top, const char *key, struct map_name *ret,
                             struct error *err)
{
    static const char mark[] = "{layer}";
    struct json_at at;
    const char *text = NULL, *found;

    TRY(json_opt(top, key, JSON_STRING, &at, err));
    TRY(json_text_or(top, key, NULL, &text, err));
    if (!text)
        return OK;
    while (*text == '/')
        text++;
    found = strstr(text, mark);
    if (!*text || (found && strstr(found + 1, mark)))
        return json_bad(&at, err, "must be the name of an array, with one {layer} where the layer's number stands");
    ret->name = text;
    ret->has_layer = found != NULL;
    if (!found)
        return OK;
    TRY(arena_strndup(&m->arena, text, (size_t)(found - text), &ret->before, err));
    return arena_strdup(&m->arena, found + strlen(mark), &ret->after, err);
}

static enum status add_axis(struct dump_map *m, const struct json_at *at, const char *word, size_t len,
                            struct error *err)
{
    char text[16];
    size_t i;

    snprintf(text, sizeof text, "%.*s", (int)(len < 15 ? len : 15), word);
    for (i = 0; i < N_MAP_AXES; i++) {
        if (strcmp(text, axis_words[i]) != 0)
            continue;
        if (m->axis[i] != SIZE_MAX)
            return json_bad(at, err, "'%s' stands there twice", text);
        m->axis[i] = m->rank++;
        return OK;
    }
    return json_bad(at, err,
                    "'%s' is no axis: samples, layers, heads, rows and cols are, as in "
                    "\"samples,layers,heads,rows,cols\"",
                    text);
}

/* "samples,layers,heads,rows,cols": rows and cols last and in this order, since rows are read in one piece. */
static enum status read_axes(struct dump_map *m, const struct json_at *top, struct error *err)
{
    const char *text = m->is_stacked ? NULL : "samples,heads,rows,cols";
    struct json_at at;
    size_t i;

    TRY(json_opt(top, "axes", JSON_STRING, &at, err));
    TRY(json_text_or(top, "axes", text, &text, err));
    if (!text)
        return json_bad(top, err,
                        "'axes' is missing: say which dimension of 'stacked' is which, as in "
                        "\"samples,layers,heads,rows,cols\"");
    for (i = 0; i < N_MAP_AXES; i++)
        m->axis[i] = SIZE_MAX;
    while (*text) {
        size_t len = strcspn(text, ",");

        TRY(add_axis(m, &at, text, len, err));
        text += len + (text[len] == ',');
    }
    if (m->rank < 2 || m->axis[MAP_ROWS] != m->rank - 2 || m->axis[MAP_COLS] != m->rank - 1)
        return json_bad(&at, err,
                        "rows and cols must be the last two dimensions, in this order: save the array with "
                        "its dimensions in another order (numpy.transpose, then numpy.ascontiguousarray)");
    if (m->axis[MAP_LAYERS] != SIZE_MAX && !m->is_stacked)
        return json_bad(&at, err, "'layers' is a dimension only of an array that \"stacked\" names");
    return OK;
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
        return json_bad(&at, err, "'%.40s' is no type: bfloat16, float16, float32 and float64 are", text);
    return OK;
}

static enum status read_names(struct dump_map *m, const struct json_at *top, struct error *err)
{
    struct map_name stacked = {0};

    TRY(read_name(m, top, "weights", &m->weights, err));
    TRY(read_name(m, top, "q", &m->q, err));
    TRY(read_name(m, top, "k", &m->k, err));
    TRY(read_name(m, top, "stacked", &stacked, err));
    m->is_stacked = stacked.name != NULL;
    if ((m->weights.name != NULL) + (m->q.name != NULL) + m->is_stacked > 1)
        return json_bad(top, err, "names two of 'weights', 'stacked' and 'q': name one kind of tensor");
    if (!m->q.name != !m->k.name)
        return json_bad(top, err, "has '%s' without '%s'; both are needed", m->q.name ? "q" : "k",
                        m->q.name ? "k" : "q");
    if (m->is_stacked && stacked.has_layer)
        return json_bad(top, err, "'stacked' is one array of all layers: it has no {layer}");
    if (m->is_stacked)
        m->weights = stacked;
    if (m->q.name && m->q.has_layer != m->k.has_layer)
        return json_bad(top, err, "'q' and 'k' must both have a {layer}, or none");
    return OK;
}

enum status dump_map_read(struct dump_map *m, const char *file, struct error *err)
{
    struct json_at top;

    TRY(json_read(&m->doc, file, MAX_FILE, err));
    top = json_top(&m->doc);
    TRY(json_only_keys(&top, keys, sizeof keys / sizeof *keys, err));
    m->dtype = N_DTYPES;
    TRY(read_names(m, &top, err));
    TRY(read_axes(m, &top, err));
    return read_dtype(m, &top, err);
}

bool dump_map_names_tensors(const struct dump_map *m)
{
    return m->weights.name || m->q.name;
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
    return error_set(err, ERR_FORMAT, "'%s': with the layout '%s': %s", m->path, m->doc.name, what);
}
