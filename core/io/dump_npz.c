#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/flat_format.h"
#include "core/io/flat_texts.h"
#include "core/io/npy.h"
#include "core/io/zipfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A zip archive of .npy files. Stored members are read in place, after their CRC-32 was checked once. Deflated ones
 * cannot be entered in the middle, and rows of a head are asked for out of order: they are inflated once into a
 * temporary file without a name, of any size and gone with the process, not into memory. */

/* Queries and keys are read in turn: two are open at a time. */
enum { N_SPILLS = 2 };

/* The largest deflated member; beyond it, deflate is the wrong choice. */
#define MAX_SPILL ((uint64_t)256 << 30)

/* Attributes: a few hundred bytes a layer. */
enum { MAX_META = 16 << 20 };

struct spill {
    int fd; /* -1 = none */
    size_t member;
};

struct npz_reader {
    struct flat flat;
    struct zipfile zip;
    bool *is_checked; /* owned: [zip.n_members] */
    struct spill spills[N_SPILLS];
    int newest;
};

static struct npz_reader *self(struct flat *f)
{
    return (struct npz_reader *)(void *)f;
}

static void spill_drop(struct spill *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

static void npz_free(struct dump_reader *r)
{
    struct npz_reader *z = (struct npz_reader *)(void *)r;
    int i;

    for (i = 0; i < N_SPILLS; i++)
        spill_drop(&z->spills[i]);
    free(z->is_checked);
    zipfile_done(&z->zip);
    flat_close(&z->flat);
    free(z);
}

/* /var/tmp is for what may be large; /tmp is memory on many systems. */
static const char *spill_folder(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && dir[0] ? dir : "/var/tmp";
}

static enum status open_unnamed(const char *dir, int *ret, struct error *err)
{
    char *name = NULL;
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0) { /* not every file system can */
        if (asprintf(&name, "%s/tare-XXXXXX", dir) < 0)
            return error_set(err, ERR_MEMORY, "no memory for a name");
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0)
            unlink(name);
        free(name);
    }
    if (fd < 0)
        return error_set(err, ERR_IO, "'%s': no temporary file can be made: %s; name another folder in TMPDIR", dir,
                         strerror(errno));
    *ret = fd;
    return OK;
}

static enum status check_room(const struct npz_reader *z, const struct zip_member *m, int fd, const char *dir,
                              struct error *err)
{
    struct statvfs fs;
    uint64_t room = fstatvfs(fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;

    if (m->size <= MAX_SPILL && m->size <= room)
        return OK;
    return error_set(
        err, ERR_LIMIT,
        "'%s' at '%.100s': unpacks to %llu bytes, '%s' has room for %llu, and %llu are the limit; write it "
        "uncompressed (numpy.savez), or name a larger folder in TMPDIR",
        z->flat.path, m->name, (unsigned long long)m->size, dir, (unsigned long long)room,
        (unsigned long long)MAX_SPILL);
}

static enum status spill_fill(struct npz_reader *z, struct spill *s, size_t member, struct error *err)
{
    const struct zip_member *m = &z->zip.members[member];
    const char *dir = spill_folder();
    enum status st;

    TRY(open_unnamed(dir, &s->fd, err));
    s->member = member;
    st = check_room(z, m, s->fd, dir, err);
    if (st == OK)
        st = zipfile_extract(&z->zip, m, s->fd, err);
    if (st != OK)
        spill_drop(s);
    return st;
}

static enum status inflated(struct npz_reader *z, size_t member, int *ret_fd, struct error *err)
{
    int i;

    for (i = 0; i < N_SPILLS; i++)
        if (z->spills[i].fd >= 0 && z->spills[i].member == member) {
            z->newest = i;
            *ret_fd = z->spills[i].fd;
            return OK;
        }
    i = (z->newest + 1) % N_SPILLS;
    spill_drop(&z->spills[i]);
    TRY(spill_fill(z, &z->spills[i], member, err));
    z->newest = i;
    *ret_fd = z->spills[i].fd;
    return OK;
}

/* Offsets of deflated arrays are those inside their member, of stored ones those in the archive. */
static enum status npz_source(struct flat *f, const struct flat_array *a, int *ret_fd, struct error *err)
{
    struct npz_reader *z = self(f);

    if (z->zip.members[a->member].is_deflated)
        return inflated(z, a->member, ret_fd, err);
    if (!z->is_checked[a->member])
        TRY(zipfile_extract(&z->zip, &z->zip.members[a->member], -1, err));
    z->is_checked[a->member] = true;
    *ret_fd = f->fd;
    return OK;
}

/* "layers.005.q.npy"; a pickle inside means that the archive is of PyTorch. */
static enum status name_array(struct flat *f, const char *member, struct flat_array *a, bool *ret_is_array,
                              struct error *err)
{
    size_t len = strlen(member);

