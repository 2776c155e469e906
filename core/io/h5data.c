#include "core/io/h5data.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"
#include "core/io/h5chunk.h"
#include "core/io/texts.h"

#include <stdlib.h>
#include <string.h>

/* A chunk is inflated whole in memory: a larger one is a mistake or an attack. */
#define MAX_CHUNK_BYTES ((uint64_t)1 << 30)

/* gzip gives at most 1032 bytes for one. */
enum { GZIP_RATIO = 1100, GZIP_LEVEL = 4 };

/* Text longer than this is no label. */
enum { MAX_TEXT = 1 << 26 };

enum status h5data_shape(const struct h5 *ds, size_t rank, size_t *ret, struct error *err)
{
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    hsize_t dims[H5S_MAX_RANK];
    int have = space.id > 0 ? H5Sget_simple_extent_ndims(space.id) : -1;
    size_t total = 1, i;

    if (have < 0)
        return h5_failed(ds, ERR_FORMAT, "the shape cannot be read", err);
    if ((size_t)have != rank || H5Sget_simple_extent_type(space.id) == H5S_NULL)
        return h5_bad(ds, err, "expected %zu dimensions, found %d", rank, have);
    if (H5Sget_simple_extent_dims(space.id, dims, NULL) < 0)
        return h5_failed(ds, ERR_FORMAT, "the shape cannot be read", err);
    for (i = 0; i < rank; i++)
        if (dims[i] > SIZE_MAX / 16 || !size_mul(total, (size_t)dims[i], &total))
            return h5_bad(ds, err, "dimension %zu of %llu elements is too large", i, (unsigned long long)dims[i]);
    for (i = 0; i < rank; i++)
        ret[i] = (size_t)dims[i];
    return OK;
}

static enum status check_filters(const struct h5 *ds, hid_t list, struct error *err)
{
    int n = H5Pget_nfilters(list), i;

    for (i = 0; i < n; i++) {
        size_t n_values = 0;
        char name[64] = "";
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)i, NULL, &n_values, NULL, sizeof name, name, NULL);

        if (id >= 0 && H5Zfilter_avail(id) > 0)
            continue;
        H5Eclear2(H5E_DEFAULT);
        return h5_bad(ds, err,
                      "compressed with HDF5 filter %d (%.60s), which is not installed: point HDF5_PLUGIN_PATH to the "
                      "folder of its plugin, or write the file with gzip",
                      (int)id, name[0] ? name : "unnamed");
    }
    return OK;
}

static enum status check_layout(const struct h5 *ds, hid_t list, size_t element, struct error *err)
{
    H5D_layout_t layout = H5Pget_layout(list);
    hsize_t dims[H5S_MAX_RANK];
    uint64_t bytes = element;
    int rank, i;

    if (layout == H5D_VIRTUAL || (layout == H5D_CONTIGUOUS && H5Pget_external_count(list) != 0))
        return h5_bad(ds, err, "the values lie in other files; store them in this one");
    if (layout != H5D_CHUNKED)
        return OK;
    rank = H5Pget_chunk(list, H5S_MAX_RANK, dims);
    for (i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes) || bytes > MAX_CHUNK_BYTES)
            return h5_bad(ds, err, "chunks of more than %llu bytes; write the file with smaller ones",
                          (unsigned long long)MAX_CHUNK_BYTES);
    return check_filters(ds, list, err);
}

enum status h5data_check(const struct h5 *ds, uint64_t max_ratio, struct error *err)
{
    AUTO(h5id) list = {.id = H5Dget_create_plist(ds->id)};
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    hssize_t n = space.id > 0 ? H5Sget_simple_extent_npoints(space.id) : -1;
    size_t element = type.id > 0 ? H5Tget_size(type.id) : 0;
    uint64_t stored, bytes;

    if (list.id < 0 || n < 0 || element == 0)
        return h5_failed(ds, ERR_FORMAT, "the dataset cannot be read", err);
    TRY(check_layout(ds, list.id, element, err));
    if (n == 0)
        return OK;
    stored = H5Dget_storage_size(ds->id);
    H5Eclear2(H5E_DEFAULT);
    if (stored == 0)
        return h5_bad(ds, err, "no values were written; the recording may have been interrupted");
    if (__builtin_mul_overflow((uint64_t)n, (uint64_t)element, &bytes) || bytes / max_ratio > stored)
        return h5_bad(ds, err, "claims %llu elements of %zu bytes but stores %llu bytes", (unsigned long long)n,
                      element, (unsigned long long)stored);
    return OK;
}

