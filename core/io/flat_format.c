#include "core/io/flat_format.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_dtype.h"
#include "core/io/flat_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name of this container: "layers.005.q". */
struct dotted {
    char text[192];
};

static struct flat *self(struct dump_reader *r)
{
    return (struct flat *)(void *)r;
}

/* "layers/005" and "window" to "layers.005.window"; either may be "". */
static struct dotted dot(const char *object, const char *last)
{
    struct dotted name;
    char *p;

    snprintf(name.text, sizeof name.text, "%s%s%s", object, object[0] && last[0] ? "." : "", last);
    for (p = name.text; *p; p++)
        if (*p == '/')
            *p = '.';
    return name;
}

bool flat_has(struct dump_reader *r, const char *name)
{
    return flat_find(self(r), name) || flat_find(self(r), dot(name, "").text);
}

/* Arrays are sorted, so that those of a layer stand together. */
enum status flat_layer_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    const struct flat *f = self(r);
    char **names = NULL;
    size_t n = 0, i;

    TRY(arena_new(arena, f->n_arrays, sizeof *names, &names, err));
    for (i = 0; i < f->n_arrays; i++) {
        const char *name = f->arrays[i].name;
        size_t len;

        if (strncmp(name, "layers.", 7) != 0)
            continue;
        name += 7;
        len = strcspn(name, ".");
        if (n > 0 && strlen(names[n - 1]) == len && strncmp(names[n - 1], name, len) == 0)
            continue;
        TRY(arena_strndup(arena, name, len, &names[n], err));
        n++;
    }
    *ret = names;
    *ret_n = n;
    return OK;
}

static json_t *find_attr(const struct flat *f, const char *name)
{
    json_t *value = json_object_get(f->attrs.root, name);

    return json_is_null(value) ? NULL : value;
}

static enum status bad_attr(const struct flat *f, const char *name, struct error *err, const char *wanted)
{
    const json_t *value = find_attr(f, name);

    return flat_bad(f, name, err, "the attribute in %s must be %s%s%.40s%s", f->attr_in, wanted,
                    json_is_string(value) ? ", not '" : "", json_is_string(value) ? json_string_value(value) : "",
                    json_is_string(value) ? "'" : "");
}

enum status flat_attr_text(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                           bool *ret_found, char **ret, struct error *err)
{
    struct dotted name = dot(object, attr);
    json_t *value = find_attr(self(r), name.text);

    *ret_found = value != NULL;
    if (!value)
        return OK;
    if (!json_is_string(value))
        return bad_attr(self(r), name.text, err, "a text");
    return arena_strdup(arena, json_string_value(value), ret, err);
}

/* Writers in Python make "True" of a truth value. */
static bool text_i64(const char *text, int64_t *ret)
{
    static const struct {
        const char *text;
        int64_t value;
    } words[] = {{"True", 1}, {"true", 1}, {"False", 0}, {"false", 0}};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].text) != 0)
            continue;
        *ret = words[i].value;
        return true;
    }
    return num_i64(text, ret);
}

enum status flat_attr_i64(struct dump_reader *r, const char *object, const char *attr, bool *ret_found, int64_t *ret,
                          struct error *err)
{
    struct dotted name = dot(object, attr);
    json_t *value = find_attr(self(r), name.text);

    *ret_found = value != NULL;
    if (!value)
        return OK;
    if (json_is_boolean(value))
        *ret = json_is_true(value);
    else if (json_is_integer(value))
        *ret = json_integer_value(value);
    else if (!json_is_string(value) || !text_i64(json_string_value(value), ret))
        return bad_attr(self(r), name.text, err, "a whole number");
    return OK;
}

enum status flat_attr_double(struct dump_reader *r, const char *object, const char *attr, bool *ret_found, double *ret,
                             struct error *err)
{
    struct dotted name = dot(object, attr);
    json_t *value = find_attr(self(r), name.text);

    *ret_found = value != NULL;
    if (!value)
        return OK;
    if (json_is_number(value))
        *ret = json_number_value(value);
    else if (!json_is_string(value) || !num_double(json_string_value(value), ret))
        return bad_attr(self(r), name.text, err, "a number");
    return OK;
}

/* The array, if it is there and has `rank` dimensions; else not_there() says what is wrong. */
static const struct flat_array *find(const struct flat *f, const char *name, size_t rank)
{
    const struct flat_array *a = flat_find(f, dot(name, "").text);

    return a && a->rank == rank ? a : NULL;
}

static enum status not_there(const struct flat *f, const char *name, size_t rank, struct error *err)
{
    struct dotted dotted = dot(name, "");
    const struct flat_array *a = flat_find(f, dotted.text);

