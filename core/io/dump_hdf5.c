#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/dump_dtype.h"
#include "core/io/dump_reader.h"
#include "core/io/h5attr.h"
#include "core/io/h5chunk.h"
#include "core/io/h5data.h"
#include "core/io/h5dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compressed padding shrinks without end, so this only keeps out shapes that nothing stands behind. */
#define MAX_RATIO ((uint64_t)1 << 20)

/* An array that is being read; kept open so that its inflated chunks stay. */
struct array {
    struct h5 ds;
    char *name; /* owned; NULL = none */
    struct h5id type;
    struct dump_shape shape;
    bool is_swapped, is_chunked;
    struct h5chunk chunks; /* where is_chunked */
};

/* Many small arrays are open at a time (the steps of a generation), but few keep what they inflated: queries and keys
 * are read in turn. */
enum { N_OPEN = 64, N_WARM = 2 };

struct hdf5_reader {
    struct dump_reader base;
    struct h5 file;
    struct array open[N_OPEN];
    size_t next;         /* place for the next one */
    size_t warm[N_WARM]; /* those that may keep chunks, the last used first */
};

static void array_done(struct array *a)
{
    h5chunk_done(&a->chunks);
    h5id_done(&a->type);
    h5_done(&a->ds);
    free(a->name);
    memset(a, 0, sizeof *a);
}

static struct hdf5_reader *self(struct dump_reader *r)
{
    return (struct hdf5_reader *)(void *)r;
}

static void hdf5_free(struct dump_reader *r)
{
    struct hdf5_reader *h = self(r);
    int i;

    for (i = 0; i < N_OPEN; i++)
        array_done(&h->open[i]);
    h5_done(&h->file);
    free(h);
}

static enum status hdf5_open(const char *path, struct dump_reader **ret, struct error *err)
{
    struct hdf5_reader *h = NULL;
    enum status st;
    size_t i;

    TRY(mem_new(1, sizeof *h, &h, err));
    h->base.format = &dump_hdf5;
    h->base.path = path;
    for (i = 0; i < N_WARM; i++)
        h->warm[i] = i;
    st = h5_open(&h->file, path, err);
    if (st != OK) {
        hdf5_free(&h->base);
        return st;
    }
    *ret = &h->base;
    return OK;
}

/* Opens "a/b/c" step by step, each of which may be missing or of the wrong kind; "" is the file. */
static enum status open_path(const struct h5 *file, const char *name, bool is_dataset, struct h5 *ret,
                             struct error *err)
{
    const char *slash;
    AUTO(h5) at = *file;

    H5Iinc_ref(at.id);
    while ((slash = strchr(name, '/')) != NULL) {
        char part[256];
        AUTO(h5) next = {0};

        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        TRY(h5_group(&at, part, &next, err));
        h5_done(&at);
        at = h5_take(&next);
        name = slash + 1;
    }
    if (name[0]) {
        AUTO(h5) last = {0};

        TRY(is_dataset ? h5_dataset(&at, name, &last, err) : h5_group(&at, name, &last, err));
        h5_done(&at);
        at = h5_take(&last);
    }
    *ret = h5_take(&at);
    return OK;
}

static bool hdf5_has(struct dump_reader *r, const char *name)
{
    const char *slash = strrchr(name, '/');
    struct error ignored = {0};
    AUTO(h5) parent = {0};
    char path[256];

    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - name) : 0, name);
    if (open_path(&self(r)->file, path, false, &parent, &ignored) != OK)
        return false;
    return h5_has(&parent, slash ? slash + 1 : name);
}

static enum status hdf5_layer_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n,
                                    struct error *err)
{
    AUTO(h5) group = {0};

    TRY(open_path(&self(r)->file, "layers", false, &group, err));
    return h5_names(&group, arena, ret, ret_n, err);
}

/* Of a group or an array; what is not there has no attributes. */
static enum status find_attr(struct dump_reader *r, const char *object, const char *attr, struct h5 *ret_object,
                             bool *ret_found, struct error *err)
{
    struct error ignored = {0};

    *ret_found = false;
    if (open_path(&self(r)->file, object, true, ret_object, &ignored) != OK) {
        if (object[0] && !hdf5_has(r, object))
            return OK;
        TRY(open_path(&self(r)->file, object, false, ret_object, err));
    }
    *ret_found = h5attr_has(ret_object, attr);
    return OK;
}

static enum status hdf5_attr_text(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                                  bool *ret_found, char **ret, struct error *err)
{
    AUTO(h5) group = {0};

    TRY(find_attr(r, object, attr, &group, ret_found, err));
    return *ret_found ? h5attr_text(&group, attr, arena, ret, err) : OK;
}

static enum status hdf5_attr_i64(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                                 int64_t *ret, struct error *err)
{
    AUTO(h5) group = {0};

