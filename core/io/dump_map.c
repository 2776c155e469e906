#include "core/io/dump_map.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_map_read.h"
#include "core/io/dump_map_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of an array in the container. */
struct real_name {
    char text[256];
};

static struct dump_map *self(struct dump_reader *r)
{
    return (struct dump_map *)(void *)r;
}

static void map_free(struct dump_reader *r)
{
    struct dump_map *m = self(r);

    if (m->inner)
        m->inner->format->free(m->inner);
    json_done(&m->doc);
    arena_done(&m->arena);
    free(m);
}

/* "layers/5/q" to the layer and the map's name for its tensor; NULL where it has none. */
static const struct map_name *find_name(const struct dump_map *m, const char *name, const char **ret_layer,
                                        size_t *ret_len)
{
    const char *slash;

    if (strncmp(name, "layers/", 7) != 0)
        return NULL;
    name += 7;
    slash = strchr(name, '/');
    if (!slash)
        return NULL;
    *ret_layer = name;
    *ret_len = (size_t)(slash - name);
    if (strcmp(slash + 1, "attn_weights") == 0 && m->weights.name)
        return &m->weights;
    if (strcmp(slash + 1, "q") == 0 && m->q.name)
        return &m->q;
    return strcmp(slash + 1, "k") == 0 && m->k.name ? &m->k : NULL;
}

static bool real_name(const struct dump_map *m, const char *name, struct real_name *ret)
{
    const char *layer = NULL;
    size_t len = 0;
    const struct map_name *n = find_name(m, name, &layer, &len);

    if (!n)
        return false;
    if (n->has_layer)
        snprintf(ret->text, sizeof ret->text, "%.110s%.*s%.110s", n->before, (int)(len < 20 ? len : 20), layer,
                 n->after);
    else
        snprintf(ret->text, sizeof ret->text, "%.240s", n->name);
    return true;
}

static bool map_has(struct dump_reader *r, const char *name)
{
    struct dump_map *m = self(r);
    const struct dump_format *format = m->inner->format;
    struct real_name real;

    if (real_name(m, name, &real))
        return format->has(m->inner, real.text);
    if (strcmp(name, "samples/mask") == 0 && json_object_get(m->doc.root, "lengths"))
        return false;
    return (strncmp(name, "layers/", 7) != 0 || !dump_map_names_tensors(m)) && format->has(m->inner, name);
}

static enum status map_layer_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n,
                                   struct error *err)
{
    struct dump_map *m = self(r);
    char **names = NULL;
    size_t i;

    if (!dump_map_names_tensors(m))
        return m->inner->format->layer_names(m->inner, arena, ret, ret_n, err);
    TRY(arena_new(arena, m->n_layers, sizeof *names, &names, err));
    for (i = 0; i < m->n_layers; i++)
        TRY(arena_strdup(arena, m->layers[i], &names[i], err));
    *ret = names;
    *ret_n = m->n_layers;
    return OK;
}

/* The map's word on an attribute, which goes before the file's: of a layer its own window, else what holds for all. */
static json_t *said_of(const struct dump_map *m, const char *object, const char *attr)
{
    json_t *by_layer = dump_map_said(m, "window_by_layer");
    uint64_t layer = 0, number;
    const char *key;
    json_t *value;

    if (strncmp(object, "layers/", 7) != 0 || strcmp(attr, "window") != 0 || !num_u64(object + 7, &layer))
        return dump_map_said(m, attr);
    json_object_foreach (by_layer, key, value)
        if (num_u64(key, &number) && number == layer)
            return value;
    return dump_map_said(m, attr);
}

static bool is_map_format(const struct dump_map *m, const char *object, const char *attr, const char *wanted)
{
    return !object[0] && dump_map_names_tensors(m) && strcmp(attr, wanted) == 0;
}

static enum status map_attr_text(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                                 bool *ret_found, char **ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct json_at at = dump_map_place(m, attr);

    *ret_found = true;
    if (is_map_format(m, object, attr, "format"))
        return arena_strdup(arena, "attn-dump", ret, err);
    if (!at.value)
        return m->inner->format->attr_text(m->inner, object, attr, arena, ret_found, ret, err);
    TRY(json_is(&at, JSON_STRING, err));
    return arena_strdup(arena, json_string_value(at.value), ret, err);
}