    if (a)
        return flat_bad(f, a->name, err, "expected %zu dimensions, found %zu", rank, a->rank);
    return flat_bad(f, dotted.text, err, "no array of that name");
}

enum status flat_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                       size_t *ret_n, struct error *err)
{
    struct dotted dotted = dot(name, "");
    json_t *list = find_attr(self(r), dotted.text);
    const struct flat_array *a = find(self(r), name, 1);

    if (list)
        return flat_texts_of_json(self(r), dotted.text, list, max, arena, ret, ret_n, err);
    if (!flat_find(self(r), dotted.text))
        return flat_bad(self(r), dotted.text, err,
                        "no such list of texts; put a JSON list, [\"first\", \"second\"], into %s", self(r)->attr_in);
    if (!a)
        return not_there(self(r), name, 1, err);
    return flat_texts_of_array(self(r), a, max, arena, ret, ret_n, err);
}

static int64_t widen(const struct flat_array *a, const unsigned char *p)
{
    uint64_t bits = 0;

    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        memcpy(&bits, p, a->element);
    else
        memcpy((unsigned char *)&bits + sizeof bits - a->element, p, a->element);
    if (a->is_signed && a->element < sizeof bits && bits >> (8 * a->element - 1))
        bits |= ~(uint64_t)0 << (8 * a->element);
    return (int64_t)bits;
}

static enum status read_integers(struct flat *f, const struct flat_array *a, size_t first, size_t n, int64_t *ret,
                                 struct error *err)
{
    unsigned char *values = NULL;
    enum status st;
    size_t i;

    if (a->kind != FLAT_INTEGER)
        return flat_bad(f, a->name, err, "elements must be whole numbers, not of type '%.20s'", a->type);
    TRY(mem_new(n, a->element, &values, err));
    st = flat_read(f, a, first, n, values, err);
    for (i = 0; st == OK && i < n; i++) {
        ret[i] = widen(a, values + i * a->element);
        if (ret[i] < 0 && !a->is_signed)
            st = flat_bad(f, a->name, err, "element %zu does not fit 63 bits", first + i);
    }
    free(values);
    return st;
}

enum status flat_integers(struct dump_reader *r, const char *name, size_t max, struct arena *arena, int64_t **ret,
                          size_t *ret_n, struct error *err)
{
    const struct flat_array *a = find(self(r), name, 1);
    int64_t *values = NULL;

    if (!a)
        return not_there(self(r), name, 1, err);
    if (a->n > max)
        return flat_bad(self(r), a->name, err, "%zu elements, %zu are the limit", a->n, max);
    TRY(arena_new(arena, a->n, sizeof *values, &values, err));
    TRY(read_integers(self(r), a, 0, a->n, values, err));
    *ret = values;
    *ret_n = a->n;
    return OK;
}

enum status flat_table(struct dump_reader *r, const char *name, size_t *ret_rows, size_t *ret_cols, struct error *err)
{
    const struct flat_array *a = find(self(r), name, 2);

    if (!a)
        return not_there(self(r), name, 2, err);
    if (a->kind != FLAT_INTEGER)
        return flat_bad(self(r), a->name, err, "elements must be whole numbers, not of type '%.20s'", a->type);
    *ret_rows = a->dim[0];
    *ret_cols = a->dim[1];
    return OK;
}

enum status flat_table_row(struct dump_reader *r, const char *name, size_t row, size_t n_cols, int64_t *ret,
                           struct error *err)
{
    const struct flat_array *a = find(self(r), name, 2);
    size_t i;

    if (!a)
        return not_there(self(r), name, 2, err);
    if (row >= a->dim[0] || n_cols != a->dim[1])
        return error_set(err, ERR_INTERNAL, "row %zu of '%s' does not exist", row, a->name);
    if (!a->is_fortran)
        return read_integers(self(r), a, row * n_cols, n_cols, ret, err);
    for (i = 0; i < n_cols; i++)
        TRY(read_integers(self(r), a, i * a->dim[0] + row, 1, &ret[i], err));
    return OK;
}

/* What an attribute says of the elements: that of the array, its layer or the file; N_DTYPES where none does. */
static enum status said_dtype(struct flat *f, const struct flat_array *a, enum dtype *ret, struct error *err)
{
    size_t layer_len = strlen(a->name) - strlen(strrchr(a->name, '.') ? strrchr(a->name, '.') : "");
    struct dotted places[4];
    size_t i;