    TRY(find_attr(r, object, attr, &group, ret_found, err));
    return *ret_found ? h5attr_i64(&group, attr, ret, err) : OK;
}

static enum status hdf5_attr_double(struct dump_reader *r, const char *object, const char *attr, bool *ret_found,
                                    double *ret, struct error *err)
{
    AUTO(h5) group = {0};

    TRY(find_attr(r, object, attr, &group, ret_found, err));
    return *ret_found ? h5attr_double(&group, attr, ret, err) : OK;
}

static enum status hdf5_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                              size_t *ret_n, struct error *err)
{
    AUTO(h5) ds = {0};

    TRY(open_path(&self(r)->file, name, true, &ds, err));
    return h5data_texts(&ds, max, arena, ret, ret_n, err);
}

static enum status hdf5_integers(struct dump_reader *r, const char *name, size_t max, struct arena *arena,
                                 int64_t **ret, size_t *ret_n, struct error *err)
{
    AUTO(h5) ds = {0};

    TRY(open_path(&self(r)->file, name, true, &ds, err));
    return h5data_integers(&ds, max, arena, ret, ret_n, err);
}

static enum status hdf5_table(struct dump_reader *r, const char *name, size_t *ret_rows, size_t *ret_cols,
                              struct error *err)
{
    AUTO(h5) ds = {0};
    size_t dim[2];

    TRY(open_path(&self(r)->file, name, true, &ds, err));
    TRY(h5data_is_integer(&ds, err));
    TRY(h5data_shape(&ds, 2, dim, err));
    TRY(h5data_check(&ds, MAX_RATIO, err));
    TRY(h5chunk_verify(&ds, err));
    *ret_rows = dim[0];
    *ret_cols = dim[1];
    return OK;
}

