#include "core/io/h5scale.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5data.h"

#include <stdlib.h>
#include <string.h>

void h5scale_done(struct h5scale *s)
{
    h5_done(&s->ds);
    free(s->use);
    memset(s, 0, sizeof *s);
}

static enum status put(const struct h5 *at, const char *name, hid_t file_type, hid_t mem_type, size_t n,
                       const void *values, struct error *err)
{
    AUTO(h5id) space = {0};
    AUTO(h5id) attr = {0};
    hsize_t dim = n;

    space.id = n ? H5Screate_simple(1, &dim, NULL) : H5Screate(H5S_SCALAR);
    if (space.id > 0)
        attr.id = H5Acreate2(at->id, name, file_type, space.id, H5P_DEFAULT, H5P_DEFAULT);
    if (attr.id <= 0 || H5Awrite(attr.id, mem_type, values) < 0)
        return h5_failed(at, ERR_IO, "a dimension scale cannot be written", err);
    return OK;
}

/* The standard wants these two as fixed-length text that ends in NUL. */
static enum status put_fixed(const struct h5 *at, const char *name, const char *text, struct error *err)
{
    AUTO(h5id) type = {.id = H5Tcopy(H5T_C_S1)};

    if (type.id < 0 || H5Tset_size(type.id, strlen(text) + 1) < 0)
        return h5_failed(at, ERR_INTERNAL, "no text type", err);
    return put(at, name, type.id, type.id, 0, text, err);
}

enum status h5scale_init(struct h5scale *s, struct h5 *ds, const char *name, struct error *err)
{
    TRY(put_fixed(ds, "CLASS", "DIMENSION_SCALE", err));
    TRY(put_fixed(ds, "NAME", name, err));
    s->ds = h5_take(ds);
    s->name = name;
    return OK;
}

static enum status put_labels(const struct h5 *ds, struct h5scale *const *scales, size_t rank, struct error *err)
{
    const char *labels[H5DATA_MAX_RANK];
    AUTO(h5id) type = {.id = H5Tcopy(H5T_C_S1)};
    size_t i;

    if (type.id < 0 || H5Tset_size(type.id, H5T_VARIABLE) < 0 || H5Tset_cset(type.id, H5T_CSET_UTF8) < 0)
        return h5_failed(ds, ERR_INTERNAL, "no text type", err);
    for (i = 0; i < rank; i++)
        labels[i] = scales[i] ? scales[i]->name : "";
    return put(ds, "DIMENSION_LABELS", type.id, type.id, rank, labels, err);
}

enum status h5scale_attach(const struct h5 *ds, struct h5scale *const *scales, size_t rank, struct error *err)
{
    AUTO(h5id) type = {.id = H5Tvlen_create(H5T_STD_REF_OBJ)};
    hobj_ref_t refs[H5DATA_MAX_RANK];
    hvl_t list[H5DATA_MAX_RANK];
    hobj_ref_t self;
    size_t i;

    if (rank == 0)
        return OK;
    if (type.id < 0 || H5Rcreate(&self, ds->id, ".", H5R_OBJECT, -1) < 0)
        return h5_failed(ds, ERR_IO, "a dimension scale cannot be written", err);
    for (i = 0; i < rank; i++) {
        struct h5scale *s = scales[i];

        list[i] = (hvl_t){0};
        if (!s)
            continue;
        if (H5Rcreate(&refs[i], s->ds.id, ".", H5R_OBJECT, -1) < 0)
            return h5_failed(&s->ds, ERR_IO, "a dimension scale cannot be written", err);
        list[i] = (hvl_t){.len = 1, .p = &refs[i]};
        TRY(mem_grow(&s->use, &s->cap_uses, s->n_uses + 1, sizeof *s->use, err));
        s->use[s->n_uses++] = (struct h5scale_use){self, (int)i};
    }
    TRY(put_labels(ds, scales, rank, err));
    return put(ds, "DIMENSION_LIST", type.id, type.id, rank, list, err);
}

enum status h5scale_finish(struct h5scale *s, struct error *err)
{
    AUTO(h5id) mem = {.id = H5Tcreate(H5T_COMPOUND, sizeof(struct h5scale_use))};
    AUTO(h5id) packed = {.id = H5Tcreate(H5T_COMPOUND, 12)};

    if (s->n_uses == 0)
        return OK;
    if (H5Tinsert(mem.id, "dataset", HOFFSET(struct h5scale_use, dataset), H5T_STD_REF_OBJ) < 0 ||
        H5Tinsert(mem.id, "dimension", HOFFSET(struct h5scale_use, dimension), H5T_NATIVE_INT) < 0 ||
        H5Tinsert(packed.id, "dataset", 0, H5T_STD_REF_OBJ) < 0 ||
        H5Tinsert(packed.id, "dimension", 8, H5T_STD_I32LE) < 0)
        return h5_failed(&s->ds, ERR_INTERNAL, "no reference type", err);
    return put(&s->ds, "REFERENCE_LIST", packed.id, mem.id, s->n_uses, s->use, err);
}
