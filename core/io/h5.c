#include "core/io/h5.h"

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 1024, MAX_MEMBERS = 1 << 20, MAX_ALL_NAMES = 1 << 20 };

void h5_done(struct h5 *h)
{
    if (h->id > 0)
        H5Idec_ref(h->id);
    h->id = 0;
}

struct h5 h5_take(struct h5 *from)
{
    struct h5 h = *from;

    from->id = 0;
    return h;
}

void h5id_done(struct h5id *h)
{
    if (h->id > 0)
        H5Idec_ref(h->id);
    h->id = 0;
}

enum status h5_bad(const struct h5 *at, struct error *err, const char *fmt, ...)
{
    char why[480];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at %s: %s", at->file, at->path, why);
}

/* Keeps the innermost entry of the library's error stack, which is the cause: of a failed read or write the system's
 * words alone, without the time, addresses and the temporary name that stand around them. */
static herr_t keep_reason(unsigned n, const H5E_error2_t *entry, void *reason)
{
    static const char mark[] = "error message = '";
    const char *text = entry->desc;
    const char *inner = text ? strstr(text, mark) : NULL;

    if (n == 0 && inner) {
        inner += sizeof mark - 1;
        snprintf(reason, 200, "%.*s", (int)strcspn(inner, "'"), inner);
    } else if (n == 0 && text) {
        snprintf(reason, 200, "%s", text);
    }
    return 0;
}

enum status h5_failed(const struct h5 *at, enum status code, const char *what, struct error *err)
{
    char reason[200] = "no reason given";

    if (H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason) < 0)
        reason[0] = '\0';
    H5Eclear2(H5E_DEFAULT);
    return error_set(err, code, "'%s' at %s: %s: HDF5 says '%s'", at->file, at->path, what, reason);
}

/* The library prints nothing, and knows no links that lead to other files. */
static enum status library_init(struct error *err)
{
    /* After a failed write the library's clean-up at exit crashes. All that was opened is closed by then. */
    H5dont_atexit();
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0)
        return error_set(err, ERR_MEMORY, "no memory to start the HDF5 library");
    if (H5Lis_registered(H5L_TYPE_EXTERNAL) > 0 && H5Lunregister(H5L_TYPE_EXTERNAL) < 0)
        return error_set(err, ERR_INTERNAL, "the HDF5 library keeps its external links");
    return OK;
}

/* Superblocks of version 3 say in their 12th byte whether somebody writes (1), and whether others may read meanwhile
 * (4).
 */
static bool is_marked_open(const char *path)
{
    unsigned char head[12] = {0};
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;

    if (f)
        fclose(f);
    return n == sizeof head && head[8] >= 3 && (head[11] & 5) != 0;
}

enum status h5_open(struct h5 *ret, const char *path, struct error *err)
{
    struct h5 f = {.file = path, .path = "/"};
    uint64_t bytes;

    TRY(file_check_regular(path, err));
    TRY(file_size(path, &bytes, err));
    if (bytes == 0)
        return error_set(err, ERR_FORMAT, "'%s': the file is empty; write it again", path);
    TRY(library_init(err));
    if (H5Fis_hdf5(path) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        return error_set(err, ERR_FORMAT,
                         "'%s': not an HDF5 file, as its first bytes tell: name a run file or an attention dump", path);
    }
    f.id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (f.id < 0 && is_marked_open(path))
        return h5_failed(
            &f, ERR_FORMAT,
            "the HDF5 file is marked as being written: wait for its recorder; where that is gone, 'h5clear -s' "
            "takes the mark off, and what was not flushed is missing",
            err);
    if (f.id < 0)
        return h5_failed(&f, ERR_FORMAT,
                         "the HDF5 file cannot be opened; it may be truncated or damaged, copy or write it again", err);
    *ret = f;
    return OK;
}

enum status h5_create(struct h5 *ret, const char *path, const char *shown, struct error *err)
{
    struct h5 f = {.file = shown, .path = "/"};
    AUTO(h5id) list = {0};

    TRY(library_init(err));
    list.id = H5Pcreate(H5P_FILE_CREATE);
    if (list.id < 0 || H5Pset_obj_track_times(list.id, false) < 0)
        return h5_failed(&f, ERR_INTERNAL, "no property list", err);
    f.id = H5Fcreate(path, H5F_ACC_TRUNC, list.id, H5P_DEFAULT);
    if (f.id < 0)
        return h5_failed(&f, ERR_IO, "cannot create the file", err);
    *ret = f;
    return OK;
}

enum status h5_close(struct h5 *f, struct error *err)
{
    enum status st = OK;

    if (H5Fflush(f->id, H5F_SCOPE_GLOBAL) < 0)
        st = h5_failed(f, ERR_IO, "cannot write the file", err);
    if (H5Fclose(f->id) < 0)
        st = h5_failed(f, ERR_IO, "cannot write the file", err);
    f->id = 0;
    return st;
}

bool h5_has(const struct h5 *at, const char *name)
{
    bool has = H5Lexists(at->id, name, H5P_DEFAULT) > 0 && H5Oexists_by_name(at->id, name, H5P_DEFAULT) > 0;

    H5Eclear2(H5E_DEFAULT);
    return has;
}

static void step(const struct h5 *at, const char *name, struct h5 *ret)
{
    char path[sizeof ret->path];

    snprintf(path, sizeof path, "%.*s/%.*s", 110, strcmp(at->path, "/") == 0 ? "" : at->path, 48, name);
    memcpy(ret->path, path, sizeof path);
    ret->file = at->file;
}

