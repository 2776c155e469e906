#include "core/io/dump_map.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_map_find.h"
#include "core/io/dump_map_join.h"
#include "core/io/dump_map_read.h"
#include "core/io/dump_map_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the layout calls what an array is. */
static const char *const role_names[N_MAP_ROLES] = {
    [MAP_WEIGHTS] = "attn_weights", [MAP_LOGITS] = "attn_logits", [MAP_Q] = "q", [MAP_K] = "k", [MAP_LSE] = "lse",
    [MAP_SCALES] = "value_scales",  [MAP_POSITIONS] = ""};

/* Where a generation is saved step by step, unless a map says otherwise. */
static const char step_names[] = "step.{step}.layer.{layer}";

/* A tensor of a layer: "layers/5/q". */
struct where {
    enum map_role role;
    char layer[24];
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

/* False where the map names no such tensor. */
static bool find_where(const struct dump_map *m, const char *name, struct where *ret)
{
    const char *slash = strncmp(name, "layers/", 7) == 0 ? strchr(name + 7, '/') : NULL;
    size_t role;

    if (!slash)
        return false;
    snprintf(ret->layer, sizeof ret->layer, "%.*s", (int)(slash - name - 7), name + 7);
    for (role = 0; role < N_MAP_ROLES; role++) {
        if (!m->array[role].pattern.text || strcmp(slash + 1, role_names[role]) != 0)
            continue;
        ret->role = (enum map_role)role;
        return true;
    }
    return false;
}

static bool map_has(struct dump_reader *r, const char *name)
{
    struct dump_map *m = self(r);
    struct where w;
    size_t n = 0;

    if (find_where(m, name, &w))
        return dump_map_pieces(m, w.role, w.layer, 0, &n) != NULL;
    if (strncmp(name, "samples/", 8) == 0 && dump_map_names_tensors(m))
        return false;
    return (strncmp(name, "layers/", 7) != 0 || !dump_map_names_tensors(m)) && m->inner->format->has(m->inner, name);
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

/* Of "layers/5" or "layers/5/q"; false where it is no layer. */
static bool layer_number(const char *object, uint64_t *ret)
{
    char digits[20];

    if (strncmp(object, "layers/", 7) != 0)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)strcspn(object + 7, "/"), object + 7);
    return num_u64(digits, ret);
}

static json_t *listed(const struct dump_map *m, json_t *by_layer, uint64_t layer)
{
    uint64_t number;
    const char *key;
    json_t *value;
    size_t i;

    for (i = 0; json_is_array(by_layer) && i < m->n_layers; i++)
        if (num_u64(m->layers[i], &number) && number == layer)
            return json_array_get(by_layer, i);
    json_object_foreach (by_layer, key, value)
        if (num_u64(key, &number) && number == layer)
            return value;
    return NULL;
}

/* The map's word on an attribute, which goes before the file's: of a layer its own, else what holds for all. */
static struct json_at said_of(const struct dump_map *m, const char *object, const char *attr)
{
    struct json_at at = dump_map_place(m, attr);
    json_t *value = NULL;
    uint64_t layer = 0;
    char key[40];

    snprintf(key, sizeof key, "%.24s_by_layer", attr);
    if (layer_number(object, &layer))
        value = listed(m, dump_map_said(m, key), layer);
    if (value) {
        at.value = value;
        snprintf(at.pointer, sizeof at.pointer, "/%s/%llu", key, (unsigned long long)layer);
    }
    return at;
}

static bool is_map_format(const struct dump_map *m, const char *object, const char *attr, const char *wanted)
{
    return !object[0] && dump_map_names_tensors(m) && strcmp(attr, wanted) == 0;
}

/* Who else may know: the file, and where the map names arrays, the first array of the layer. NULL: nobody. */
static const char *ask_file(const struct dump_map *m, const char *object)
{
    static const enum map_role roles[] = {MAP_WEIGHTS, MAP_LOGITS, MAP_Q};
    char layer[24];
    size_t i, n = 0;

    if (!dump_map_names_tensors(m) || !object[0])
        return object;
    if (strncmp(object, "layers/", 7) != 0)
        return NULL;
    snprintf(layer, sizeof layer, "%.*s", (int)strcspn(object + 7, "/"), object + 7);
    for (i = 0; i < sizeof roles / sizeof *roles; i++) {
        const struct map_piece *p = m->array[roles[i]].pattern.text ? dump_map_pieces(m, roles[i], layer, 0, &n) : NULL;

        if (p)
            return p->name;
    }
    return NULL;
}

static enum status map_attr_text(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                                 bool *ret_found, char **ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct json_at at = said_of(m, object, attr);
    const char *other = ask_file(m, object);

    *ret_found = true;
    if (is_map_format(m, object, attr, "format"))
        return arena_strdup(arena, "attn-dump", ret, err);
    *ret_found = at.value != NULL;
    if (!at.value)
        return other ? m->inner->format->attr_text(m->inner, other, attr, arena, ret_found, ret, err) : OK;
    TRY(json_is(&at, JSON_STRING, err));
    return arena_strdup(arena, json_string_value(at.value), ret, err);
}

