#include "core/io/flat.h"

#include "core/base/checked.h"
#include "core/base/file.h"
#include "core/base/mem.h"
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

    f->path = f->base.path = path;
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

/* Runs of a part that lie near each other are read together with what is between them, this much at a time. */
enum { GATHER_BYTES = 1 << 20, FAR_BYTES = 1 << 13 };

/* A part as runs of `run` elements, `n` of them `stride` elements apart, over and over along the outer dimensions. */
struct runs {
    size_t run, n, stride, outer_rank;
};

/* Dimensions that are taken whole belong to the run of the one before them. */
static struct runs find_runs(const struct flat_array *a, const size_t *start, const size_t *count)
{
    struct runs r = {.run = 1, .n = 1};
    size_t i = a->rank;

    while (i > 0 && count[i - 1] == a->dim[i - 1] && start[i - 1] == 0)
        r.run *= count[--i];
    r.stride = r.run;
    if (i > 0)
        r.run *= count[--i];
    if (i > 0) {
        r.stride *= a->dim[i];
        r.n = count[--i];
    }
    r.outer_rank = i;
    return r;
}

static enum status read_far_runs(struct flat *f, const struct flat_array *a, const struct runs *r, size_t first,
                                 unsigned char *ret, struct error *err)
{
    size_t i;

    for (i = 0; i < r->n; i++)
        TRY(flat_read(f, a, first + i * r->stride, r->run, ret + i * r->run * a->element, err));
    return OK;
}

static enum status read_near_runs(struct flat *f, const struct flat_array *a, const struct runs *r, size_t first,
                                  unsigned char *scratch, unsigned char *ret, struct error *err)
{
    size_t most = GATHER_BYTES / (r->stride * a->element), i, j;

    for (i = 0; i < r->n; i += most) {
        size_t n = r->n - i < most ? r->n - i : most;

        TRY(flat_read(f, a, first + i * r->stride, (n - 1) * r->stride + r->run, scratch, err));
        for (j = 0; j < n; j++)
            memcpy(ret + (i + j) * r->run * a->element, scratch + j * r->stride * a->element, r->run * a->element);
    }
    return OK;
}

/* The runs below one index of the outer dimensions after the other. */
static enum status read_runs(struct flat *f, const struct flat_array *a, const size_t *start, const size_t *count,
                             const struct runs *r, unsigned char *scratch, unsigned char *ret, struct error *err)
{
    size_t at[FLAT_MAX_RANK], i;

    memcpy(at, start, a->rank * sizeof *at);
    for (;;) {
        size_t first = 0;

        for (i = 0; i < a->rank; i++)
            first = first * a->dim[i] + at[i];
        TRY(scratch ? read_near_runs(f, a, r, first, scratch, ret, err) : read_far_runs(f, a, r, first, ret, err));
        ret += r->n * r->run * a->element;
        for (i = r->outer_rank; i-- > 0;) {
            if (++at[i] < start[i] + count[i])
                break;
            at[i] = start[i];
        }
        if (i == SIZE_MAX)
            return OK;
    }
}

/* Of an array in C order. */
static enum status part_in_order(struct flat *f, const struct flat_array *a, const size_t *start, const size_t *count,
                                 void *ret, struct error *err)
{
    struct runs r = find_runs(a, start, count);
    unsigned char *scratch = NULL;
    enum status st;
    size_t i;

    for (i = 0; i < a->rank; i++)
        if (count[i] == 0)
            return OK;
    if (r.n > 1 && r.stride * a->element <= FAR_BYTES)
        TRY(mem_new(GATHER_BYTES, 1, &scratch, err));
    st = read_runs(f, a, start, count, &r, scratch, ret, err);
    free(scratch);
    return st;
}

/* A part of an array in Fortran order, which is one in C order whose dimensions stand the other way round, as `array`
 * has them. It is read one index of the outermost of these at a time; the others are taken whole from the last one on
 * as far as that is little, so that what is wanted lies in long runs. */
struct turned {
    struct flat_array array;
    size_t rank, from[FLAT_MAX_RANK], many[FLAT_MAX_RANK]; /* what is read at a time */
    size_t skip[FLAT_MAX_RANK];                            /* … of which the first are not wanted */
};

static size_t turn_round(struct turned *t, const struct flat_array *a, const size_t *start, const size_t *count)
{
    size_t bytes = a->element, i;

    t->array = *a;
    t->rank = a->rank;
    for (i = 0; i < t->rank; i++) {
        t->array.dim[i] = a->dim[t->rank - 1 - i];
        t->from[i] = start[t->rank - 1 - i];
        t->many[i] = i ? count[t->rank - 1 - i] : 1;
        bytes *= t->many[i]; /* no more than the array has, which was checked */
    }
    for (i = t->rank - 1; i > 0 && bytes / t->many[i] * t->array.dim[i] <= GATHER_BYTES; i--) {
        bytes = bytes / t->many[i] * t->array.dim[i];
        t->skip[i] = t->from[i];
        t->from[i] = 0;
        t->many[i] = t->array.dim[i];
    }
    return bytes;
}

/* From what was read for index `last` of the last dimension to its places in the part. */
static void put_turned(const struct turned *t, const unsigned char *values, const size_t *count, size_t last,
                       unsigned char *ret)
{
    size_t at[FLAT_MAX_RANK] = {0}, element = t->array.element, d = t->rank - 1, i;

    for (;;) {
        size_t source = 0, target = 0;

        for (i = 1; i < t->rank; i++) {
            source = source * t->many[i] + t->skip[i] + at[d - i];
            target = target * count[i - 1] + at[i - 1];
        }
        memcpy(ret + (target * count[d] + last) * element, values + source * element, element);
        for (i = d; i-- > 0;) {
            if (++at[i] < count[i])
                break;
            at[i] = 0;
        }
        if (i == SIZE_MAX)
            return;
    }
}

static enum status part_turned(struct flat *f, const struct flat_array *a, const size_t *start, const size_t *count,
                               void *ret, struct error *err)
{
    struct turned t = {.rank = 0};
    unsigned char *values = NULL;
    enum status st = OK;
    size_t i;

    for (i = 0; i < a->rank; i++)
        if (count[i] == 0)
            return OK;
    TRY(mem_new(turn_round(&t, a, start, count), 1, &values, err));
    for (i = 0; st == OK && i < count[a->rank - 1]; i++, t.from[0]++) {
        st = part_in_order(f, &t.array, t.from, t.many, values, err);
        if (st == OK)
            put_turned(&t, values, count, i, ret);
    }
    free(values);
    return st;
}

enum status flat_part(struct flat *f, const struct flat_array *a, const size_t *start, const size_t *count, void *ret,
                      struct error *err)
{
    return a->is_fortran && a->rank > 1 ? part_turned(f, a, start, count, ret, err)
                                        : part_in_order(f, a, start, count, ret, err);
}