/* Layers of a foreign file are no groups, so that only the map speaks of them. */
static bool asks_file(const struct dump_map *m, const char *object)
{
    return !dump_map_names_tensors(m) || !object[0];
}

static enum status map_attr_i64(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                                int64_t *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct json_at at = dump_map_place(m, attr);

    at.value = said_of(m, object, attr);
    *ret_found = true;
    if (is_map_format(m, object, attr, "format_version")) {
        *ret = 1;
        return OK;
    }
    *ret_found = at.value != NULL;
    if (!at.value)
        return asks_file(m, object) ? m->inner->format->attr_i64(m->inner, object, attr, ret_found, ret, err) : OK;
    if (json_is_boolean(at.value)) {
        *ret = json_is_true(at.value);
        return OK;
    }
    TRY(json_is(&at, JSON_INTEGER, err));
    *ret = json_integer_value(at.value);
    return OK;
}

static enum status map_attr_double(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                                   double *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct json_at at = dump_map_place(m, attr);

    *ret_found = at.value != NULL;
    if (!at.value)
        return asks_file(m, object) ? m->inner->format->attr_double(m->inner, object, attr, ret_found, ret, err) : OK;
    TRY(json_is(&at, JSON_REAL, err));
    *ret = json_number_value(at.value);
    return OK;
}

static enum status map_table(struct dump_reader *r, const char *name, size_t *ret_rows, size_t *ret_cols,
                             struct error *err)
{
    return self(r)->inner->format->table(self(r)->inner, name, ret_rows, ret_cols, err);
}

static enum status map_table_row(struct dump_reader *r, const char *name, size_t row, size_t n_cols, int64_t *ret,
                                 struct error *err)
{
    return self(r)->inner->format->table_row(self(r)->inner, name, row, n_cols, ret, err);
}

/* An axis that the array has not is one long. */
static size_t along(const struct dump_map *m, const struct dump_shape *shape, enum map_axis axis)
{
    return m->axis[axis] == SIZE_MAX ? 1 : shape->dim[m->axis[axis]];
}

static enum status array_shape(struct dump_map *m, const char *real, struct dump_shape *ret, struct error *err)
{
    char why[300];

    TRY(m->inner->format->shape(m->inner, real, ret, err));
    if (ret->rank == m->rank)
        return OK;
    snprintf(why, sizeof why,
             "'%.100s' has %zu dimensions, and \"axes\" speaks of %zu: say which dimension is which, as in "
             "\"samples,%sheads,rows,cols\"",
             real, ret->rank, m->rank, m->is_stacked ? "layers," : "");
    return dump_map_ask(m, err, why);
}

static enum status map_tensor(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct dump_shape shape;
    struct real_name real;
    size_t i;

    if (!real_name(m, name, &real))
        return m->inner->format->tensor(m->inner, name, ret, err);
    TRY(array_shape(m, real.text, &shape, err));
    ret->dtype = shape.dtype;
    ret->is_opaque = shape.is_opaque;
    ret->dim[0] = along(m, &shape, MAP_SAMPLES);
    for (i = 1; i < 4; i++)
        ret->dim[i] = along(m, &shape, (enum map_axis)(i + 1));
    return OK;
}

/* Is "layers/5/attn_weights" of the layer "5"? */
static bool is_layer(const char *name, const char *layer)
{
    size_t len = strlen(layer);

    name += strlen("layers/");
    return strncmp(name, layer, len) == 0 && name[len] == '/';
}