static enum status map_attr_i64(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                                int64_t *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct json_at at = said_of(m, object, attr);
    const char *other = ask_file(m, object);

    *ret_found = true;
    if (is_map_format(m, object, attr, "format_version")) {
        *ret = 1;
        return OK;
    }
    *ret_found = at.value != NULL;
    if (!at.value)
        return other ? m->inner->format->attr_i64(m->inner, other, attr, ret_found, ret, err) : OK;
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
    struct json_at at = said_of(m, object, attr);
    const char *other = ask_file(m, object);

    *ret_found = at.value != NULL;
    if (!at.value)
        return other ? m->inner->format->attr_double(m->inner, other, attr, ret_found, ret, err) : OK;
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

static enum status map_tensor(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct where w;

    if (!find_where(m, name, &w))
        return m->inner->format->tensor(m->inner, name, ret, err);
    return dump_map_tensor(m, w.role, w.layer, ret, err);
}

static enum status map_rows(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row,
                            size_t n_rows, void *ret, struct error *err)
{
    struct dump_map *m = self(r);
    struct dump_tensor t;
    struct where w;

    if (!find_where(m, name, &w))
        return m->inner->format->rows(m->inner, name, sample, head, row, n_rows, ret, err);
    TRY(dump_map_tensor(m, w.role, w.layer, &t, err));
    return dump_map_join_rows(m, w.role, w.layer, sample, head, row, n_rows, t.dim[3], ret, err);
}

/* A piece that is the whole tensor of its sample, with heads, rows and columns last and in this order. */
static bool is_plain(const struct dump_map *m, const struct where *w, const struct map_piece *p, size_t n,
                     const struct dump_tensor *t)
{
    const struct map_axes *axes = &m->array[w->role].axes;

    return n == 1 && !p->positions && p->rows == t->dim[2] && p->cols == t->dim[3] && p->col0 == 0 && axes->rank >= 2 &&
           axes->axis[MAP_ROWS] == axes->rank - 2 && axes->axis[MAP_COLS] == axes->rank - 1 &&
           (axes->axis[MAP_HEADS] == SIZE_MAX || axes->axis[MAP_HEADS] + 3 == axes->rank);
}

static enum status map_place(struct dump_reader *r, const char *name, size_t sample, struct dump_place *ret,
                             struct error *err)
{
    struct dump_map *m = self(r);
    const struct map_axes *axes;
    const struct map_piece *p;
    struct dump_tensor t;
    uint64_t first = 0;
    struct where w;
    size_t n = 0, i;

    if (!find_where(m, name, &w))
        return m->inner->format->place(m->inner, name, sample, ret, err);
    ret->fd = -1;
    TRY(dump_map_tensor(m, w.role, w.layer, &t, err));
    p = dump_map_pieces(m, w.role, w.layer, sample, &n);
    if (!p || !is_plain(m, &w, p, n, &t))
        return OK;
    TRY(m->inner->format->locate(m->inner, p->name, ret, err));
    axes = &m->array[w.role].axes;
    if (axes->axis[MAP_HEADS] == SIZE_MAX)
        ret->chunks = NULL;
    ret->n_lead = axes->rank < 3 ? 0 : axes->rank - 3;
    for (i = 0; i < axes->rank; i++) {
        size_t at = 0;

        if (i == axes->axis[MAP_SAMPLES] && !name_pattern_has(&m->array[w.role].pattern, HOLE_SAMPLE))
            at = sample;
        if (i == axes->axis[MAP_LAYERS])
            at = dump_map_stacked_index(m, w.layer);
        if (i < ret->n_lead)
            ret->lead[i] = at;
        first = first * p->shape.dim[i] + at;
    }
    ret->offset += first * p->shape.element;
    return OK;
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
    .place = map_place,
};

/* A map without names, over a file that says no layout itself: steps of a generation go by their natural names. */
static enum status take_natural_names(struct dump_map *m, struct error *err)
{
    struct name_pattern_value v[N_NAME_HOLES];
    AUTO(arena) arena = {0};
    struct name_pattern p;
    char **names = NULL, *text = NULL;
    bool found = false;
    size_t n = 0, i;

    TRY(m->inner->format->attr_text(m->inner, "", "format", &arena, &found, &text, err));
    if (found || dump_map_names_tensors(m) || !name_pattern_parse(step_names, &p))
        return OK;
    TRY(m->inner->format->names(m->inner, &arena, &names, &n, err));
    for (i = 0; i < n; i++) {
        if (!name_pattern_match(&p, names[i], v))
            continue;
        m->array[MAP_WEIGHTS].pattern = p;
        break;
    }
    return OK;
}

static enum status read_map(struct dump_map *m, const char *name, const char *text, struct error *err)
{
    TRY(dump_map_read(m, name, text, err));
    TRY(take_natural_names(m, err));
    return dump_map_names_tensors(m) ? dump_map_find(m, err) : OK;
}

enum status dump_map_open(const char *name, const char *text, struct dump_reader *inner, struct dump_reader **ret,
                          struct error *err)
{
    struct dump_map *m = NULL;
    enum status st = mem_new(1, sizeof *m, &m, err);

    if (st != OK) {
        inner->format->free(inner);
        return st;
    }
    m->base.format = &map_format;
    m->base.path = inner->path;
    m->inner = inner;
    st = read_map(m, name, text, err);
    if (st != OK) {
        map_free(&m->base);
        return st;
    }
    *ret = &m->base;
    return OK;
}

void dump_map_limit_memory(struct dump_reader *r, size_t bytes)
{
    self(r)->inner->memory = bytes;
}

const struct dump_map *dump_map_of(const struct dump_reader *r)
{
    return r->format == &map_format ? (const struct dump_map *)(const void *)r : NULL;
}
