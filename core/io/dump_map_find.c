#include "core/io/dump_map_find.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_map_join.h"
#include "core/io/dump_map_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYER = 999999 };

/* All arrays of the file, and what stands there as None. */
struct listing {
    char **names;
    size_t n, n_none;
    char none[120]; /* the first of them */
};

size_t dump_map_along(const struct map_axes *axes, const struct dump_shape *shape, enum map_axis axis)
{
    return axes->axis[axis] == SIZE_MAX ? 1 : shape->dim[axes->axis[axis]];
}

static int by_place(const void *a, const void *b)
{
    const struct map_piece *x = a, *y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static bool number_of(struct name_pattern_value v, int64_t *ret)
{
    char digits[20];

    if (v.len >= sizeof digits)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)v.len, v.text ? v.text : "");
    *ret = 0;
    return v.len == 0 || (num_i64(digits, ret) && *ret <= MAX_LAYER);
}

/* Index of a sample's name, which is added where it is new. */
static enum status sample_of(struct dump_map *m, struct name_pattern_value v, size_t *ret, struct error *err)
{
    size_t i;

    *ret = 0;
    if (v.len == 0)
        return OK;
    for (i = 0; i < m->n_sample_names; i++)
        if (strlen(m->sample_names[i]) == v.len && strncmp(m->sample_names[i], v.text, v.len) == 0)
            break;
    *ret = i;
    if (i < m->n_sample_names)
        return OK;
    if (m->is_collected)
        return dump_map_ask(m, err,
                            "a {sample} has no weights, scores or queries: use {sample} in all names, or in none");
    TRY(arena_strndup(&m->arena, v.text, v.len, &m->sample_names[i], err));
    m->n_sample_names++;
    return OK;
}

static int by_length_and_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    size_t n = strlen(*x), k = strlen(*y);
    bool are_digits = strspn(*x, "0123456789") == n && strspn(*y, "0123456789") == k;

    if (are_digits && n != k)
        return n < k ? -1 : 1;
    return strcmp(*x, *y);
}

/* Names of samples in their order, numbers by value, before any array is given to one. */
static enum status collect_samples(struct dump_map *m, const struct name_pattern *p, const struct listing *list,
                                   struct error *err)
{
    struct name_pattern_value v[N_NAME_HOLES];
    size_t ignored, i;

    for (i = 0; i < list->n; i++)
        if (name_pattern_match(p, list->names[i], v))
            TRY(sample_of(m, v[HOLE_SAMPLE], &ignored, err));
    qsort(m->sample_names, m->n_sample_names, sizeof *m->sample_names, by_length_and_text);
    return OK;
}

static enum status bad_rank(const struct dump_map *m, const struct map_array *a, const struct map_piece *p,
                            struct error *err)
{
    char why[420];

    snprintf(why, sizeof why,
             "'%.100s' has %zu dimensions, and \"axes\" speaks of %zu: say which dimension is which, as in "
             "\"samples,%sheads,rows,cols\"",
             p->name, p->shape.rank, a->axes.rank, m->is_stacked ? "layers," : "");
    return dump_map_ask(m, err, why);
}

/* Takes the shape of a piece; *ret_is_none where there is nothing in it. */
static enum status measure(struct dump_map *m, const struct map_array *a, struct map_piece *p, bool *ret_is_none,
                           struct error *err)
{
    TRY(m->inner->format->shape(m->inner, p->name, &p->shape, err));
    *ret_is_none = p->shape.is_none;
    if (p->shape.is_none)
        return OK;
    if (p->shape.rank != a->axes.rank)
        return bad_rank(m, a, p, err);
    p->heads = dump_map_along(&a->axes, &p->shape, MAP_HEADS);
    p->rows = dump_map_along(&a->axes, &p->shape, MAP_ROWS);
    p->cols = dump_map_along(&a->axes, &p->shape, MAP_COLS);
    return OK;
}

static enum status add_piece(struct dump_map *m, struct map_array *a, const char *name,
                             const struct name_pattern_value v[N_NAME_HOLES], struct listing *list, struct error *err)
{
    struct map_piece *p = &a->pieces[a->n];
    bool is_none = false;
    char why[300];

    if (!number_of(v[HOLE_LAYER], &p->layer) || !number_of(v[HOLE_STEP], &p->step)) {
        snprintf(why, sizeof why, "'%.160s' has a number over %d", name, (int)MAX_LAYER);
        return dump_map_ask(m, err, why);
    }
    TRY(sample_of(m, v[HOLE_SAMPLE], &p->sample, err));
    TRY(arena_strdup(&m->arena, name, &p->name, err));
    if (a != &m->array[MAP_POSITIONS])
        TRY(measure(m, a, p, &is_none, err));
    if (!is_none) {
        a->n++;
        return OK;
    }
    if (list->n_none++ == 0)
        snprintf(list->none, sizeof list->none, "%.119s", name);
    memset(p, 0, sizeof *p);
    return OK;
}

