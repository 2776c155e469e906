#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/flat_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The format: 8 bytes with the length of the header, little-endian; the header, JSON that may end in spaces; the
 * values, which the header's data_offsets must cover without gap or overlap.
 * https://github.com/huggingface/safetensors#format */

/* Its authors stop at 100 MB; this describes 100,000 tensors, and parsed JSON takes up to fifty times its size. */
enum { MAX_HEADER = 16 << 20 };

static const struct {
    const char *name;
    enum flat_kind kind;
    enum dtype dtype;
    bool is_signed;
    size_t bits;
} types[] = {
    {"F64", FLAT_FLOAT, DTYPE_F64, true, 64},        {"F32", FLAT_FLOAT, DTYPE_F32, true, 32},
    {"F16", FLAT_FLOAT, DTYPE_F16, true, 16},        {"BF16", FLAT_FLOAT, DTYPE_BF16, true, 16},
    {"I64", FLAT_INTEGER, N_DTYPES, true, 64},       {"I32", FLAT_INTEGER, N_DTYPES, true, 32},
    {"I16", FLAT_INTEGER, N_DTYPES, true, 16},       {"I8", FLAT_INTEGER, N_DTYPES, true, 8},
    {"U64", FLAT_INTEGER, N_DTYPES, false, 64},      {"U32", FLAT_INTEGER, N_DTYPES, false, 32},
    {"U16", FLAT_INTEGER, N_DTYPES, false, 16},      {"U8", FLAT_INTEGER, N_DTYPES, false, 8},
    {"BOOL", FLAT_INTEGER, N_DTYPES, false, 8},      {"F8_E5M2", FLAT_FLOAT, DTYPE_F8_E5M2, true, 8},
    {"F8_E4M3", FLAT_FLOAT, DTYPE_F8_E4M3, true, 8}, {"F8_E8M0", FLAT_OTHER, N_DTYPES, false, 8},
    {"C64", FLAT_OTHER, N_DTYPES, true, 64},         {"F4", FLAT_OTHER, N_DTYPES, true, 4},
    {"F6_E2M3", FLAT_OTHER, N_DTYPES, true, 6},      {"F6_E3M2", FLAT_OTHER, N_DTYPES, true, 6},
};

static void safetensors_free(struct dump_reader *r)
{
    flat_close((struct flat *)(void *)r);
    free(r);
}

static enum status safetensors_source(struct flat *f, const struct flat_array *a, int *ret_fd, struct error *err)
{
    (void)a;
    (void)err;
    *ret_fd = f->fd;
    return OK;
}

static enum status read_header(struct flat *f, struct json *ret, struct error *err)
{
    unsigned char head[8];
    uint64_t len = 0;
    char *text = NULL;
    enum status st;
    int i;

    if (f->bytes < sizeof head)
        return error_set(err, ERR_FORMAT, "'%s': %llu bytes are too few for a safetensors file", f->path,
                         (unsigned long long)f->bytes);
    TRY(file_read_at(f->fd, f->path, 0, head, sizeof head, err));
    for (i = 7; i >= 0; i--)
        len = len << 8 | head[i];
    if (len > f->bytes - sizeof head)
        return error_set(
            err, ERR_FORMAT,
            "'%s': the header takes %llu bytes from byte 8 on, but the file has %llu; it may be truncated, "
            "copy or write it again",
            f->path, (unsigned long long)len, (unsigned long long)f->bytes);
    if (len > MAX_HEADER)
        return error_set(err, ERR_LIMIT, "'%s': a header of %llu bytes, %d are the limit", f->path,
                         (unsigned long long)len, (int)MAX_HEADER);
    TRY(mem_new((size_t)len, 1, &text, err));
    st = file_read_at(f->fd, f->path, sizeof head, text, (size_t)len, err);
    if (st == OK)
        st = json_parse(ret, f->path, text, (size_t)len, err);
    if (st != OK)
        error_context(err, "header of %llu bytes from byte 8 on", (unsigned long long)len);
    free(text);
    f->bytes -= sizeof head + len; /* what is left are the values */
    return st;
}

