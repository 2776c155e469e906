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

/* A dataset that is being read; kept open so that its inflated chunks stay. */
struct tensor {
    struct h5 ds;
    char *name; /* owned; NULL = none */
    struct h5id type;
    size_t element, dim[4];
    bool is_swapped, is_chunked;
    enum dtype dtype;
    struct h5chunk chunks; /* where is_chunked */
};

/* Queries and keys are read in turn: two are open at a time. */
enum { N_OPEN = 2 };

/* An array of another rank, read through the library. */
struct block {
    struct h5 ds;
    char *name; /* owned; NULL = none */
    struct h5id type;
    size_t element, rank, dim[DUMP_MAX_RANK];
    bool is_swapped;
    enum dtype dtype;
};

struct hdf5_reader {
    struct dump_reader base;
    struct h5 file;
    struct tensor open[N_OPEN];
    int newest;
    struct block block;
};

static void block_done(struct block *b)
{
    h5id_done(&b->type);
    h5_done(&b->ds);
    free(b->name);
    memset(b, 0, sizeof *b);
}

static void tensor_done(struct tensor *t)
{
    h5chunk_done(&t->chunks);
    h5id_done(&t->type);
    h5_done(&t->ds);
    free(t->name);
    memset(t, 0, sizeof *t);
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
        tensor_done(&h->open[i]);
    block_done(&h->block);
    h5_done(&h->file);
    free(h);
}

static enum status hdf5_open(const char *path, struct dump_reader **ret, struct error *err)
{
    struct hdf5_reader *h = NULL;
    enum status st;

    TRY(mem_new(1, sizeof *h, &h, err));
    h->base.format = &dump_hdf5;
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
        char part[64];
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

static enum status find_attr(struct dump_reader *r, const char *object, const char *attr, struct h5 *ret_group,
                             bool *ret_found, struct error *err)
{
    TRY(open_path(&self(r)->file, object, false, ret_group, err));
    *ret_found = h5attr_has(ret_group, attr);
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

static enum status tensor_open(struct tensor *t, const struct h5 *file, const char *name, struct error *err)
{
    TRY(mem_strdup(name, &t->name, err));
    TRY(open_path(file, name, true, &t->ds, err));
    t->type.id = H5Dget_type(t->ds.id);
    if (t->type.id < 0)
        return h5_failed(&t->ds, ERR_FORMAT, "the type cannot be read", err);
    TRY(h5dtype_find(&t->ds, t->type.id, &t->dtype, &t->is_swapped, err));
    TRY(h5data_shape(&t->ds, 4, t->dim, err));
    TRY(h5data_check(&t->ds, MAX_RATIO, err));
    t->element = H5Tget_size(t->type.id);
    return h5chunk_init(&t->chunks, &t->ds, &t->is_chunked, err);
}

static enum status find_tensor(struct dump_reader *r, const char *name, struct tensor **ret, struct error *err)
{
    struct hdf5_reader *h = self(r);
    AUTO(tensor) t = {0};
    int i;

    for (i = 0; i < N_OPEN; i++) {
        if (h->open[i].name && strcmp(h->open[i].name, name) == 0) {
            h->newest = i;
            *ret = &h->open[i];
            return OK;
        }
    }
    TRY(tensor_open(&t, &h->file, name, err));
    h->newest = (h->newest + 1) % N_OPEN;
    tensor_done(&h->open[h->newest]);
    h->open[h->newest] = t;
    memset(&t, 0, sizeof t);
    *ret = &h->open[h->newest];
    return OK;
}

static enum status hdf5_tensor(struct dump_reader *r, const char *name, struct dump_tensor *ret, struct error *err)
{
    struct tensor *t = NULL;

    TRY(find_tensor(r, name, &t, err));
    ret->dtype = t->dtype;
    ret->is_opaque = H5Tget_class(t->type.id) == H5T_OPAQUE;
    memcpy(ret->dim, t->dim, sizeof ret->dim);
    return OK;
}

/* The memory type is the file's own: the library never converts, so that 16-bit floats arrive as they were stored. */
static enum status hdf5_rows(struct dump_reader *r, const char *name, size_t sample, size_t head, size_t row,
                             size_t n_rows, void *ret, struct error *err)
{
    hsize_t start[4] = {sample, head, row, 0}, count[4] = {1, 1, n_rows, 0};
    struct tensor *t = NULL;
    size_t n;

    TRY(find_tensor(r, name, &t, err));
    if (sample >= t->dim[0] || head >= t->dim[1] || row > t->dim[2] || n_rows > t->dim[2] - row ||
        !size_mul(n_rows, t->dim[3], &n))
        return error_set(err, ERR_INTERNAL, "rows %zu + %zu of '%s' do not exist", row, n_rows, name);
    count[3] = t->dim[3];
    if (n == 0)
        return OK;
    if (t->is_chunked)
        TRY(h5chunk_rows(&t->chunks, &t->ds, sample, head, row, n_rows, ret, err));
    else
        TRY(read_part(&t->ds, 4, start, count, n, t->type.id, ret, err));
    if (t->is_swapped)
        dump_dtype_swap(ret, n, t->element);
    return OK;
}

/* "/model/layer_" and "/attn": the members of group "model" that are "layer_", digits, and hold "attn". */
static enum status hdf5_numbers(struct dump_reader *r, const char *before, const char *after, struct arena *arena,
                                char ***ret, size_t *ret_n, struct error *err)
{
    const char *slash = strrchr(before, '/'), *rest = strchr(after, '/');
    const char *prefix = slash ? slash + 1 : before;
    size_t n_names = 0, n = 0, skip = strlen(prefix), tail = rest ? (size_t)(rest - after) : strlen(after), i;
    char **names = NULL, **texts = NULL, path[256];
    AUTO(h5) group = {0};

    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - before) : 0, before);
    TRY(open_path(&self(r)->file, path, false, &group, err));
    TRY(h5_names(&group, arena, &names, &n_names, err));
    TRY(arena_new(arena, n_names, sizeof *texts, &texts, err));
    for (i = 0; i < n_names; i++) {
        size_t len = strncmp(names[i], prefix, skip) == 0 ? strspn(names[i] + skip, "0123456789") : 0;

        if (len == 0 || strlen(names[i] + skip + len) != tail || strncmp(names[i] + skip + len, after, tail) != 0)
            continue;
        snprintf(path, sizeof path, "%.110s%.*s%.110s", before, (int)(len < 20 ? len : 20), names[i] + skip, after);
        if (!hdf5_has(r, path))
            continue;
        TRY(arena_strndup(arena, names[i] + skip, len, &texts[n], err));
        n++;
    }
    *ret = texts;
    *ret_n = n;
    return OK;
}