/* What the file holds, for somebody who named something else. */
static enum status ask_for_name(const struct dump_map *m, const struct map_array *a, const struct listing *list,
                                struct error *err)
{
    char why[600], held[360] = "nothing";
    size_t at = 0, i;

    for (i = 0; i < list->n && i < 3; i++)
        at += (size_t)snprintf(held + at, sizeof held - at, "%s'%.90s'", i ? ", " : "", list->names[i]);
    snprintf(why, sizeof why, "no array is named '%.100s'%s; the file holds %s%s", a->pattern.text,
             a->pattern.n_holes ? " with numbers for its holes" : "", held, list->n > 3 ? ", …" : "");
    return dump_map_ask(m, err, why);
}

static enum status find_pieces(struct dump_map *m, struct map_array *a, struct listing *list, struct error *err)
{
    struct name_pattern_value v[N_NAME_HOLES];
    char why[400];
    size_t i;

    if (!a->pattern.text)
        return OK;
    TRY(arena_new(&m->arena, a->pattern.n_holes ? list->n : 1, sizeof *a->pieces, &a->pieces, err));
    memset(v, 0, sizeof v);
    if (a->pattern.n_holes == 0)
        return m->inner->format->has(m->inner, a->pattern.text) ? add_piece(m, a, a->pattern.text, v, list, err)
                                                                : ask_for_name(m, a, list, err);
    for (i = 0; i < list->n; i++)
        if (name_pattern_match(&a->pattern, list->names[i], v))
            TRY(add_piece(m, a, list->names[i], v, list, err));
    if (a->n == 0)
        return ask_for_name(m, a, list, err);
    qsort(a->pieces, a->n, sizeof *a->pieces, by_place);
    for (i = 1; i < a->n; i++) {
        if (by_place(&a->pieces[i - 1], &a->pieces[i]) != 0)
            continue;
        snprintf(why, sizeof why, "'%.150s' and '%.150s' are the same layer, sample and step", a->pieces[i - 1].name,
                 a->pieces[i].name);
        return dump_map_ask(m, err, why);
    }
    return OK;
}

/* The role that every layer has. */
static enum map_role first_role(const struct dump_map *m)
{
    return m->array[MAP_WEIGHTS].pattern.text ? MAP_WEIGHTS : m->array[MAP_LOGITS].pattern.text ? MAP_LOGITS : MAP_Q;
}

/* Numbers along the stacked axis, the one of a single layer, or those that stand in names. */
static enum status find_layers(struct dump_map *m, struct error *err)
{
    const struct map_array *a = &m->array[first_role(m)];
    struct json_at top = json_top(&m->doc);
    int64_t first = 0;
    size_t i, n = a->n;

    TRY(json_i64_or(&top, "layer", 0, MAX_LAYER, 0, &first, err));
    if (!name_pattern_has(&a->pattern, HOLE_LAYER))
        n = a->n ? dump_map_along(&a->axes, &a->pieces[0].shape, MAP_LAYERS) : 0;
    if (n == 0)
        return dump_map_ask(m, err, "there are no layers");
    if (n > MAX_LAYER && !name_pattern_has(&a->pattern, HOLE_LAYER))
        return dump_map_ask(m, err, "more than 999999 layers; check \"axes\"");
    TRY(arena_new(&m->arena, n, sizeof *m->layers, &m->layers, err));
    for (i = 0; i < n; i++) {
        int64_t number = first + (int64_t)i;

        if (name_pattern_has(&a->pattern, HOLE_LAYER)) {
            if (i > 0 && a->pieces[i].layer == a->pieces[i - 1].layer)
                continue;
            number = a->pieces[i].layer;
        }
        TRY(arena_printf(&m->arena, &m->layers[m->n_layers++], err, "%lld", (long long)number));
    }
    return OK;
}