static enum status read_type(const struct json_at *at, struct arena *arena, struct flat_array *a, size_t *ret_bits,
                             struct error *err)
{
    const char *name = NULL;
    size_t i;

    TRY(json_get_text(at, "dtype", &name, err));
    TRY(arena_strdup(arena, name, &a->type, err));
    a->kind = FLAT_OTHER;
    *ret_bits = 0; /* not known */
    for (i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(name, types[i].name) != 0)
            continue;
        a->kind = types[i].kind;
        a->dtype = types[i].dtype;
        a->is_signed = types[i].is_signed;
        a->element = types[i].bits / 8;
        *ret_bits = types[i].bits;
    }
    a->is_swapped = a->element > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return OK;
}

/* The dimensions, and the number of elements, SIZE_MAX where that does not fit. */
static enum status read_shape(const struct json_at *at, struct flat_array *a, struct error *err)
{
    struct json_at list, item;
    size_t i;

    TRY(json_get(at, "shape", JSON_ARRAY, &list, err));
    a->rank = json_array_size(list.value);
    a->n = 1;
    for (i = 0; i < a->rank; i++) {
        int64_t dim;

        TRY(json_item(&list, i, JSON_INTEGER, &item, err));
        dim = json_integer_value(item.value);
        if (dim < 0)
            return json_bad(&item, err, "a dimension of %lld elements", (long long)dim);
        if (i < FLAT_MAX_RANK)
            a->dim[i] = (size_t)dim;
        if (!size_mul(a->n, (size_t)dim, &a->n))
            return json_bad(&list, err, "the dimensions are too large");
    }
    return OK;
}

static enum status read_offsets(const struct json_at *at, uint64_t data_bytes, uint64_t ret[2], struct error *err)
{
    struct json_at list, item;
    size_t i;

    TRY(json_get(at, "data_offsets", JSON_ARRAY, &list, err));
    if (json_array_size(list.value) != 2)
        return json_bad(&list, err, "must be begin and end, found %zu numbers", json_array_size(list.value));
    for (i = 0; i < 2; i++) {
        TRY(json_item(&list, i, JSON_INTEGER, &item, err));
        if (json_integer_value(item.value) < 0)
            return json_bad(&item, err, "an offset of %lld", (long long)json_integer_value(item.value));
        ret[i] = (uint64_t)json_integer_value(item.value);
    }
    if (ret[0] > ret[1])
        return json_bad(&list, err, "ends at %llu, before it begins at %llu", (unsigned long long)ret[1],
                        (unsigned long long)ret[0]);
    if (ret[1] > data_bytes)
        return json_bad(&list, err,
                        "the values end at byte %llu of the data, the file has %llu; it may be truncated, copy or "
                        "write it again",
                        (unsigned long long)ret[1], (unsigned long long)data_bytes);
    return OK;
}

static enum status read_array(struct flat *f, const struct json_at *top, const char *name, struct flat_array *a,
                              uint64_t ret_range[2], struct error *err)
{
    size_t bits = 0, n_bits = 0;
    struct json_at at;

    TRY(json_get(top, name, JSON_OBJECT, &at, err));
    TRY(arena_strdup(&f->arena, name, &a->name, err));
    TRY(read_type(&at, &f->arena, a, &bits, err));
    TRY(read_shape(&at, a, err));
    TRY(read_offsets(&at, f->bytes, ret_range, err));
    if (bits == 0)
        return OK;
    if (!size_mul(a->n, bits, &n_bits) || n_bits % 8 != 0 || n_bits / 8 != ret_range[1] - ret_range[0])
        return json_bad(&at, err, "%zu elements of type %s do not take the %llu bytes that data_offsets give", a->n,
                        a->type, (unsigned long long)(ret_range[1] - ret_range[0]));
    return OK;
}

/* Where the values of an array lie, to be put in order. */
struct range {
    uint64_t begin, end;
    size_t array;
};

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Values that nothing names, or that two arrays share, are what the format forbids. */
static enum status check_ranges(const struct flat *f, struct range *ranges, struct error *err)
{
    uint64_t at = 0;
    size_t i;

