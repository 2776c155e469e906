#include "core/io/zipfile.h"

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PKWARE, APPNOTE.TXT - .ZIP File Format Specification; the numbers of its sections stand beside each part.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT */

enum {
    LOCAL_BYTES = 30,   /* 4.3.7  */
    ENTRY_BYTES = 46,   /* 4.3.12 */
    END_BYTES = 22,     /* 4.3.16 */
    END64_BYTES = 56,   /* 4.3.14 */
    LOCATOR_BYTES = 20, /* 4.3.15 */
    MAX_COMMENT = 65535,
    MAX_MEMBERS = 1 << 17,
    MAX_DIRECTORY = 256 << 20
};

/* DEFLATE gives at most 1032 bytes for one. */
enum { DEFLATE_RATIO = 1032 };

/* Where the directory stands. */
struct directory {
    uint64_t offset, bytes, n_members;
};

static uint64_t get(const unsigned char *p, int n_bytes)
{
    uint64_t value = 0;
    int i;

    for (i = n_bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

static bool is_at(const unsigned char *p, const char *signature)
{
    return memcmp(p, signature, 4) == 0;
}

static enum status bad_archive(const struct zipfile *z, struct error *err, const char *why)
{
    return error_set(err, ERR_FORMAT, "'%s': %s; it may be truncated or damaged, copy or write it again", z->path, why);
}

enum status zipfile_bad(const struct zipfile *z, const struct zip_member *m, struct error *err, const char *fmt, ...)
{
    char why[420];
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return error_set(err, ERR_FORMAT, "'%s' at '%.100s': %s", z->path, m->name, why);
}

void zipfile_done(struct zipfile *z)
{
    arena_done(&z->arena);
    memset(z, 0, sizeof *z);
}

/* 4.3.14, 4.3.15: the wide form of the end record, found through a locator before the narrow one. */
static enum status read_end64(const struct zipfile *z, uint64_t end, struct directory *dir, struct error *err)
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    uint64_t at;

    if (end < LOCATOR_BYTES)
        return bad_archive(z, err, "the zip archive has no end record of 64 bits");
    TRY(file_read_at(z->fd, z->path, end - LOCATOR_BYTES, locator, sizeof locator, err));
    at = get(locator + 8, 8);
    if (!is_at(locator, "PK\6\7") || end - LOCATOR_BYTES < END64_BYTES || at > end - LOCATOR_BYTES - END64_BYTES)
        return bad_archive(z, err, "the zip archive has no end record of 64 bits");
    TRY(file_read_at(z->fd, z->path, at, record, sizeof record, err));
    if (!is_at(record, "PK\6\6") || get(record + 16, 4) != 0 || get(record + 20, 4) != 0)
        return bad_archive(z, err, "the zip archive has no end record of 64 bits");
    dir->n_members = get(record + 32, 8);
    dir->bytes = get(record + 40, 8);
    dir->offset = get(record + 48, 8);
    return OK;
}

/* 4.3.16: the end record, which a comment may follow, so that it is looked for from the end of the file backwards. */
static enum status find_end(const struct zipfile *z, uint64_t *ret_at, unsigned char ret[END_BYTES], struct error *err)
{
    size_t len = z->bytes < END_BYTES + MAX_COMMENT ? (size_t)z->bytes : END_BYTES + MAX_COMMENT, at;
    unsigned char *tail = NULL;
    enum status st;

    if (len < END_BYTES)
        return bad_archive(z, err, "too few bytes for a zip archive");
    TRY(mem_new(len, 1, &tail, err));
    st = file_read_at(z->fd, z->path, z->bytes - len, tail, len, err);
    for (at = len - END_BYTES; st == OK; at--) {
        if (is_at(tail + at, "PK\5\6") && get(tail + at + 20, 2) == len - END_BYTES - at)
            break;
        if (at == 0)
            st = bad_archive(z, err, "the zip archive has no end record, the last thing in the file");
    }
    if (st == OK) {
        *ret_at = z->bytes - len + at;
        memcpy(ret, tail + at, END_BYTES);
    }
    free(tail);
    return st;
}

static enum status find_directory(const struct zipfile *z, struct directory *ret, struct error *err)
{
    unsigned char end[END_BYTES];
    struct directory dir;
    uint64_t at = 0;

    TRY(find_end(z, &at, end, err));
    dir.n_members = get(end + 10, 2);
    dir.bytes = get(end + 12, 4);
    dir.offset = get(end + 16, 4);
    if (dir.n_members == 0xffff || dir.bytes == 0xffffffff || dir.offset == 0xffffffff)
        TRY(read_end64(z, at, &dir, err));
    else if (get(end + 4, 2) != 0 || get(end + 6, 2) != 0)
        return error_set(err, ERR_FORMAT, "'%s': one part of a split zip archive; join the parts", z->path);
    if (dir.bytes > at || dir.offset > at - dir.bytes)
        return bad_archive(z, err, "the directory of the zip archive does not lie in the file");
    if (dir.n_members > MAX_MEMBERS || dir.bytes > MAX_DIRECTORY)
        return error_set(err, ERR_LIMIT, "'%s': %llu members described in %llu bytes, %d and %d are the limits",
                         z->path, (unsigned long long)dir.n_members, (unsigned long long)dir.bytes, (int)MAX_MEMBERS,
                         (int)MAX_DIRECTORY);
    if (dir.n_members > dir.bytes / ENTRY_BYTES)
        return bad_archive(z, err, "the directory of the zip archive is too short for its members");
    *ret = dir;
    return OK;
}

/* 4.5.3: sizes and place of a member where 32 bits are too few; each is there only if its narrow form is all ones. */
static bool widen(const unsigned char *extra, size_t len, struct zip_member *m)
{
    uint64_t *const fields[] = {&m->size, &m->packed, &m->header};
    size_t i;

    while (len >= 4) {
        size_t part = (size_t)get(extra + 2, 2);

        if (part > len - 4)
            return false;
        if (get(extra, 2) != 1) {
            extra += 4 + part;
            len -= 4 + part;
            continue;
        }
        for (extra += 4, i = 0; i < 3; i++) {
            if (*fields[i] != 0xffffffff)
                continue;
            if (part < 8)
                return false;
            *fields[i] = get(extra, 8);
            extra += 8;
            part -= 8;
        }
        return true;
    }
    return m->size != 0xffffffff && m->packed != 0xffffffff && m->header != 0xffffffff;
}

static enum status take_name(struct zipfile *z, const unsigned char *text, size_t len, struct zip_member *m,
                             struct error *err)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] == 0x7f)
            return bad_archive(z, err, "a member of the zip archive has control characters in its name");
    if (!texts_is_utf8((const char *)text, len))
        return bad_archive(z, err, "a member of the zip archive has a name that is not valid UTF-8");
    return arena_strndup(&z->arena, (const char *)text, len, &m->name, err);
}

