#include "core/io/flat.h"

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump_dtype.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status flat_bad(const struct flat *f, const char *name, struct error *err, const char *fmt, ...)
{
    char why[420];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at '%.100s': %s", f->path, name, why);
}

enum status flat_open(struct flat *f, const char *path, struct error *err)
{
    struct stat sb;

    f->path = path;
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &sb))
        return error_set(err, ERR_IO, "'%s': cannot open: %s", path, strerror(errno));
    if (!S_ISREG(sb.st_mode))
        return error_set(err, ERR_IO, "'%s': is no regular file; copy its bytes into one", path);
    f->bytes = (uint64_t)sb.st_size;
    return OK;
}

void flat_close(struct flat *f)
{
    if (f->fd >= 0)
        close(f->fd);
    json_done(&f->attrs);
    arena_done(&f->arena);
    memset(f, 0, sizeof *f);
    f->fd = -1;
}

enum status flat_reserve(struct flat *f, size_t n, struct error *err)
{
    return arena_new(&f->arena, n, sizeof *f->arrays, &f->arrays, err);
}

static int by_name(const void *a, const void *b)
{
    const struct flat_array *x = a, *y = b;

    return strcmp(x->name, y->name);
}

enum status flat_sort(struct flat *f, struct error *err)
{
    size_t i;

    qsort(f->arrays, f->n_arrays, sizeof *f->arrays, by_name);
    for (i = 1; i < f->n_arrays; i++)
        if (strcmp(f->arrays[i - 1].name, f->arrays[i].name) == 0)
            return flat_bad(f, f->arrays[i].name, err, "the name stands there twice");
    return OK;
}

bool flat_size(const struct flat_array *a, size_t *ret_n, size_t *ret_bytes)
{
    size_t n = 1, i;

    if (a->rank > FLAT_MAX_RANK)
        return false;
    for (i = 0; i < a->rank; i++)
        if (!size_mul(n, a->dim[i], &n))
            return false;
    *ret_n = n;
    return size_mul(n, a->element, ret_bytes);
}

const struct flat_array *flat_find(const struct flat *f, const char *dotted)
{
    char name[256];
    struct flat_array key = {.name = name};

    if (strlen(dotted) >= sizeof name)
        return NULL;
    memcpy(name, dotted, strlen(dotted) + 1);
    return f->n_arrays ? bsearch(&key, f->arrays, f->n_arrays, sizeof *f->arrays, by_name) : NULL;
}

enum status flat_read(struct flat *f, const struct flat_array *a, size_t first, size_t n, void *ret, struct error *err)
{
    int fd = -1;

    if (first > a->n || n > a->n - first)
        return error_set(err, ERR_INTERNAL, "elements %zu + %zu of '%s' do not exist", first, n, a->name);
    if (n == 0)
        return OK;
    TRY(f->source(f, a, &fd, err));
    TRY(file_read_at(fd, f->path, a->offset + (uint64_t)first * a->element, ret, n * a->element, err));
    if (a->is_swapped)
        dump_dtype_swap(ret, n, a->element);
    return OK;
}
