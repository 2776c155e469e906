#include "core/io/dump_map_join.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/io/dump_map_find.h"
#include "core/io/dump_map_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pieces of one layer and sample. */
struct run_of {
    struct map_piece *p;
    size_t n;
};

static enum status bad_piece(const struct dump_map *m, const struct map_piece *p, struct error *err, const char *what)
{
    char why[560];

    snprintf(why, sizeof why, "'%.120s' %s", p->name, what);
    return dump_map_ask(m, err, why);
}

static bool is_said(const struct dump_map *m, const char *key, const char *word)
{
    const char *text = json_string_value(dump_map_said(m, key));

    return text && strcmp(text, word) == 0;
}

/* Rows one below the other; steps are counted without a gap. */
static enum status stack_rows(const struct dump_map *m, struct run_of r, struct error *err)
{
    char what[120];
    size_t i;

    for (i = 1; i < r.n; i++) {
        if (r.p[i].step != r.p[i - 1].step + 1) {
            snprintf(what, sizeof what, "is step %lld, but the one before it is %lld: steps are missing",
                     (long long)r.p[i].step, (long long)r.p[i - 1].step);
            return bad_piece(m, &r.p[i], err, what);
        }
        if (!size_add(r.p[i - 1].row0, r.p[i - 1].rows, &r.p[i].row0))
            return bad_piece(m, &r.p[i], err, "has too many rows");
    }
    return OK;
}

/* All steps have the columns of a cache that was made for the longest text. */
static bool is_static(struct run_of r)
{
    size_t i;

    for (i = 1; i < r.n; i++)
        if (r.p[i].cols != r.p[0].cols)
            return false;
    return r.n > 1 && r.p[r.n - 1].row0 + r.p[r.n - 1].rows <= r.p[0].cols;
}

/* Columns of a cache that keeps the last keys only: in their order, unless positions say another one. */
static enum status place_window(struct dump_map *m, struct map_piece *p, size_t n_keys, struct error *err)
{
    char what[420];

    if (is_said(m, "cache", "rolling")) {
        p->col0 = n_keys - p->cols;
        return OK;
    }
    snprintf(
        what, sizeof what,
        "has %zu columns where %zu keys were seen: its cache keeps the last ones. Say \"cache\": \"rolling\" where "
        "they stand oldest first; where it is a ring, name the arrays of their positions in \"positions\"",
        p->cols, n_keys);
    return bad_piece(m, p, err, what);
}

static enum status place_columns(struct dump_map *m, struct run_of r, struct error *err)
{
    size_t before, i;
    char what[200];

    if (is_static(r) || r.p[0].positions)
        return OK;
    if (r.p[0].cols < r.p[0].rows)
        return r.n == 1 ? OK : bad_piece(m, &r.p[0], err, "has more rows than columns");
    before = r.n == 1 ? 0 : r.p[0].cols - r.p[0].rows;
    for (i = 0; i < r.n && r.n > 1; i++) {
        size_t n_keys = before + r.p[i].row0 + r.p[i].rows;

        if (r.p[i].cols == n_keys)
            continue;
        if (r.p[i].cols > n_keys) {
            snprintf(what, sizeof what, "has %zu columns, but %zu rows up to it: a step continues the one before it",
                     r.p[i].cols, n_keys);
            return bad_piece(m, &r.p[i], err, what);
        }
        TRY(place_window(m, &r.p[i], n_keys, err));
    }
    return OK;
}

/* Keys of a step are those that it adds, or all up to it: then the last step has them all. */
static enum status join_keys(struct dump_map *m, struct run_of k, struct run_of q, struct error *err)
{
    size_t i;

    if (k.n <= 1)
        return OK;
    if (k.n != q.n)
        return bad_piece(m, &k.p[0], err, "and the queries have another number of steps");
    if (k.p[1].rows == q.p[1].rows)
        return stack_rows(m, k, err);
    for (i = 1; i < k.n; i++)
        if (k.p[i].rows != k.p[i - 1].rows + q.p[i].rows)
            return bad_piece(m, &k.p[i], err, "holds neither the keys of its step alone nor all up to it");
    for (i = 0; i + 1 < k.n; i++)
        k.p[i].rows = 0;
    return OK;
}

/* Calls what joins a role for each layer and sample. */
static enum status join_role(struct dump_map *m, enum map_role role, struct error *err)
{
    struct map_array *a = &m->array[role];
    size_t from = 0, to, n_q = 0;