/* Integers, also where they stand as an enumeration (h5py writes its booleans so). */
enum status h5data_is_integer(const struct h5 *ds, struct error *err)
{
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    AUTO(h5id) base = {0};
    H5T_class_t class = type.id < 0 ? H5T_NO_CLASS : H5Tget_class(type.id);

    if (class == H5T_ENUM) {
        base.id = H5Tget_super(type.id);
        class = base.id < 0 ? H5T_NO_CLASS : H5Tget_class(base.id);
    }
    if (class != H5T_INTEGER || H5Tget_size(type.id) > sizeof(int64_t))
        return h5_bad(ds, err, "elements must be whole numbers of at most 64 bits");
    return OK;
}

enum status h5data_is_double(const struct h5 *ds, struct error *err)
{
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};

    if (type.id < 0 || (H5Tequal(type.id, H5T_IEEE_F64LE) <= 0 && H5Tequal(type.id, H5T_IEEE_F64BE) <= 0))
        return h5_bad(ds, err, "elements must be float64");
    return OK;
}

enum status h5data_read(const struct h5 *ds, hid_t mem_type, void *ret, struct error *err)
{
    TRY(h5chunk_verify(ds, err));
    if (H5Dread(ds->id, mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ret) < 0)
        return h5_failed(ds, ERR_FORMAT, "the values cannot be read; the file may be damaged", err);
    return OK;
}

static enum status list_len(const struct h5 *ds, size_t max, size_t *ret, struct error *err)
{
    size_t n = 0;

    TRY(h5data_shape(ds, 1, &n, err));
    if (n > max)
        return h5_bad(ds, err, "%zu elements, %zu are the limit", n, max);
    TRY(h5data_check(ds, GZIP_RATIO, err));
    *ret = n;
    return OK;
}

enum status h5data_integers(const struct h5 *ds, size_t max, struct arena *arena, int64_t **ret, size_t *ret_n,
                            struct error *err)
{
    int64_t *values = NULL;
    size_t n = 0;

    TRY(h5data_is_integer(ds, err));
    TRY(list_len(ds, max, &n, err));
    TRY(arena_new(arena, n, sizeof *values, &values, err));
    if (n > 0)
        TRY(h5data_read(ds, H5T_NATIVE_INT64, values, err));
    *ret = values;
    *ret_n = n;
    return OK;
}

static enum status keep(const struct h5 *ds, size_t i, const char *text, struct arena *arena, char **ret,
                        struct error *err)
{
    if (!texts_is_utf8(text, strlen(text)))
        return h5_bad(ds, err, "element %zu is not valid UTF-8", i);
    return arena_strdup(arena, text, ret, err);
}

static enum status read_variable(const struct h5 *ds, hid_t mem, size_t n, struct arena *arena, char **ret,
                                 struct error *err)
{
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    char **texts = NULL;
    enum status st;
    size_t i;

    TRY(mem_new(n, sizeof *texts, &texts, err));
    st = H5Tset_size(mem, H5T_VARIABLE) < 0 ? h5_failed(ds, ERR_INTERNAL, "no text type", err)
                                            : h5data_read(ds, mem, texts, err);
    for (i = 0; st == OK && i < n; i++)
        st = keep(ds, i, texts[i] ? texts[i] : "", arena, &ret[i], err);
    H5Dvlen_reclaim(mem, space.id, H5P_DEFAULT, texts);
    free(texts);
    return st;
}

static enum status read_fixed(const struct h5 *ds, hid_t mem, size_t size, size_t n, struct arena *arena, char **ret,
                              struct error *err)
{
    char *texts = NULL;
    size_t bytes, i;
    enum status st;

    if (size == 0 || size > MAX_TEXT || !size_mul(size + 1, n, &bytes))
        return h5_bad(ds, err, "texts of %zu bytes, %d are the limit", size, (int)MAX_TEXT);
    TRY(mem_new(bytes, 1, &texts, err));
    st = H5Tset_size(mem, size + 1) < 0 ? h5_failed(ds, ERR_INTERNAL, "no text type", err)
                                        : h5data_read(ds, mem, texts, err);
    for (i = 0; st == OK && i < n; i++)
        st = keep(ds, i, texts + i * (size + 1), arena, &ret[i], err);
    free(texts);
    return st;
}

enum status h5data_texts(const struct h5 *ds, size_t max, struct arena *arena, char ***ret, size_t *ret_n,
                         struct error *err)
{
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    AUTO(h5id) mem = {.id = H5Tcopy(H5T_C_S1)};
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    char **texts = NULL;
    size_t n = 1;