    if ((len >= 8 && strcmp(member + len - 8, "data.pkl") == 0) || (len >= 4 && strcmp(member + len - 4, ".pkl") == 0))
        return error_set(err, ERR_FORMAT,
                         "'%s': a PyTorch file (it holds the pickle '%.100s'), which would have to be executed to be "
                         "read; save the tensors with safetensors.torch.save_file()",
                         f->path, member);
    *ret_is_array = len > 4 && strcmp(member + len - 4, ".npy") == 0;
    return *ret_is_array ? arena_strndup(&f->arena, member, len - 4, &a->name, err) : OK;
}

static enum status read_array(struct npz_reader *z, size_t member, unsigned char *peek, struct error *err)
{
    const struct zip_member *m = &z->zip.members[member];
    struct flat *f = &z->flat;
    struct flat_array *a = &f->arrays[f->n_arrays];
    bool is_array = false;
    size_t len = 0;

    TRY(name_array(f, m->name, a, &is_array, err));
    if (!is_array)
        return OK;
    a->member = member;
    TRY(zipfile_peek(&z->zip, m, peek, NPY_PEEK_BYTES, &len, err));
    TRY(npy_read(f, a, peek, len, m->size, &f->arena, err));
    if (!m->is_deflated)
        a->offset += m->offset;
    f->n_arrays++;
    return OK;
}

static enum status read_arrays(struct npz_reader *z, struct error *err)
{
    unsigned char *peek = NULL;
    enum status st = OK;
    size_t i;

    TRY(flat_reserve(&z->flat, z->zip.n_members, err));
    TRY(mem_new(NPY_PEEK_BYTES, 1, &peek, err));
    for (i = 0; st == OK && i < z->zip.n_members; i++)
        st = read_array(z, i, peek, err);
    free(peek);
    TRY(st);
    return flat_sort(&z->flat, err);
}

/* The attributes: JSON as UTF-8 in an array of bytes, or as a text. */
static enum status read_meta_text(struct flat *f, const struct flat_array *a, struct arena *arena, char **ret,
                                  size_t *ret_len, struct error *err)
{
    char **texts = NULL;
    size_t n = 0;

    if (a->rank == 1 && a->kind == FLAT_INTEGER && a->element == 1) {
        if (a->n > MAX_META)
            return flat_bad(f, a->name, err, "%zu bytes of attributes, %d are the limit", a->n, (int)MAX_META);
        TRY(arena_new(arena, a->n, 1, ret, err));
        *ret_len = a->n;
        return flat_read(f, a, 0, a->n, *ret, err);
    }
    if (a->n != 1)
        return flat_bad(f, a->name, err, "must be a list of uint8, the bytes of a JSON text, or one text");
    TRY(flat_texts_of_array(f, a, 1, arena, &texts, &n, err));
    *ret = texts[0];
    *ret_len = strlen(texts[0]);
    return OK;
}

static enum status read_meta(struct flat *f, struct error *err)
{
    const struct flat_array *a = flat_find(f, "meta_json");
    AUTO(arena) arena = {0};
    struct json_at top;
    char *text = NULL;
    size_t len = 0;

    f->attr_in = "meta_json";
    if (!a)
        return OK;
    TRY(read_meta_text(f, a, &arena, &text, &len, err));
    TRY(json_parse(&f->attrs, f->path, text, len, err));
    top = json_top(&f->attrs);
    return json_is(&top, JSON_OBJECT, err);
}

static enum status read_all(struct npz_reader *z, const char *path, struct error *err)
{
    enum status st;

    TRY(flat_open(&z->flat, path, err));
    TRY(zipfile_read(&z->zip, path, z->flat.fd, z->flat.bytes, err));
    TRY(mem_new(z->zip.n_members, sizeof *z->is_checked, &z->is_checked, err));
    TRY(read_arrays(z, err));
    st = read_meta(&z->flat, err);
    if (st != OK)
        error_context(err, "attributes in 'meta_json'");
    return st;
}

static enum status npz_open(const char *path, struct dump_reader **ret, struct error *err)
{
    struct npz_reader *z = NULL;
    enum status st;
    int i;

    TRY(mem_new(1, sizeof *z, &z, err));
    z->flat.base.format = &dump_npz;
    z->flat.source = npz_source;
    z->flat.fd = -1;
    for (i = 0; i < N_SPILLS; i++)
        z->spills[i].fd = -1;
    st = read_all(z, path, err);
    if (st != OK) {
        npz_free(&z->flat.base);
        return st;
    }
    *ret = &z->flat.base;
    return OK;
}

static bool npz_knows(const unsigned char *head, size_t n)
{
    return n >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

const struct dump_format dump_npz = {
    .name = "npz",
    .suffix = ".npz",
    .knows = npz_knows,
    .open = npz_open,
    .free = npz_free,
    FLAT_ANSWERS,
};