static enum status block_open(struct block *b, const struct h5 *file, const char *name, struct error *err)
{
    AUTO(h5id) space = {0};
    int rank;

    TRY(mem_strdup(name, &b->name, err));
    TRY(open_path(file, name, true, &b->ds, err));
    b->type.id = H5Dget_type(b->ds.id);
    space.id = H5Dget_space(b->ds.id);
    rank = space.id > 0 ? H5Sget_simple_extent_ndims(space.id) : -1;
    if (b->type.id < 0 || rank < 0)
        return h5_failed(&b->ds, ERR_FORMAT, "type or shape cannot be read", err);
    if (rank > DUMP_MAX_RANK)
        return h5_bad(&b->ds, err, "%d dimensions, %d are the limit", rank, (int)DUMP_MAX_RANK);
    b->rank = (size_t)rank;
    TRY(h5dtype_find(&b->ds, b->type.id, &b->dtype, &b->is_swapped, err));
    TRY(h5data_shape(&b->ds, b->rank, b->dim, err));
    TRY(h5data_check(&b->ds, MAX_RATIO, err));
    TRY(h5chunk_verify(&b->ds, err));
    b->element = H5Tget_size(b->type.id);
    return OK;
}

static enum status find_block(struct dump_reader *r, const char *name, struct block **ret, struct error *err)
{
    struct hdf5_reader *h = self(r);
    AUTO(block) b = {0};

    if (!h->block.name || strcmp(h->block.name, name) != 0) {
        TRY(block_open(&b, &h->file, name, err));
        block_done(&h->block);
        h->block = b;
        memset(&b, 0, sizeof b);
    }
    *ret = &h->block;
    return OK;
}

static enum status hdf5_shape(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err)
{
    struct block *b = NULL;

    TRY(find_block(r, name, &b, err));
    ret->dtype = b->dtype;
    ret->is_opaque = H5Tget_class(b->type.id) == H5T_OPAQUE;
    ret->rank = b->rank;
    memcpy(ret->dim, b->dim, sizeof ret->dim);
    return OK;
}

static enum status hdf5_block(struct dump_reader *r, const char *name, const size_t *at, size_t n_rows, void *ret,
                              struct error *err)
{
    hsize_t start[DUMP_MAX_RANK] = {0}, count[DUMP_MAX_RANK];
    struct block *b = NULL;
    size_t n, i;

    for (i = 0; i < N_OPEN; i++) /* of rank 4, and open already */
        if (self(r)->open[i].name && strcmp(self(r)->open[i].name, name) == 0)
            return hdf5_rows(r, name, at[0], at[1], at[2], n_rows, ret, err);
    TRY(find_block(r, name, &b, err));
    if (b->rank == 4)
        return hdf5_rows(r, name, at[0], at[1], at[2], n_rows, ret, err);
    for (i = 0; i < b->rank; i++) {
        start[i] = at[i];
        count[i] = 1;
    }
    if (b->rank < 2 || !size_mul(n_rows, b->dim[b->rank - 1], &n))
        return error_set(err, ERR_INTERNAL, "no rows in '%s'", name);
    count[b->rank - 2] = n_rows;
    count[b->rank - 1] = b->dim[b->rank - 1];
    if (n == 0)
        return OK;
    TRY(read_part(&b->ds, (int)b->rank, start, count, n, b->type.id, ret, err));
    if (b->is_swapped)
        dump_dtype_swap(ret, n, b->element);
    return OK;
}

static enum status hdf5_locate(struct dump_reader *r, const char *name, int *ret_fd, uint64_t *ret_offset,
                               struct error *err)
{
    struct tensor *t = NULL;
    void *handle = NULL;
    haddr_t at;

    TRY(find_tensor(r, name, &t, err));
    *ret_fd = -1;
    if (t->is_chunked || t->is_swapped)
        return OK;
    at = H5Dget_offset(t->ds.id); /* none for compact and chunked datasets, and where nothing was written */
    if (at != HADDR_UNDEF && H5Fget_vfd_handle(self(r)->file.id, H5P_DEFAULT, &handle) >= 0 && handle) {
        *ret_fd = *(const int *)handle;
        *ret_offset = at;
    }
    H5Eclear2(H5E_DEFAULT);
    return OK;
}

static bool hdf5_knows(const unsigned char *head, size_t n)
{
    return n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

const struct dump_format dump_hdf5 = {
    .name = "HDF5",
    .suffix = ".h5",
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
    .tensor = hdf5_tensor,
    .rows = hdf5_rows,
    .numbers = hdf5_numbers,
    .shape = hdf5_shape,
    .block = hdf5_block,
    .locate = hdf5_locate,
};
