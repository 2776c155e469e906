#include "core/io/dump_reader.h"

#include "core/base/checked.h"

#include <string.h>

enum { TENSOR_RANK = 4 };

/* One number a row has no last dimension, or one of length 1. */
static bool is_of_rows(const char *name)
{
    const char *last = strrchr(name, '/');

    last = last ? last + 1 : name;
    return strcmp(last, "lse") == 0 || strcmp(last, "value_scales") == 0;
}

enum status dump_reader_tensor(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err)
{
    struct dump_shape shape;
    size_t i;

    TRY(r->format->shape(r, name, &shape, err));
    if (shape.is_none || (shape.rank != TENSOR_RANK && !(shape.rank + 1 == TENSOR_RANK && is_of_rows(name))))
        return error_set(err, ERR_FORMAT, "'%s' at /%s: expected %d dimensions, found %zu", r->path, name,
                         (int)TENSOR_RANK, shape.rank);
    ret->dtype = shape.dtype;
    ret->is_opaque = shape.is_opaque;
    ret->element = shape.element;
    for (i = 0; i < TENSOR_RANK; i++)
        ret->dim[i] = i < shape.rank ? shape.dim[i] : 1;
    return OK;
}

enum status dump_reader_rows(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row,
                             size_t n_rows, void *ret, struct error *err)
{
    size_t start[TENSOR_RANK] = {sample, head, row, 0}, count[TENSOR_RANK] = {1, 1, n_rows, 1};
    struct dump_shape shape;

    TRY(r->format->shape(r, name, &shape, err));
    if (shape.rank == TENSOR_RANK)
        count[3] = shape.dim[3];
    return r->format->slab(r, name, start, count, ret, err);
}

enum status dump_reader_place(struct dump_reader *r, const char *name, size_t sample, struct dump_place *ret,
                              struct error *err)
{
    struct dump_tensor t;
    struct dump_shape shape;

    TRY(r->format->locate(r, name, ret, err));
    TRY(r->format->shape(r, name, &shape, err));
    if (shape.rank != TENSOR_RANK)
        ret->chunks = NULL;
    ret->n_lead = 1;
    ret->lead[0] = sample;
    if (ret->fd < 0)
        return OK;
    TRY(dump_reader_tensor(r, name, &t, err));
    /* no product is larger than the array, which was checked */
    ret->offset += (uint64_t)sample * t.dim[1] * t.dim[2] * t.dim[3] * shape.element;
    return OK;
}

bool dump_reader_is_part(const struct dump_shape *shape, const size_t *start, const size_t *count, size_t *ret_n)
{
    size_t n = 1, i;

    for (i = 0; i < shape->rank; i++)
        if (start[i] > shape->dim[i] || count[i] > shape->dim[i] - start[i] || !size_mul(n, count[i], &n))
            return false;
    *ret_n = n;
    return true;
}
