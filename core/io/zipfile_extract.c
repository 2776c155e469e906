#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/zipfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK_BYTES = 1 << 18 };

/* A member that is being read from its beginning. */
struct stream {
    const struct zipfile *z;
    const struct zip_member *m;
    uint64_t at, left; /* packed bytes that were not read yet */
    z_stream inflate;  /* where the member is deflated */
    bool is_open, is_at_end;
    unsigned char in[CHUNK_BYTES];
};

static void stream_close(struct stream *s)
{
    if (s && s->is_open)
        inflateEnd(&s->inflate);
    free(s);
}

static enum status stream_open(const struct zipfile *z, const struct zip_member *m, struct stream **ret,
                               struct error *err)
{
    struct stream *s = NULL;

    TRY(mem_new(1, sizeof *s, &s, err));
    s->z = z;
    s->m = m;
    s->at = m->offset;
    s->left = m->packed;
    if (m->is_deflated && inflateInit2(&s->inflate, -MAX_WBITS) != Z_OK) {
        stream_close(s);
        return error_set(err, ERR_MEMORY, "no memory to inflate '%s'", z->path);
    }
    s->is_open = m->is_deflated;
    *ret = s;
    return OK;
}

static enum status take(struct stream *s, void *ret, size_t len, size_t *ret_len, struct error *err)
{
    size_t n = s->left < len ? (size_t)s->left : len;

    TRY(file_read_at(s->z->fd, s->z->path, s->at, ret, n, err));
    s->at += n;
    s->left -= n;
    *ret_len = n;
    return OK;
}

static enum status refill(struct stream *s, struct error *err)
{
    size_t n = 0;

    if (s->inflate.avail_in > 0 || s->left == 0)
        return OK; /* a few bytes of input can stand for more output than was asked for */
    TRY(take(s, s->in, sizeof s->in, &n, err));
    s->inflate.next_in = s->in;
    s->inflate.avail_in = (uInt)n;
    return OK;
}

/* Up to len uncompressed bytes, fewer only at the end. */
static enum status stream_read(struct stream *s, unsigned char *ret, size_t len, size_t *ret_len, struct error *err)
{
    if (!s->m->is_deflated)
        return take(s, ret, len, ret_len, err);
    s->inflate.next_out = ret;
    s->inflate.avail_out = (uInt)len;
    while (s->inflate.avail_out > 0 && !s->is_at_end) {
        int got;

        TRY(refill(s, err));
        got = inflate(&s->inflate, Z_NO_FLUSH);
        if (got == Z_MEM_ERROR)
            return error_set(err, ERR_MEMORY, "no memory to inflate '%s'", s->z->path);
        if (got == Z_BUF_ERROR && s->left == 0)
            return zipfile_bad(s->z, s->m, err, "the compressed bytes end too early, at byte %llu of the file",
                               (unsigned long long)s->at);
        if (got != Z_OK && got != Z_STREAM_END)
            return zipfile_bad(s->z, s->m, err, "the compressed bytes are damaged before byte %llu of the file",
                               (unsigned long long)(s->at - s->inflate.avail_in));
        s->is_at_end = got == Z_STREAM_END;
    }
    *ret_len = len - s->inflate.avail_out;
    return OK;
}

enum status zipfile_peek(const struct zipfile *z, const struct zip_member *m, void *ret, size_t len, size_t *ret_len,
                         struct error *err)
{
    struct stream *s = NULL;
    enum status st;

    TRY(stream_open(z, m, &s, err));
    st = stream_read(s, ret, len < m->size ? len : (size_t)m->size, ret_len, err);
    stream_close(s);
    return st;
}

static enum status write_all(const struct zipfile *z, int out, const unsigned char *p, size_t len, struct error *err)
{
    while (len > 0) {
        ssize_t n = write(out, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(err, ERR_IO,
                             "'%s': cannot be unpacked to a temporary file: %s; name a folder with room in TMPDIR",
                             z->path, strerror(n < 0 ? errno : ENOSPC));
        p += n;
        len -= (size_t)n;
    }
    return OK;
}

static enum status copy_all(struct stream *s, unsigned char *chunk, int out, struct error *err)
{
    uLong crc = crc32(0, NULL, 0);
    uint64_t total = 0;
    size_t n = 0;

    do {
        TRY(stream_read(s, chunk, CHUNK_BYTES, &n, err));
        total += n;
        if (total > s->m->size)
            break;
        crc = crc32(crc, chunk, (uInt)n);
        if (out >= 0)
            TRY(write_all(s->z, out, chunk, n, err));
    } while (n == CHUNK_BYTES);
    if (total != s->m->size || s->left + s->inflate.avail_in > 0)
        return zipfile_bad(s->z, s->m, err, "unpacks to another size than the %llu bytes that the directory gives",
                           (unsigned long long)s->m->size);
    if ((uint32_t)crc != s->m->crc)
        return zipfile_bad(s->z, s->m, err,
                           "its bytes have the CRC-32 %08lx, the directory says %08lx; the file is damaged, copy or "
                           "write it again",
                           (unsigned long)crc, (unsigned long)s->m->crc);
    return OK;
}

enum status zipfile_extract(const struct zipfile *z, const struct zip_member *m, int out, struct error *err)
{
    unsigned char *chunk = NULL;
    struct stream *s = NULL;
    enum status st;

    TRY(mem_new(CHUNK_BYTES, 1, &chunk, err));
    st = stream_open(z, m, &s, err);
    if (st == OK)
        st = copy_all(s, chunk, out, err);
    stream_close(s);
    free(chunk);
    return st;
}