const struct map_piece *dump_map_pieces(const struct dump_map *m, enum map_role role, const char *layer, size_t sample,
                                        size_t *ret_n)
{
    const struct map_array *a = &m->array[role];
    struct map_piece key = {.step = -1};
    size_t first = 0, last = a->n;
    int64_t number = 0;

    *ret_n = 0;
    if (name_pattern_has(&a->pattern, HOLE_LAYER) && !num_i64(layer, &number))
        return NULL;
    if (!name_pattern_has(&a->pattern, HOLE_SAMPLE))
        sample = 0;
    key.layer = number;
    key.sample = sample;
    while (first < last) { /* the first that does not come before the key */
        size_t middle = first + (last - first) / 2;

        if (by_place(&a->pieces[middle], &key) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    for (last = first; last < a->n && a->pieces[last].layer == number && a->pieces[last].sample == sample;)
        last++;
    *ret_n = last - first;
    return last > first ? &a->pieces[first] : NULL;
}

/* Makes room in `t` for a piece. */
static void take_in(struct dump_tensor *t, const struct map_piece *p)
{
    size_t rows = p->row0 + p->rows, cols = p->col0 + p->cols;

    t->dtype = p->shape.dtype;
    t->is_opaque = p->shape.is_opaque;
    t->element = p->shape.element;
    t->dim[1] = p->heads;
    t->dim[2] = t->dim[2] > rows ? t->dim[2] : rows;
    t->dim[3] = t->dim[3] > cols ? t->dim[3] : cols;
}

/* The same of all pieces of one sample. */
static enum status take_in_sample(const struct dump_map *m, enum map_role role, const char *layer, size_t sample,
                                  struct dump_tensor *t, struct error *err)
{
    const struct map_array *a = &m->array[role];
    bool is_named = name_pattern_has(&a->pattern, HOLE_SAMPLE) && m->n_sample_names > 1;
    size_t i, n = 0;
    const struct map_piece *p = dump_map_pieces(m, role, layer, sample, &n);
    char why[300];

    if (!p) {
        snprintf(why, sizeof why, "'%.120s' has nothing for layer %.20s%s%.60s", a->pattern.text, layer,
                 is_named ? " of sample " : "", is_named ? m->sample_names[sample] : "");
        return dump_map_ask(m, err, why);
    }
    for (i = 0; i < n; i++) {
        if (t->dim[1] > 0 && (p[i].shape.dtype != t->dtype || p[i].heads != t->dim[1])) {
            snprintf(why, sizeof why, "'%.120s' has another type or other heads than '%.80s'", p[i].name,
                     a->pieces[0].name);
            return dump_map_ask(m, err, why);
        }
        take_in(t, &p[i]);
    }
    if (!name_pattern_has(&a->pattern, HOLE_SAMPLE))
        t->dim[0] = dump_map_along(&a->axes, &p[n - 1].shape, MAP_SAMPLES);
    return OK;
}

enum status dump_map_tensor(const struct dump_map *m, enum map_role role, const char *layer, struct dump_tensor *ret,
                            struct error *err)
{
    const struct map_array *a = &m->array[role];
    bool is_named = name_pattern_has(&a->pattern, HOLE_SAMPLE);
    size_t n_names = is_named ? m->n_sample_names : 1, s;
    struct dump_tensor t = {.dtype = N_DTYPES, .dim = {n_names, 0, 0, 0}};

    for (s = 0; s < n_names; s++)
        TRY(take_in_sample(m, role, layer, s, &t, err));
    *ret = t;
    return OK;
}

/* How many samples, rows and keys there are. */
static enum status find_sizes(struct dump_map *m, struct error *err)
{
    enum map_role role = first_role(m), keys = role == MAP_Q ? MAP_K : role;
    const struct map_array *a = &m->array[role];
    struct dump_tensor t = {.dtype = N_DTYPES};
    size_t s, n = 0;

    TRY(dump_map_tensor(m, role, m->layers[0], &t, err));
    m->n_samples = t.dim[0];
    m->n_rows = t.dim[2];
    m->n_cols = t.dim[3];
    if (role == MAP_Q) {
        TRY(dump_map_tensor(m, MAP_K, m->layers[0], &t, err));
        m->n_cols = t.dim[2];
    }
    if (!name_pattern_has(&a->pattern, HOLE_SAMPLE) && !name_pattern_has(&a->pattern, HOLE_STEP))
        return OK;
    TRY(arena_new(&m->arena, m->n_samples, sizeof *m->keys, &m->keys, err));
    TRY(arena_new(&m->arena, m->n_samples, sizeof *m->starts, &m->starts, err));
    for (s = 0; s < m->n_samples; s++) {
        const struct map_piece *p = dump_map_pieces(m, role, m->layers[0], s, &n);
        size_t rows = n ? p[n - 1].row0 + p[n - 1].rows : 0, cols = m->n_cols;
        const struct map_piece *k = dump_map_pieces(m, keys, m->layers[0], s, &n);

        if (k)
            cols = keys == MAP_K ? k[n - 1].row0 + k[n - 1].rows : k[n - 1].col0 + k[n - 1].cols;
        m->keys[s] = (int64_t)cols;
        m->starts[s] = cols > rows ? (int64_t)(cols - rows) : 0;
    }
    return OK;
}

static enum status note_none(struct dump_map *m, const struct listing *list, struct error *err)
{
    if (list->n_none == 0)
        return OK;
    return arena_printf(&m->arena, &m->notes[m->n_notes++], err,
                        "'%s': %zu arrays hold nothing (None), the first is '%s': their layers are left out",
                        m->base.path, list->n_none, list->none);
}

enum status dump_map_find(struct dump_map *m, struct error *err)
{
    struct listing list = {0};
    size_t role;

    TRY(m->inner->format->names(m->inner, &m->arena, &list.names, &list.n, err));
    TRY(arena_new(&m->arena, list.n + 1, sizeof *m->sample_names, &m->sample_names, err));
    if (name_pattern_has(&m->array[first_role(m)].pattern, HOLE_SAMPLE))
        TRY(collect_samples(m, &m->array[first_role(m)].pattern, &list, err));
    m->is_collected = true;
    for (role = 0; role < N_MAP_ROLES; role++)
        TRY(find_pieces(m, &m->array[role], &list, err));
    TRY(find_layers(m, err));
    TRY(dump_map_join(m, err));
    TRY(find_sizes(m, err));
    return note_none(m, &list, err);
}