static enum status open_member(const struct h5 *at, const char *name, H5I_type_t type, struct h5 *ret,
                               struct error *err)
{
    const char *kind = type == H5I_GROUP ? "group" : "dataset";
    AUTO(h5) h = {0};

    if (H5Lexists(at->id, name, H5P_DEFAULT) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        return h5_bad(at, err, "no %s '%s'", kind, name);
    }
    step(at, name, &h);
    h.id = H5Oopen(at->id, name, H5P_DEFAULT);
    if (h.id < 0)
        return h5_failed(&h, ERR_FORMAT, "cannot be opened (links to other files are not followed)", err);
    if (H5Iget_type(h.id) != type)
        return h5_bad(&h, err, "expected a %s, found something else", kind);
    *ret = h5_take(&h);
    return OK;
}

enum status h5_group(const struct h5 *at, const char *name, struct h5 *ret, struct error *err)
{
    return open_member(at, name, H5I_GROUP, ret, err);
}

enum status h5_dataset(const struct h5 *at, const char *name, struct h5 *ret, struct error *err)
{
    return open_member(at, name, H5I_DATASET, ret, err);
}

static enum status check_link(const struct h5 *group, const char *name, struct error *err)
{
    H5L_info_t info;

    if (H5Lget_info(group->id, name, &info, H5P_DEFAULT) < 0)
        return h5_failed(group, ERR_FORMAT, "the group cannot be listed", err);
    if (info.type == H5L_TYPE_EXTERNAL)
        return h5_bad(group, err, "'%s' is a link to another file; store in this one what it leads to", name);
    return OK;
}

enum status h5_names(const struct h5 *group, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    char name[MAX_NAME];
    H5G_info_t info;
    char **names = NULL;
    size_t i;

    if (H5Gget_info(group->id, &info) < 0)
        return h5_failed(group, ERR_FORMAT, "the group cannot be listed", err);
    if (info.nlinks > MAX_MEMBERS)
        return h5_bad(group, err, "%llu members are too many", (unsigned long long)info.nlinks);
    TRY(arena_new(arena, (size_t)info.nlinks, sizeof *names, &names, err));
    for (i = 0; i < info.nlinks; i++) {
        ssize_t len = H5Lget_name_by_idx(group->id, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);

        if (len < 0)
            return h5_failed(group, ERR_FORMAT, "the group cannot be listed", err);
        if ((size_t)len >= sizeof name)
            return h5_bad(group, err, "a member has a name of %zd bytes, %d are the limit", len, MAX_NAME - 1);
        TRY(check_link(group, name, err));
        TRY(arena_strdup(arena, name, &names[i], err));
    }
    *ret = names;
    *ret_n = (size_t)info.nlinks;
    return OK;
}

/* Names found so far. */
struct name_list {
    struct arena *arena;
    char **names; /* owned */
    size_t n, cap;
    enum status st;
    struct error *err;
};

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    struct name_list *list = context;

    (void)group;
    if (info->type == H5L_TYPE_EXTERNAL)
        return 0;
    if (list->n >= MAX_ALL_NAMES)
        list->st = error_set(list->err, ERR_LIMIT, "more than %d objects in one file", (int)MAX_ALL_NAMES);
    if (list->st == OK)
        list->st = mem_grow(&list->names, &list->cap, list->n + 1, sizeof *list->names, list->err);
    if (list->st == OK)
        list->st = arena_strdup(list->arena, name, &list->names[list->n], list->err);
    if (list->st != OK)
        return -1;
    list->n++;
    return 0;
}

enum status h5_all_names(const struct h5 *file, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    struct name_list list = {.arena = arena, .err = err};
    bool is_listed = H5Lvisit(file->id, H5_INDEX_NAME, H5_ITER_INC, add_name, &list) >= 0;
    char **names = NULL;
    enum status st = list.st;

    if (st == OK && !is_listed)
        st = h5_failed(file, ERR_FORMAT, "the file cannot be listed", err);
    if (st == OK)
        st = arena_new(arena, list.n, sizeof *names, &names, err);
    if (st == OK && list.n > 0)
        memcpy(names, list.names, list.n * sizeof *names);
    free(list.names);
    TRY(st);
    *ret = names;
    *ret_n = list.n;
    return OK;
}

enum status h5_comment(const struct h5 *h, const char *text, struct error *err)
{
    if (H5Oset_comment(h->id, text[0] ? text : NULL) < 0)
        return h5_failed(h, ERR_IO, "the comment cannot be written", err);
    return OK;
}

enum status h5_explain(const struct h5 *h, const char *help, struct error *err)
{
    TRY(h5attr_put_text(h, "help", help, err));
    return h5_comment(h, help, err);
}

enum status h5_make_group(const struct h5 *at, const char *name, const char *help, struct h5 *ret, struct error *err)
{
    AUTO(h5id) list = {0};
    AUTO(h5) h = {0};

    step(at, name, &h);
    list.id = H5Pcreate(H5P_GROUP_CREATE);
    if (list.id < 0 || H5Pset_obj_track_times(list.id, false) < 0)
        return h5_failed(&h, ERR_INTERNAL, "no property list", err);
    h.id = H5Gcreate2(at->id, name, H5P_DEFAULT, list.id, H5P_DEFAULT);
    if (h.id < 0)
        return h5_failed(&h, ERR_IO, "the group cannot be written", err);
    TRY(h5_explain(&h, help, err));
    *ret = h5_take(&h);
    return OK;
}