static enum status check_method(const struct zipfile *z, const struct zip_member *m, unsigned method, unsigned flags,
                                struct error *err)
{
    static const struct {
        unsigned method;
        const char *name;
    } methods[] = {{9, "Deflate64"}, {12, "bzip2"}, {14, "LZMA"}, {93, "Zstandard"}, {95, "xz"}};
    const char *name = "an unknown method";
    size_t i;

    if (flags & 0x2041)
        return zipfile_bad(z, m, err, "is encrypted; write it without a password");
    for (i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i].method == method)
            name = methods[i].name;
    if (method != 0 && method != 8)
        return zipfile_bad(z, m, err,
                           "is compressed by %s (method %u); write it with numpy.savez or numpy.savez_compressed", name,
                           method);
    return OK;
}

/* 4.3.12: one entry of the directory; *ret_used bytes of it. */
static enum status read_entry(struct zipfile *z, const unsigned char *p, size_t len, struct zip_member *m,
                              size_t *ret_used, struct error *err)
{
    size_t name_len, extra_len, used;

    if (len < ENTRY_BYTES || !is_at(p, "PK\1\2"))
        return bad_archive(z, err, "the directory of the zip archive is damaged");
    name_len = (size_t)get(p + 28, 2);
    extra_len = (size_t)get(p + 30, 2);
    used = ENTRY_BYTES + name_len + extra_len + (size_t)get(p + 32, 2);
    if (used > len)
        return bad_archive(z, err, "the directory of the zip archive is damaged");
    TRY(take_name(z, p + ENTRY_BYTES, name_len, m, err));
    TRY(check_method(z, m, (unsigned)get(p + 10, 2), (unsigned)get(p + 8, 2), err));
    m->is_deflated = get(p + 10, 2) == 8;
    m->crc = (uint32_t)get(p + 16, 4);
    m->packed = get(p + 20, 4);
    m->size = get(p + 24, 4);
    m->header = get(p + 42, 4);
    if (!widen(p + ENTRY_BYTES + name_len, extra_len, m))
        return zipfile_bad(z, m, err, "the directory gives no size; the archive is damaged");
    if (m->is_deflated ? m->size / DEFLATE_RATIO > m->packed : m->size != m->packed)
        return zipfile_bad(z, m, err, "claims %llu bytes, but stores %llu", (unsigned long long)m->size,
                           (unsigned long long)m->packed);
    *ret_used = used;
    return OK;
}

/* Sizes and CRC-32 may be left to the directory (4.4.4, bit 3), and sizes stand elsewhere where they are all ones. */
static bool says_the_same(const unsigned char *head, const struct zip_member *m)
{
    uint64_t packed = get(head + 18, 4), size = get(head + 22, 4);

    if ((get(head + 8, 2) == 8) != m->is_deflated)
        return false;
    if (get(head + 6, 2) & 8)
        return true;
    return get(head + 14, 4) == m->crc && (packed == 0xffffffff || packed == m->packed) &&
           (size == 0xffffffff || size == m->size);
}