static enum status map_rows(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row,
                            size_t n_rows, void *ret, struct error *err)
{
    struct dump_map *m = self(r);
    size_t at[DUMP_MAX_RANK] = {0}, layer = 0;
    struct real_name real;

    if (!real_name(m, name, &real))
        return m->inner->format->rows(m->inner, name, sample, head, row, n_rows, ret, err);
    while (m->is_stacked && layer < m->n_layers && !is_layer(name, m->layers[layer]))
        layer++;
    if (m->axis[MAP_SAMPLES] != SIZE_MAX)
        at[m->axis[MAP_SAMPLES]] = sample;
    if (m->axis[MAP_LAYERS] != SIZE_MAX)
        at[m->axis[MAP_LAYERS]] = layer;
    if (m->axis[MAP_HEADS] != SIZE_MAX)
        at[m->axis[MAP_HEADS]] = head;
    at[m->axis[MAP_ROWS]] = row;
    return m->inner->format->block(m->inner, real.text, at, n_rows, ret, err);
}

static const struct dump_format map_format = {
    .name = "layout map",
    .free = map_free,
    .has = map_has,
    .layer_names = map_layer_names,
    .attr_text = map_attr_text,
    .attr_i64 = map_attr_i64,
    .attr_double = map_attr_double,
    .texts = dump_map_texts,
    .integers = dump_map_integers,
    .table = map_table,
    .table_row = map_table_row,
    .tensor = map_tensor,
    .rows = map_rows,
};

/* Numbers along the stacked axis, the one of a single layer, or those that stand in names. */
static enum status find_layers(struct dump_map *m, const struct map_name *name, struct error *err)
{
    struct json_at top = json_top(&m->doc);
    struct dump_shape shape;
    int64_t first = 0;
    char why[300];
    size_t i;

    if (name->has_layer) {
        TRY(m->inner->format->numbers(m->inner, name->before, name->after, &m->arena, &m->layers, &m->n_layers, err));
        if (m->n_layers > 0)
            return OK;
        snprintf(why, sizeof why, "no array is named '%.160s' with a number for {layer}", name->name);
        return dump_map_ask(m, err, why);
    }
    TRY(json_i64_or(&top, "layer", 0, 999999, 0, &first, err));
    TRY(array_shape(m, name->name, &shape, err));
    m->n_layers = along(m, &shape, MAP_LAYERS);
    if (m->n_layers > 999999)
        return dump_map_ask(m, err, "more than 999999 layers; check \"axes\"");
    TRY(arena_new(&m->arena, m->n_layers, sizeof *m->layers, &m->layers, err));
    for (i = 0; i < m->n_layers; i++)
        TRY(arena_printf(&m->arena, &m->layers[i], err, "%lld", (long long)first + (long long)i));
    return OK;
}

/* How many samples, rows and keys there are. */
static enum status find_sizes(struct dump_map *m, struct error *err)
{
    struct dump_tensor first;
    char name[64];

    if (m->n_layers == 0)
        return dump_map_ask(m, err, "there are no layers");
    snprintf(name, sizeof name, "layers/%.20s/%s", m->layers[0], m->q.name ? "q" : "attn_weights");
    TRY(map_tensor(&m->base, name, &first, err));
    m->n_samples = first.dim[0];
    m->n_rows = first.dim[2];
    m->n_cols = first.dim[3];
    if (!m->k.name)
        return OK;
    snprintf(name, sizeof name, "layers/%.20s/k", m->layers[0]);
    TRY(map_tensor(&m->base, name, &first, err));
    m->n_cols = first.dim[2];
    return OK;
}

static enum status read_map(struct dump_map *m, const char *file, struct error *err)
{
    TRY(dump_map_read(m, file, err));
    if (!dump_map_names_tensors(m))
        return OK;
    TRY(find_layers(m, m->q.name ? &m->q : &m->weights, err));
    return find_sizes(m, err);
}

enum status dump_map_open(const char *file, const char *path, struct dump_reader *inner, struct dump_reader **ret,
                          struct error *err)
{
    struct dump_map *m = NULL;
    enum status st = mem_new(1, sizeof *m, &m, err);

    if (st != OK) {
        inner->format->free(inner);
        return st;
    }
    m->base.format = &map_format;
    m->inner = inner;
    m->path = path;
    st = read_map(m, file, err);
    if (st != OK) {
        map_free(&m->base);
        return st;
    }
    *ret = &m->base;
    return OK;
}

enum dtype dump_map_dtype(const struct dump_reader *r)
{
    return r->format == &map_format ? ((const struct dump_map *)(const void *)r)->dtype : N_DTYPES;
}