    places[0] = dot(a->name, "logical_dtype");
    snprintf(places[1].text, sizeof places[1].text, "%.*s.logical_dtype", (int)layer_len, a->name);
    places[2] = dot("", "logical_dtype");
    places[3] = dot("", "store_dtype");
    *ret = N_DTYPES;
    for (i = 0; i < 4; i++) {
        json_t *value = find_attr(f, places[i].text);

        if (!value || (i == 3 && a->kind == FLAT_FLOAT))
            continue;
        if (!json_is_string(value) || !dump_dtype_named(json_string_value(value), ret))
            return bad_attr(f, places[i].text, err, "\"bfloat16\", \"float16\" or \"float32\"");
        return OK;
    }
    return OK;
}

static enum status find_dtype(struct flat *f, const struct flat_array *a, enum dtype *ret, struct error *err)
{
    enum dtype said = N_DTYPES;

    TRY(said_dtype(f, a, &said, err));
    if (a->kind == FLAT_FLOAT) {
        if (said != N_DTYPES && !dump_dtype_fits(a->dtype, said))
            return flat_bad(f, a->name, err, "stored as %s, but 'logical_dtype' says '%s'", dtype_name(a->dtype),
                            dtype_name(said));
        *ret = a->dtype;
        return OK;
    }
    if (a->kind == FLAT_OBJECT)
        return flat_bad(f, a->name, err,
                        "the array holds Python objects, which would have to be unpickled; store plain numbers, arrays "
                        "of unequal shape under a name each");
    if (a->element > 2 || (a->kind != FLAT_INTEGER && a->kind != FLAT_OPAQUE))
        return flat_bad(f, a->name, err,
                        "holds elements of type '%.20s'; store float16, bfloat16, float32 or float64, or bfloat16 as "
                        "uint16 with the attribute logical_dtype = \"bfloat16\"",
                        a->type);
    if (said != N_DTYPES && dtype_bytes(said) != a->element)
        return flat_bad(f, a->name, err, "stored in %zu bytes ('%.20s'), but the attributes say '%s'", a->element,
                        a->type, dtype_name(said));
    if (said == N_DTYPES && a->element == 1 && a->kind == FLAT_INTEGER)
        said = a->is_signed ? DTYPE_I8 : DTYPE_U8;
    *ret = said;
    return OK;
}

enum status flat_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    const struct flat *f = self(r);
    char **names = NULL;
    size_t i;

    TRY(arena_new(arena, f->n_arrays, sizeof *names, &names, err));
    for (i = 0; i < f->n_arrays; i++)
        TRY(arena_strdup(arena, f->arrays[i].name, &names[i], err));
    *ret = names;
    *ret_n = f->n_arrays;
    return OK;
}

/* By the container's own name, or by that of the layout with dots for slashes. */
static const struct flat_array *find_any(const struct flat *f, const char *name)
{
    const struct flat_array *a = flat_find(f, name);

    return a ? a : flat_find(f, dot(name, "").text);
}

enum status flat_shape(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err)
{
    const struct flat_array *a = find_any(self(r), name);

    memset(ret, 0, sizeof *ret);
    if (!a)
        return flat_bad(self(r), dot(name, "").text, err, "no array of that name");
    ret->is_none = a->kind == FLAT_OBJECT && a->rank == 0;
    if (ret->is_none)
        return OK;
    if (a->rank > DUMP_MAX_RANK)
        return flat_bad(self(r), name, err, "%zu dimensions, %d are the limit", a->rank, (int)DUMP_MAX_RANK);
    TRY(find_dtype(self(r), a, &ret->dtype, err));
    ret->is_opaque = a->kind == FLAT_OPAQUE;
    ret->element = a->element;
    ret->rank = a->rank;
    memcpy(ret->dim, a->dim, sizeof ret->dim);
    return OK;
}

enum status flat_slab(struct dump_reader *r, const char *name, const size_t *start, const size_t *count, void *ret,
                      struct error *err)
{
    const struct flat_array *a = find_any(self(r), name);
    struct dump_shape shape;
    size_t n = 0;

    TRY(flat_shape(r, name, &shape, err));
    if (!a || !dump_reader_is_part(&shape, start, count, &n))
        return error_set(err, ERR_INTERNAL, "no such part of '%s'", name);
    return flat_part(self(r), a, start, count, ret, err);
}

enum status flat_locate(struct dump_reader *r, const char *name, struct dump_place *ret, struct error *err)
{
    const struct flat_array *a = find_any(self(r), name);

    if (!a)
        return flat_bad(self(r), dot(name, "").text, err, "no array of that name");
    ret->fd = -1;
    if (a->is_swapped || a->is_fortran)
        return OK;
    TRY(self(r)->source(self(r), a, &ret->fd, err));
    ret->offset = a->offset;
    return OK;
}