    for (; from < a->n; from = to) {
        struct run_of r = {&a->pieces[from], 0}, q = {0};
        char layer[24];

        for (to = from + 1; to < a->n && a->pieces[to].layer == r.p->layer && a->pieces[to].sample == r.p->sample;)
            to++;
        r.n = to - from;
        if (role == MAP_K) {
            snprintf(layer, sizeof layer, "%lld", (long long)r.p->layer);
            q.p = (struct map_piece *)dump_map_pieces(m, MAP_Q, layer, r.p->sample, &n_q);
            q.n = n_q;
            TRY(join_keys(m, r, q, err));
            continue;
        }
        TRY(stack_rows(m, r, err));
        if (role == MAP_WEIGHTS || role == MAP_LOGITS)
            TRY(place_columns(m, r, err));
    }
    return OK;
}

static enum status read_positions(struct dump_map *m, struct map_piece *p, const struct map_piece *from,
                                  struct error *err)
{
    int64_t *values = NULL, most = -1;
    size_t n = 0, i;
    char what[200];

    TRY(m->inner->format->integers(m->inner, from->name, p->cols, &m->arena, &values, &n, err));
    for (i = 0; i < n; i++) {
        most = values[i] > most ? values[i] : most;
        if (values[i] < -1 || values[i] > INT32_MAX)
            return bad_piece(m, from, err, "holds a position that is no key's index; -1 stands for none");
    }
    if (n != p->cols || most < 0) {
        snprintf(what, sizeof what, "has %zu positions for the %zu columns of '%.80s'", n, p->cols, p->name);
        return bad_piece(m, from, err, what);
    }
    p->positions = values;
    return OK;
}

static enum status find_positions(struct dump_map *m, struct map_array *a, struct error *err)
{
    size_t i, j, n = 0;

    for (i = 0; i < a->n && m->array[MAP_POSITIONS].pattern.text; i++) {
        struct map_piece *p = &a->pieces[i];
        const struct map_piece *from;
        char layer[24];

        snprintf(layer, sizeof layer, "%lld", (long long)p->layer);
        from = dump_map_pieces(m, MAP_POSITIONS, layer, p->sample, &n);
        for (j = 0; j < n && from[j].step != p->step && name_pattern_has(&m->array[MAP_POSITIONS].pattern, HOLE_STEP);)
            j++;
        if (j == n)
            return bad_piece(m, p, err, "has no array of positions");
        TRY(read_positions(m, p, &from[j], err));
    }
    return OK;
}

/* With positions a tensor is as wide as the highest of them. */
static void widen(struct map_array *a)
{
    size_t i, j;

    for (i = 0; i < a->n; i++)
        for (j = 0; a->pieces[i].positions && j < a->pieces[i].shape.dim[a->axes.axis[MAP_COLS]]; j++)
            if (a->pieces[i].positions[j] >= (int64_t)a->pieces[i].cols)
                a->pieces[i].cols = (size_t)a->pieces[i].positions[j] + 1;
}

enum status dump_map_join(struct dump_map *m, struct error *err)
{
    size_t role;

    TRY(find_positions(m, &m->array[MAP_WEIGHTS], err));
    TRY(find_positions(m, &m->array[MAP_LOGITS], err));
    for (role = 0; role < MAP_POSITIONS; role++)
        TRY(join_role(m, (enum map_role)role, err));
    widen(&m->array[MAP_WEIGHTS]);
    widen(&m->array[MAP_LOGITS]);
    return OK;
}

size_t dump_map_stacked_index(const struct dump_map *m, const char *layer)
{
    size_t i = 0;

    while (i + 1 < m->n_layers && strcmp(m->layers[i], layer) != 0)
        i++;
    return i;
}

/* Rows of a piece as they stand in the file, or turned where columns stand before rows. `scratch`: room for them. */
static enum status piece_rows(struct dump_map *m, const struct map_array *a, const struct map_piece *p,
                              const size_t at[N_MAP_AXES], size_t n_rows, unsigned char *scratch, unsigned char *ret,
                              struct error *err)
{
    size_t start[DUMP_MAX_RANK] = {0}, count[DUMP_MAX_RANK], rows_dim = a->axes.axis[MAP_ROWS], e = p->shape.element;
    size_t cols_dim = a->axes.axis[MAP_COLS], cols = dump_map_along(&a->axes, &p->shape, MAP_COLS), axis, i, j;
    bool is_turned = cols_dim != SIZE_MAX && rows_dim != SIZE_MAX && cols_dim < rows_dim;

    for (i = 0; i < DUMP_MAX_RANK; i++)
        count[i] = 1;
    for (axis = 0; axis < N_MAP_AXES; axis++)
        if (a->axes.axis[axis] != SIZE_MAX)
            start[a->axes.axis[axis]] = at[axis];
    if (rows_dim != SIZE_MAX)
        count[rows_dim] = n_rows;
    if (cols_dim != SIZE_MAX)
        count[cols_dim] = cols;
    TRY(m->inner->format->slab(m->inner, p->name, start, count, is_turned ? scratch : ret, err));
    for (i = 0; is_turned && i < n_rows; i++)
        for (j = 0; j < cols; j++)
            memcpy(ret + (i * cols + j) * e, scratch + (j * n_rows + i) * e, e);
    return OK;
}