    if (type.id < 0 || H5Tget_class(type.id) != H5T_STRING)
        return h5_bad(ds, err, "elements must be texts");
    if (H5Sget_simple_extent_type(space.id) == H5S_SCALAR)
        TRY(h5data_check(ds, GZIP_RATIO, err));
    else
        TRY(list_len(ds, max, &n, err));
    if (mem.id < 0 || H5Tset_cset(mem.id, H5Tget_cset(type.id)) < 0)
        return h5_failed(ds, ERR_FORMAT, "the text type cannot be read", err);
    TRY(arena_new(arena, n, sizeof *texts, &texts, err));
    if (n > 0 && H5Tis_variable_str(type.id) > 0)
        TRY(read_variable(ds, mem.id, n, arena, texts, err));
    else if (n > 0)
        TRY(read_fixed(ds, mem.id, H5Tget_size(type.id), n, arena, texts, err));
    *ret = texts;
    *ret_n = n;
    return OK;
}

static enum status make_list(const struct h5data *what, struct h5id *ret)
{
    hsize_t chunk[H5DATA_MAX_RANK];
    bool is_empty = what->chunk == 0;
    size_t i;

    for (i = 0; i < what->rank; i++) {
        chunk[i] = i ? what->dims[i] : what->chunk;
        is_empty |= what->dims[i] == 0;
    }
    ret->id = H5Pcreate(H5P_DATASET_CREATE);
    if (ret->id < 0 || H5Pset_obj_track_times(ret->id, false) < 0)
        return ERR_INTERNAL;
    if (!is_empty && (H5Pset_chunk(ret->id, (int)what->rank, chunk) < 0 || H5Pset_deflate(ret->id, GZIP_LEVEL) < 0))
        return ERR_INTERNAL;
    return OK;
}

enum status h5data_put(const struct h5 *at, const struct h5data *what, const void *values, struct h5 *ret,
                       struct error *err)
{
    AUTO(h5id) list = {0};
    AUTO(h5id) space = {0};
    AUTO(h5) ds = {.file = at->file};
    hsize_t dims[H5DATA_MAX_RANK];
    size_t i, n = 1;

    memcpy(ds.path, at->path, sizeof ds.path);
    for (i = 0; i < what->rank; i++) {
        dims[i] = what->dims[i];
        n *= what->dims[i];
    }
    space.id = what->rank ? H5Screate_simple((int)what->rank, dims, NULL) : H5Screate(H5S_SCALAR);
    if (space.id < 0 || make_list(what, &list) != OK)
        return h5_failed(at, ERR_INTERNAL, "no dataset can be described", err);
    ds.id = H5Dcreate2(at->id, what->name, what->file_type, space.id, H5P_DEFAULT, list.id, H5P_DEFAULT);
    if (ds.id < 0)
        return h5_failed(at, ERR_IO, "a dataset cannot be written", err);
    if (n > 0 && H5Dwrite(ds.id, what->mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return h5_failed(at, ERR_IO, "a dataset cannot be written", err);
    TRY(h5_explain(&ds, what->help, err));
    if (ret)
        *ret = h5_take(&ds);
    return OK;
}

enum status h5data_put_texts(const struct h5 *at, const char *name, const char *help, char *const *texts, size_t n,
                             struct h5 *ret, struct error *err)
{
    AUTO(h5id) type = {.id = H5Tcopy(H5T_C_S1)};
    struct h5data what = {.name = name, .help = help, .rank = n != SIZE_MAX, .dims = {n}};
    size_t count = n == SIZE_MAX ? 1 : n;
    size_t width = 1, bytes, i;
    char *cells = NULL;
    enum status st;

    for (i = 0; i < count; i++)
        width = strlen(texts[i]) > width ? strlen(texts[i]) : width;
    if (width > MAX_TEXT || !size_mul(width, count, &bytes))
        return error_set(err, ERR_LIMIT, "'%s' at %s: a text of %zu bytes, %d are the limit", at->file, at->path, width,
                         (int)MAX_TEXT);
    if (type.id < 0 || H5Tset_size(type.id, width) < 0 || H5Tset_cset(type.id, H5T_CSET_UTF8) < 0 ||
        H5Tset_strpad(type.id, H5T_STR_NULLPAD) < 0)
        return h5_failed(at, ERR_INTERNAL, "no text type", err);
    TRY(mem_new(bytes, 1, &cells, err));
    for (i = 0; i < count; i++)
        memcpy(cells + i * width, texts[i], strlen(texts[i]));
    what.file_type = what.mem_type = type.id;
    st = h5data_put(at, &what, cells, ret, err);
    free(cells);
    return st;
}