/* Reads the part of `ds` that begins at `start` and is `count` long; `n` elements in all. */
static enum status read_part(const struct h5 *ds, int rank, const hsize_t *start, const hsize_t *count, size_t n,
                             hid_t type, void *ret, struct error *err)
{
    AUTO(h5id) file = {.id = H5Dget_space(ds->id)};
    AUTO(h5id) mem = {0};
    hsize_t len = n;

    mem.id = H5Screate_simple(1, &len, NULL);
    if (file.id < 0 || mem.id < 0 || H5Sselect_hyperslab(file.id, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
        H5Sget_simple_extent_ndims(file.id) != rank)
        return h5_failed(ds, ERR_INTERNAL, "no such part", err);
    if (H5Dread(ds->id, type, mem.id, file.id, H5P_DEFAULT, ret) < 0)
        return h5_failed(ds, ERR_FORMAT, "the values cannot be read; the file may be damaged", err);
    return OK;
}

static enum status hdf5_table_row(struct dump_reader *r, const char *name, size_t row, size_t n_cols, int64_t *ret,
                                  struct error *err)
{
    hsize_t start[2] = {row, 0}, count[2] = {1, n_cols};
    AUTO(h5) ds = {0};

    TRY(open_path(&self(r)->file, name, true, &ds, err));
    return read_part(&ds, 2, start, count, n_cols, H5T_NATIVE_INT64, ret, err);
}

static enum status array_shape(struct array *a, struct error *err)
{
    AUTO(h5id) space = {.id = H5Dget_space(a->ds.id)};
    int rank = space.id > 0 ? H5Sget_simple_extent_ndims(space.id) : -1;

    if (rank < 0)
        return h5_failed(&a->ds, ERR_FORMAT, "the shape cannot be read", err);
    a->shape.is_none = H5Sget_simple_extent_type(space.id) == H5S_NULL;
    if (a->shape.is_none)
        return OK;
    if (rank > DUMP_MAX_RANK)
        return h5_bad(&a->ds, err, "%d dimensions, %d are the limit", rank, (int)DUMP_MAX_RANK);
    a->shape.rank = (size_t)rank;
    a->shape.element = H5Tget_size(a->type.id);
    a->shape.is_opaque = H5Tget_class(a->type.id) == H5T_OPAQUE;
    TRY(h5data_shape(&a->ds, a->shape.rank, a->shape.dim, err));
    return h5data_check(&a->ds, MAX_RATIO, err);
}

static enum status array_open(struct array *a, const struct h5 *file, const char *name, struct error *err)
{
    TRY(mem_strdup(name, &a->name, err));
    TRY(open_path(file, name, true, &a->ds, err));
    a->type.id = H5Dget_type(a->ds.id);
    if (a->type.id < 0)
        return h5_failed(&a->ds, ERR_FORMAT, "the type cannot be read", err);
    TRY(array_shape(a, err));
    if (a->shape.is_none)
        return OK;
    TRY(h5dtype_find(&a->ds, a->type.id, &a->shape.dtype, &a->is_swapped, err));
    return h5chunk_init(&a->chunks, &a->ds, &a->is_chunked, err);
}

/* Makes the array at `place` the first of those that keep chunks; what another one has kept is dropped for it. */
static enum status warm_up(struct hdf5_reader *h, size_t place, struct error *err)
{
    struct array *a = &h->open[place];
    size_t i = 0;

    while (i + 1 < N_WARM && h->warm[i] != place)
        i++;
    if (h->warm[i] != place && h->open[h->warm[i]].is_chunked)
        h5chunk_done(&h->open[h->warm[i]].chunks);
    memmove(h->warm + 1, h->warm, i * sizeof *h->warm);
    h->warm[0] = place;
    return a->is_chunked && a->chunks.rank == 0 ? h5chunk_init(&a->chunks, &a->ds, &a->is_chunked, err) : OK;
}

static enum status find_array(struct dump_reader *r, const char *name, struct array **ret, struct error *err)
{
    struct hdf5_reader *h = self(r);
    AUTO(array) a = {0};
    size_t i;

    for (i = 0; i < N_OPEN; i++) {
        if (!h->open[i].name || strcmp(h->open[i].name, name) != 0)
            continue;
        *ret = &h->open[i];
        return warm_up(h, i, err);
    }
    TRY(array_open(&a, &h->file, name, err));
    i = h->next;
    h->next = (h->next + 1) % N_OPEN;
    array_done(&h->open[i]);
    h->open[i] = a;
    memset(&a, 0, sizeof a);
    *ret = &h->open[i];
    return warm_up(h, i, err);
}

static enum status hdf5_shape(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err)
{
    struct array *a = NULL;

    TRY(find_array(r, name, &a, err));
    *ret = a->shape;
    return OK;
}

static enum status library_slab(struct array *a, const size_t *start, const size_t *count, size_t n, void *ret,
                                struct error *err)
{
    hsize_t from[DUMP_MAX_RANK], many[DUMP_MAX_RANK];
    size_t i;

    for (i = 0; i < a->shape.rank; i++) {
        from[i] = start[i];
        many[i] = count[i];
    }
    return read_part(&a->ds, (int)a->shape.rank, from, many, n, a->type.id, ret, err);
}

/* The memory type is the file's own: the library never converts, so that 16-bit floats arrive as they were stored. */
static enum status hdf5_slab(struct dump_reader *r, const char *name, const size_t *start, const size_t *count,
                             void *ret, struct error *err)
{
    struct array *a = NULL;
    size_t n = 0;

    TRY(find_array(r, name, &a, err));
    if (a->shape.rank == 0 || !dump_reader_is_part(&a->shape, start, count, &n))
        return error_set(err, ERR_INTERNAL, "no such part of '%s'", name);
    if (n == 0)
        return OK;
    a->chunks.memory = r->memory;
    if (a->is_chunked)
        TRY(h5chunk_slab(&a->chunks, &a->ds, start, count, ret, err));
    else
        TRY(library_slab(a, start, count, n, ret, err));
    if (a->is_swapped)
        dump_dtype_swap(ret, n, a->shape.element);
    return OK;
}

static enum status hdf5_locate(struct dump_reader *r, const char *name, struct dump_place *ret, struct error *err)
{
    struct array *a = NULL;
    void *handle = NULL;
    haddr_t at;

    TRY(find_array(r, name, &a, err));
    *ret = (struct dump_place){.fd = -1};
    if (a->is_chunked && !a->is_swapped) {
        ret->chunks = &a->chunks;
        ret->dataset = &a->ds;
    }
    if (a->is_chunked || a->is_swapped)
        return OK;
    at = H5Dget_offset(a->ds.id); /* none for compact and chunked datasets, and where nothing was written */
    if (at != HADDR_UNDEF && H5Fget_vfd_handle(self(r)->file.id, H5P_DEFAULT, &handle) >= 0 && handle) {
        ret->fd = *(const int *)handle;
        ret->offset = at;
    }
    H5Eclear2(H5E_DEFAULT);
    return OK;
}

static enum status hdf5_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    return h5_all_names(&self(r)->file, arena, ret, ret_n, err);
}

static bool hdf5_knows(const unsigned char *head, size_t n)
{
    return n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

const struct dump_format dump_hdf5 = {
    .name = "HDF5",
    .suffix = ".h5",
    .enters_freely = true,
    .knows = hdf5_knows,
    .open = hdf5_open,
    .free = hdf5_free,
    .has = hdf5_has,
    .layer_names = hdf5_layer_names,
    .attr_text = hdf5_attr_text,
    .attr_i64 = hdf5_attr_i64,
    .attr_double = hdf5_attr_double,
    .texts = hdf5_texts,
    .integers = hdf5_integers,
    .table = hdf5_table,
    .table_row = hdf5_table_row,
    .tensor = dump_reader_tensor,
    .rows = dump_reader_rows,
    .place = dump_reader_place,
    .names = hdf5_names,
    .shape = hdf5_shape,
    .slab = hdf5_slab,
    .locate = hdf5_locate,
};