    qsort(ranges, f->n_arrays, sizeof *ranges, by_begin);
    for (i = 0; i < f->n_arrays; i++) {
        const char *name = f->arrays[ranges[i].array].name;

        if (ranges[i].begin < at)
            return flat_bad(f, name, err, "the values begin at byte %llu of the data, inside those of '%.100s'",
                            (unsigned long long)ranges[i].begin, f->arrays[ranges[i - 1].array].name);
        if (ranges[i].begin > at)
            return flat_bad(f, name, err, "the values begin at byte %llu of the data, those before end at %llu",
                            (unsigned long long)ranges[i].begin, (unsigned long long)at);
        at = ranges[i].end;
    }
    if (at != f->bytes)
        return error_set(err, ERR_FORMAT,
                         "'%s': the header names %llu bytes of values, the file has %llu; write it again", f->path,
                         (unsigned long long)at, (unsigned long long)f->bytes);
    return OK;
}

static enum status take_metadata(struct flat *f, const struct json_at *top, struct error *err)
{
    struct json_at meta, item;
    const char *key;
    json_t *value;

    f->attr_in = "__metadata__";
    TRY(mem_strdup(f->path, &f->attrs.name, err));
    TRY(json_opt(top, "__metadata__", JSON_OBJECT, &meta, err));
    f->attrs.root = json_incref(meta.value);
    json_object_foreach (meta.value, key, value)
        TRY(json_get(&meta, key, JSON_STRING, &item, err));
    return OK;
}

static enum status read_arrays(struct flat *f, const struct json_at *top, struct range *ranges, struct error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach (top->value, key, value) {
        struct flat_array *a = &f->arrays[f->n_arrays];
        uint64_t range[2] = {0, 0};

        if (strcmp(key, "__metadata__") == 0)
            continue;
        TRY(read_array(f, top, key, a, range, err));
        ranges[f->n_arrays] = (struct range){range[0], range[1], f->n_arrays};
        a->offset = range[0];
        f->n_arrays++;
    }
    return check_ranges(f, ranges, err);
}

static enum status read_all(struct flat *f, const char *path, struct error *err)
{
    AUTO(json) header = {0};
    struct range *ranges = NULL;
    uint64_t file_bytes;
    struct json_at top;
    enum status st;
    size_t i;

    TRY(flat_open(f, path, err));
    file_bytes = f->bytes;
    TRY(read_header(f, &header, err));
    top = json_top(&header);
    TRY(json_is(&top, JSON_OBJECT, err));
    TRY(take_metadata(f, &top, err));
    TRY(flat_reserve(f, json_object_size(header.root), err));
    TRY(mem_new(json_object_size(header.root), sizeof *ranges, &ranges, err));
    st = read_arrays(f, &top, ranges, err);
    free(ranges);
    TRY(st);
    for (i = 0; i < f->n_arrays; i++)
        f->arrays[i].offset += file_bytes - f->bytes;
    return flat_sort(f, err);
}

static enum status safetensors_open(const char *path, struct dump_reader **ret, struct error *err)
{
    struct flat *f = NULL;
    enum status st;

    TRY(mem_new(1, sizeof *f, &f, err));
    f->base.format = &dump_safetensors;
    f->fd = -1;
    f->source = safetensors_source;
    st = read_all(f, path, err);
    if (st != OK) {
        safetensors_free(&f->base);
        return st;
    }
    *ret = &f->base;
    return OK;
}

/* There is no magic number; a header shorter than 2^40 bytes that begins as JSON has to do. */
static bool safetensors_knows(const unsigned char *head, size_t n)
{
    return n >= 9 && head[5] == 0 && head[6] == 0 && head[7] == 0 && head[8] == '{';
}

const struct dump_format dump_safetensors = {
    .name = "safetensors",
    .suffix = ".safetensors",
    .enters_freely = true,
    .knows = safetensors_knows,
    .open = safetensors_open,
    .free = safetensors_free,
    FLAT_ANSWERS,
};