/* -inf, its least significant byte first; *ret_n: its bytes. */
static const unsigned char *minus_infinity(enum dtype dtype, size_t *ret_n)
{
    static const unsigned char f16[] = {0x00, 0xfc}, bf16[] = {0x80, 0xff}, f32[] = {0, 0, 0x80, 0xff},
                               f64[] = {0, 0, 0, 0, 0, 0, 0xf0, 0xff};

    *ret_n = dtype == DTYPE_F64 ? 8 : dtype == DTYPE_F32 ? 4 : 2;
    if (*ret_n == 8)
        return f64;
    if (*ret_n == 4)
        return f32;
    return dtype == DTYPE_F16 ? f16 : bf16;
}

/* Weight that was not stored is none. */
static void fill_unseen(enum map_role role, enum dtype dtype, unsigned char *ret, size_t n, size_t element)
{
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    size_t bytes, i, j;
    const unsigned char *low = minus_infinity(dtype, &bytes);

    memset(ret, 0, n * element);
    if (role != MAP_LOGITS || element != bytes)
        return;
    for (i = 0; i < n; i++)
        for (j = 0; j < bytes; j++)
            ret[i * bytes + j] = low[is_little ? j : bytes - 1 - j];
}

/* Puts rows of a piece where its columns belong. */
static void scatter(const struct map_piece *p, const unsigned char *rows, size_t n_rows, size_t cols, size_t width,
                    unsigned char *ret)
{
    size_t e = p->shape.element, i, j;

    for (i = 0; i < n_rows; i++) {
        const unsigned char *from = rows + i * cols * e;
        unsigned char *to = ret + i * width * e;

        if (!p->positions)
            memcpy(to + p->col0 * e, from, cols * e);
        for (j = 0; p->positions && j < cols; j++)
            if (p->positions[j] >= 0)
                memcpy(to + (size_t)p->positions[j] * e, from + j * e, e);
    }
}

/* The part of rows [row, row + n_rows) that a piece holds. */
static enum status read_piece(struct dump_map *m, enum map_role role, const struct map_piece *p, size_t at[N_MAP_AXES],
                              size_t row, size_t n_rows, size_t width, unsigned char *ret, struct error *err)
{
    const struct map_array *a = &m->array[role];
    size_t from = row > p->row0 ? row : p->row0, cols = dump_map_along(&a->axes, &p->shape, MAP_COLS), n, bytes;
    size_t to = row + n_rows < p->row0 + p->rows ? row + n_rows : p->row0 + p->rows;
    unsigned char *rows = NULL;
    enum status st;

    if (from >= to)
        return OK;
    n = to - from;
    at[MAP_ROWS] = from - p->row0;
    ret += (from - row) * width * p->shape.element;
    if (!size_mul(n, cols, &bytes) || !size_mul(bytes, 2 * p->shape.element, &bytes))
        return error_set(err, ERR_LIMIT, "'%s': a tile of %zu rows is too large", p->name, n);
    TRY(mem_new(bytes, 1, &rows, err));
    st = piece_rows(m, a, p, at, n, rows + bytes / 2, rows, err);
    if (st == OK)
        scatter(p, rows, n, cols, width, ret);
    free(rows);
    return st;
}

enum status dump_map_join_rows(struct dump_map *m, enum map_role role, const char *layer, size_t sample, size_t head,
                               size_t row, size_t n_rows, size_t width, void *ret, struct error *err)
{
    const struct map_array *a = &m->array[role];
    size_t n = 0, i, at[N_MAP_AXES] = {0};
    const struct map_piece *p = dump_map_pieces(m, role, layer, sample, &n);

    at[MAP_SAMPLES] = name_pattern_has(&a->pattern, HOLE_SAMPLE) ? 0 : sample;
    at[MAP_LAYERS] = m->is_stacked ? dump_map_stacked_index(m, layer) : 0;
    at[MAP_HEADS] = head;
    if (!p)
        return error_set(err, ERR_INTERNAL, "no array of layer %s", layer);
    if (n == 1 && p->cols == width && p->col0 == 0 && !p->positions && row + n_rows <= p->rows) {
        at[MAP_ROWS] = row;
        if (a->axes.axis[MAP_COLS] == SIZE_MAX || a->axes.axis[MAP_ROWS] == SIZE_MAX ||
            a->axes.axis[MAP_ROWS] < a->axes.axis[MAP_COLS])
            return piece_rows(m, a, p, at, n_rows, NULL, ret, err);
    }
    fill_unseen(role, p->shape.dtype, ret, n_rows * width, p->shape.element);
    for (i = 0; i < n; i++)
        TRY(read_piece(m, role, &p[i], at, row, n_rows, width, ret, err));
    return OK;
}
