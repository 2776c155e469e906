#include "core/io/h5attr.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/texts.h"

#include <stdlib.h>
#include <string.h>

struct attr {
    struct h5id id, type, space;
};

static void attr_done(struct attr *a)
{
    h5id_done(&a->space);
    h5id_done(&a->type);
    h5id_done(&a->id);
}

bool h5attr_has(const struct h5 *at, const char *name)
{
    bool has = H5Aexists(at->id, name) > 0;

    H5Eclear2(H5E_DEFAULT);
    return has;
}

static enum status attr_open(struct attr *a, const struct h5 *at, const char *name, struct error *err)
{
    if (!h5attr_has(at, name))
        return h5_bad(at, err, "no attribute '%s'", name);
    a->id.id = H5Aopen(at->id, name, H5P_DEFAULT);
    if (a->id.id < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be opened", err);
    a->type.id = H5Aget_type(a->id.id);
    a->space.id = H5Aget_space(a->id.id);
    if (a->type.id < 0 || a->space.id < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    if (H5Sget_simple_extent_npoints(a->space.id) != 1)
        return h5_bad(at, err, "attribute '%s' must be a single value", name);
    return OK;
}

static enum status keep_text(const struct h5 *at, const char *name, const char *text, struct arena *arena, char **ret,
                             struct error *err)
{
    if (strlen(text) > H5ATTR_MAX_TEXT)
        return h5_bad(at, err, "attribute '%s' is longer than %d bytes", name, (int)H5ATTR_MAX_TEXT);
    if (!texts_is_utf8(text, strlen(text)))
        return h5_bad(at, err, "attribute '%s' is not valid UTF-8", name);
    return arena_strdup(arena, text, ret, err);
}

static enum status read_variable(const struct attr *a, hid_t mem, const struct h5 *at, const char *name,
                                 struct arena *arena, char **ret, struct error *err)
{
    char *text = NULL;
    enum status st;

    if (H5Tset_size(mem, H5T_VARIABLE) < 0 || H5Aread(a->id.id, mem, &text) < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    st = keep_text(at, name, text ? text : "", arena, ret, err);
    H5Dvlen_reclaim(mem, a->space.id, H5P_DEFAULT, &text);
    return st;
}

static enum status read_fixed(const struct attr *a, hid_t mem, const struct h5 *at, const char *name,
                              struct arena *arena, char **ret, struct error *err)
{
    size_t size = H5Tget_size(a->type.id);
    char *text = NULL;
    enum status st;

    if (size == 0 || size > H5ATTR_MAX_TEXT)
        return h5_bad(at, err, "attribute '%s' is a text of %zu bytes, %d are the limit", name, size,
                      (int)H5ATTR_MAX_TEXT);
    TRY(mem_new(size + 1, 1, &text, err));
    if (H5Tset_size(mem, size + 1) < 0 || H5Aread(a->id.id, mem, text) < 0)
        st = h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    else
        st = keep_text(at, name, text, arena, ret, err);
    free(text);
    return st;
}

enum status h5attr_text(const struct h5 *at, const char *name, struct arena *arena, char **ret, struct error *err)
{
    AUTO(attr) a = {0};
    AUTO(h5id) mem = {0};

    TRY(attr_open(&a, at, name, err));
    if (H5Tget_class(a.type.id) != H5T_STRING)
        return h5_bad(at, err, "attribute '%s' must be a text", name);
    mem.id = H5Tcopy(H5T_C_S1);
    if (mem.id < 0 || H5Tset_cset(mem.id, H5Tget_cset(a.type.id)) < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute has a type that cannot be read", err);
    if (H5Tis_variable_str(a.type.id) > 0)
        return read_variable(&a, mem.id, at, name, arena, ret, err);
    return read_fixed(&a, mem.id, at, name, arena, ret, err);
}

/* An integer, also where it stands as an enumeration (h5py writes its booleans so). */
static enum status open_integer(struct attr *a, const struct h5 *at, const char *name, struct error *err)
{
    H5T_class_t type;

    TRY(attr_open(a, at, name, err));
    type = H5Tget_class(a->type.id);
    if (type == H5T_ENUM) {
        AUTO(h5id) base = {.id = H5Tget_super(a->type.id)};

        type = base.id > 0 ? H5Tget_class(base.id) : H5T_NO_CLASS;
    }
    if (type != H5T_INTEGER || H5Tget_size(a->type.id) > sizeof(int64_t))
        return h5_bad(at, err, "attribute '%s' must be a whole number of at most 64 bits", name);
    return OK;
}

enum status h5attr_i64(const struct h5 *at, const char *name, int64_t *ret, struct error *err)
{
    AUTO(attr) a = {0};
    uint64_t high = 0;
    int64_t value = 0;

    TRY(open_integer(&a, at, name, err));
    if (H5Aread(a.id.id, H5T_NATIVE_INT64, &value) < 0 || H5Aread(a.id.id, H5T_NATIVE_UINT64, &high) < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    if (value == INT64_MAX && high > INT64_MAX)
        return h5_bad(at, err, "attribute '%s' is %llu: too large", name, (unsigned long long)high);
    *ret = value;
    return OK;
}

enum status h5attr_u64(const struct h5 *at, const char *name, uint64_t *ret, struct error *err)
{
    AUTO(attr) a = {0};
    uint64_t value = 0;
    int64_t sign = 0;

    TRY(open_integer(&a, at, name, err));
    if (H5Aread(a.id.id, H5T_NATIVE_UINT64, &value) < 0 || H5Aread(a.id.id, H5T_NATIVE_INT64, &sign) < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    if (sign < 0)
        return h5_bad(at, err, "attribute '%s' is %lld: it may not be negative", name, (long long)sign);
    *ret = value;
    return OK;
}

enum status h5attr_double(const struct h5 *at, const char *name, double *ret, struct error *err)
{
    AUTO(attr) a = {0};
    double value = 0;
    H5T_class_t type;

    TRY(attr_open(&a, at, name, err));
    type = H5Tget_class(a.type.id);
    if (type != H5T_FLOAT && type != H5T_INTEGER)
        return h5_bad(at, err, "attribute '%s' must be a number", name);
    if (H5Aread(a.id.id, H5T_NATIVE_DOUBLE, &value) < 0)
        return h5_failed(at, ERR_FORMAT, "an attribute cannot be read", err);
    *ret = value;
    return OK;
}

static enum status put(const struct h5 *at, const char *name, hid_t file_type, hid_t mem_type, const void *value,
                       struct error *err)
{
    AUTO(h5id) space = {.id = H5Screate(H5S_SCALAR)};
    AUTO(h5id) attr = {0};

    if (space.id > 0)
        attr.id = H5Acreate2(at->id, name, file_type, space.id, H5P_DEFAULT, H5P_DEFAULT);
    if (attr.id <= 0 || H5Awrite(attr.id, mem_type, value) < 0)
        return h5_failed(at, ERR_IO, "an attribute cannot be written", err);
    return OK;
}

enum status h5attr_put_text(const struct h5 *at, const char *name, const char *text, struct error *err)
{
    AUTO(h5id) type = {.id = H5Tcopy(H5T_C_S1)};

    if (type.id < 0 || H5Tset_size(type.id, H5T_VARIABLE) < 0 || H5Tset_cset(type.id, H5T_CSET_UTF8) < 0)
        return h5_failed(at, ERR_INTERNAL, "no text type", err);
    return put(at, name, type.id, type.id, &text, err);
}

enum status h5attr_put_i64(const struct h5 *at, const char *name, int64_t value, struct error *err)
{
    return put(at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, err);
}

enum status h5attr_put_u64(const struct h5 *at, const char *name, uint64_t value, struct error *err)
{
    return put(at, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value, err);
}

enum status h5attr_put_double(const struct h5 *at, const char *name, double value, struct error *err)
{
    return put(at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, err);
}