/* 4.3.7: the header before the packed bytes must be that of the directory. */
static enum status check_local(const struct zipfile *z, struct zip_member *m, uint64_t limit, struct error *err)
{
    unsigned char head[LOCAL_BYTES], name[1024];
    size_t name_len = strlen(m->name), part = name_len < sizeof name ? name_len : sizeof name;

    if (m->header > limit || limit - m->header < LOCAL_BYTES + (uint64_t)name_len)
        return zipfile_bad(z, m, err, "its header would begin at byte %llu, the directory begins at %llu",
                           (unsigned long long)m->header, (unsigned long long)limit);
    TRY(file_read_at(z->fd, z->path, m->header, head, sizeof head, err));
    TRY(file_read_at(z->fd, z->path, m->header + LOCAL_BYTES, name, part, err));
    if (!is_at(head, "PK\3\4") || get(head + 26, 2) != name_len || memcmp(name, m->name, part) != 0)
        return zipfile_bad(z, m, err, "at byte %llu, where its header must be, is none of that name",
                           (unsigned long long)m->header);
    if (!says_the_same(head, m))
        return zipfile_bad(z, m, err, "its header at byte %llu contradicts the directory",
                           (unsigned long long)m->header);
    m->offset = m->header + LOCAL_BYTES + name_len + get(head + 28, 2);
    if (m->offset > limit || m->packed > limit - m->offset)
        return zipfile_bad(z, m, err, "its %llu bytes from %llu on do not fit before the directory at byte %llu",
                           (unsigned long long)m->packed, (unsigned long long)m->offset, (unsigned long long)limit);
    return OK;
}

static int by_place(const void *a, const void *b)
{
    const struct zip_member *x = *(struct zip_member *const *)a, *y = *(struct zip_member *const *)b;

    return (x->header > y->header) - (x->header < y->header);
}

static int by_name(const void *a, const void *b)
{
    const struct zip_member *x = *(struct zip_member *const *)a, *y = *(struct zip_member *const *)b;

    return strcmp(x->name, y->name);
}

/* Bytes that two members share are how small archives unpack to petabytes; of two members of one name every reader
 * takes another. */
static enum status check_members(const struct zipfile *z, struct zip_member **order, struct error *err)
{
    size_t i;

    for (i = 0; i < z->n_members; i++)
        order[i] = &z->members[i];
    qsort(order, z->n_members, sizeof *order, by_place);
    for (i = 1; i < z->n_members; i++)
        if (order[i]->header < order[i - 1]->offset + order[i - 1]->packed)
            return zipfile_bad(z, order[i], err, "begins at byte %llu, inside '%.100s'",
                               (unsigned long long)order[i]->header, order[i - 1]->name);
    qsort(order, z->n_members, sizeof *order, by_name);
    for (i = 1; i < z->n_members; i++)
        if (strcmp(order[i]->name, order[i - 1]->name) == 0)
            return zipfile_bad(z, order[i], err, "the name stands in the archive twice, at bytes %llu and %llu",
                               (unsigned long long)order[i - 1]->header, (unsigned long long)order[i]->header);
    return OK;
}

static enum status read_entries(struct zipfile *z, const struct directory *dir, const unsigned char *bytes,
                                struct error *err)
{
    struct zip_member **order = NULL;
    size_t used = 0, i;
    enum status st;

    TRY(arena_new(&z->arena, (size_t)dir->n_members, sizeof *z->members, &z->members, err));
    for (i = 0; i < dir->n_members; i++) {
        size_t n = 0;

        TRY(read_entry(z, bytes + used, (size_t)dir->bytes - used, &z->members[i], &n, err));
        TRY(check_local(z, &z->members[i], dir->offset, err));
        used += n;
    }
    if (used != dir->bytes)
        return bad_archive(z, err, "the directory of the zip archive has more entries than its end record says");
    z->n_members = (size_t)dir->n_members;
    TRY(mem_new(z->n_members, sizeof *order, &order, err));
    st = check_members(z, order, err);
    free(order);
    return st;
}

enum status zipfile_read(struct zipfile *z, const char *path, int fd, uint64_t bytes, struct error *err)
{
    unsigned char *directory = NULL;
    struct directory dir = {0};
    enum status st;

    z->path = path;
    z->fd = fd;
    z->bytes = bytes;
    TRY(find_directory(z, &dir, err));
    TRY(mem_new((size_t)dir.bytes, 1, &directory, err));
    st = file_read_at(fd, path, dir.offset, directory, (size_t)dir.bytes, err);
    if (st == OK)
        st = read_entries(z, &dir, directory, err);
    free(directory);
    return st;
}
