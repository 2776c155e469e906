#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/flat_format.h"
#include "core/io/npy.h"

#include <stdlib.h>
#include <string.h>

/* One array and nothing else: what it holds must be said by a layout map, which calls it "array". */

static void npy_free(struct dump_reader *r)
{
    flat_close((struct flat *)(void *)r);
    free(r);
}

static enum status npy_source(struct flat *f, const struct flat_array *a, int *ret_fd, struct error *err)
{
    (void)a;
    (void)err;
    *ret_fd = f->fd;
    return OK;
}

static enum status read_all(struct flat *f, const char *path, struct error *err)
{
    size_t len;
    char *peek = NULL;

    TRY(flat_open(f, path, err));
    f->attr_in = "the layout";
    len = f->bytes < NPY_PEEK_BYTES ? (size_t)f->bytes : NPY_PEEK_BYTES;
    TRY(arena_new(&f->arena, len, 1, &peek, err));
    TRY(file_read_at(f->fd, path, 0, peek, len, err));
    TRY(flat_reserve(f, 1, err));
    TRY(arena_strdup(&f->arena, "array", &f->arrays[0].name, err));
    TRY(npy_read(f, &f->arrays[0], (const unsigned char *)peek, len, f->bytes, &f->arena, err));
    f->n_arrays = 1;
    return OK;
}

static enum status npy_open(const char *path, struct dump_reader **ret, struct error *err)
{
    struct flat *f = NULL;
    enum status st;

    TRY(mem_new(1, sizeof *f, &f, err));
    f->base.format = &dump_npy;
    f->source = npy_source;
    f->fd = -1;
    st = read_all(f, path, err);
    if (st != OK) {
        npy_free(&f->base);
        return st;
    }
    *ret = &f->base;
    return OK;
}

static bool npy_knows(const unsigned char *head, size_t n)
{
    return n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

const struct dump_format dump_npy = {
    .name = "npy",
    .suffix = ".npy",
    .enters_freely = true,
    .knows = npy_knows,
    .open = npy_open,
    .free = npy_free,
    FLAT_ANSWERS,
};
