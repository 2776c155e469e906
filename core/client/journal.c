#include "core/client/journal.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/client/journal_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static const char MAGIC[8] = {'T', 'A', 'R', 'E', 'J', 'R', 'N', '1'};

enum { FRAME = 8, MAX_HEADER_DIFF = 120 };
#define MAX_RECORD    ((size_t)1 << 30)
#define SYNC_EVERY_NS ((int64_t)1000000000)

void journal_done(struct journal *j)
{
    if (j->path && j->fd >= 0)
        close(j->fd);
    free(j->path);
    buf_done(&j->record);
    memset(j, 0, sizeof *j);
}

static enum status io_error(const char *path, const char *what, struct error *err)
{
    return error_set(err, ERR_IO, "'%s': the journal cannot be %s: %s", path, what, strerror(errno));
}

static int64_t thread_cpu_ns(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put_u32(unsigned char *at, uint32_t n)
{
    at[0] = (unsigned char)n;
    at[1] = (unsigned char)(n >> 8);
    at[2] = (unsigned char)(n >> 16);
    at[3] = (unsigned char)(n >> 24);
}

static uint32_t get_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static enum status write_all(struct journal *j, const char *bytes, size_t len, struct error *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(j->fd, bytes + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int why = errno;

            if (ftruncate(j->fd, (off_t)j->len) == 0) /* else the torn record is found by its checksum */
                lseek(j->fd, (off_t)j->len, SEEK_SET);
            errno = why;
            return error_set(err, ERR_IO,
                             "'%s': the journal cannot be written: %s: what is in it stays; make room, and go on with "
                             "--resume",
                             j->path, strerror(why));
        }
        done += (size_t)n;
    }
    j->len += len;
    return OK;
}

/* `record` holds FRAME bytes of room and the payload. */
static enum status write_record(struct journal *j, struct error *err)
{
    size_t len = j->record.len - FRAME;
    unsigned char *frame;

    TRY(buf_check(&j->record, err));
    if (len > MAX_RECORD)
        return error_set(err, ERR_LIMIT, "'%s': a record of %zu bytes is too long for the journal", j->path, len);
    frame = (unsigned char *)j->record.data;
    put_u32(frame, (uint32_t)len);
    put_u32(frame + 4, (uint32_t)crc32_z(0, frame + FRAME, len));
    return write_all(j, j->record.data, j->record.len, err);
}

static void begin_record(struct journal *j)
{
    buf_clear(&j->record);
    buf_append(&j->record, "\0\0\0\0\0\0\0", FRAME);
}

static enum status open_file(struct journal *j, const char *path, int flags, struct error *err)
{
    memset(j, 0, sizeof *j);
    j->fd = -1;
    TRY(mem_strdup(path, &j->path, err));
    j->fd = open(path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (j->fd < 0 && errno == EEXIST)
        return error_set(err, ERR_USAGE,
                         "'%s' is the journal of a run that did not finish: go on with --resume, or start over with "
                         "--no-resume, which discards it",
                         path);
    if (j->fd < 0)
        return io_error(path, flags & O_CREAT ? "created" : "opened", err);
    if (flock(j->fd, LOCK_EX | LOCK_NB))
        return error_set(err, ERR_USAGE, "'%s': another tare is writing this journal", path);
    return OK;
}

static enum status write_header(struct journal *j, const char *header, struct error *err)
{
    TRY(write_all(j, MAGIC, sizeof MAGIC, err));
    begin_record(j);
    buf_puts(&j->record, header);
    return write_record(j, err);
}

enum status journal_create(struct journal *j, const char *path, const char *header, struct error *err)
{
    enum status st = open_file(j, path, O_CREAT | O_EXCL, err);

    if (st == OK) {
        st = write_header(j, header, err);
        if (st != OK) /* without one it would only be in the way */
            unlink(path);
    }
    if (st != OK)
        journal_done(j);
    return st;
}

enum status journal_sync(struct journal *j, struct error *err)
{
    j->synced_ns = clock_ns();
    if (fdatasync(j->fd) && errno != EINVAL && errno != EROFS) /* a file that cannot be synced is as safe as it gets */
        return io_error(j->path, "written", err);
    return OK;
}

enum status journal_append(struct journal *j, const struct exchange *x, const struct read_event *events,
                           const unsigned char *bytes, struct error *err)
{
    int64_t before = thread_cpu_ns();
    enum status st;

    begin_record(j);
    journal_record_put(&j->record, x, events, bytes);
    st = write_record(j, err);
    j->n_exchanges += st == OK;
    if (st == OK && clock_ns() - j->synced_ns > SYNC_EVERY_NS)
        st = journal_sync(j, err);
    j->cpu_ns += thread_cpu_ns() - before;
    return st;
}

/* A file's bytes, mapped. */
struct mapped {
    unsigned char *bytes;
    size_t len;
};

static void mapped_done(struct mapped *m)
{
    if (m->bytes)
        munmap(m->bytes, m->len);
}

static enum status map_file(struct mapped *m, int fd, const char *path, struct error *err)
{
    struct stat sb;
    void *p;

    if (fstat(fd, &sb))
        return io_error(path, "read", err);
    if ((size_t)sb.st_size < sizeof MAGIC + FRAME)
        return error_set(err, ERR_FORMAT,
                         "'%s' is no journal of tare: too short; start over with --no-resume, which discards it", path);
    p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return io_error(path, "read", err);
    m->bytes = p;
    m->len = (size_t)sb.st_size;
    if (memcmp(m->bytes, MAGIC, sizeof MAGIC) != 0)
        return error_set(err, ERR_FORMAT, "'%s' is no journal of this version of tare", path);
    return OK;
}

/* The payload of the record at `at`, or NULL when there is no whole one. */
static const unsigned char *record_at(const struct mapped *m, size_t at, size_t *ret_len)
{
    size_t len;

    if (m->len - at < FRAME)
        return NULL;
    len = get_u32(m->bytes + at);
    if (len > m->len - at - FRAME || crc32_z(0, m->bytes + at + FRAME, len) != get_u32(m->bytes + at + 4))
        return NULL;
    *ret_len = len;
    return m->bytes + at + FRAME;
}

/* Everything after the header; returns where the last whole record ends. */
static enum status read_records(const struct mapped *m, size_t at, struct run *run, size_t *ret_end, struct error *err)
{
    const unsigned char *record;
    size_t len = 0;

    while ((record = record_at(m, at, &len)) != NULL) {
        TRY(journal_record_get(run, record, len, err));
        at += FRAME + len;
    }
    *ret_end = at;
    return OK;
}

/* The first member in which the headers differ, for the message. */
static enum status differs(const char *path, const struct json *was, const struct json *is, struct error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach (is->root, key, value) {
        json_t *other = json_object_get(was->root, key);
        char a[MAX_HEADER_DIFF + 1] = "", b[MAX_HEADER_DIFF + 1] = "";

        if (other && json_equal(value, other))
            continue;
        json_dumpb(other, a, MAX_HEADER_DIFF, JSON_ENCODE_ANY | JSON_COMPACT);
        json_dumpb(value, b, MAX_HEADER_DIFF, JSON_ENCODE_ANY | JSON_COMPACT);
        return error_set(err, ERR_USAGE,
                         "'%s' is the journal of another run: its %s is %s, this one's is %s; give the same inputs, or "
                         "start over with --no-resume, which discards it",
                         path, key, a[0] ? a : "not known", b);
    }
    return OK;
}

static enum status check_header(const struct mapped *m, const char *path, const char *header, size_t *ret_end,
                                struct error *err)
{
    AUTO(json) was = {0};
    AUTO(json) is = {0};
    const unsigned char *record;
    size_t len = 0;

    record = record_at(m, sizeof MAGIC, &len);
    if (!record)
        return error_set(err, ERR_FORMAT,
                         "'%s': the journal's beginning is damaged: nothing in it can be trusted; start over with "
                         "--no-resume, which discards it",
                         path);
    TRY(json_parse(&was, path, (const char *)record, len, err));
    *ret_end = sizeof MAGIC + FRAME + len;
    if (!header)
        return OK;
    TRY(json_parse(&is, "header", header, strlen(header), err));
    return differs(path, &was, &is, err);
}

static enum status resume(struct journal *j, const char *header, struct run *run, uint64_t *ret_torn, struct error *err)
{
    AUTO(mapped) m = {0};
    size_t end = 0;

    *ret_torn = 0;
    if (lseek(j->fd, 0, SEEK_END) == 0) /* the session ended before it had written anything */
        return write_header(j, header, err);
    TRY(map_file(&m, j->fd, j->path, err));
    TRY(check_header(&m, j->path, header, &end, err));
    TRY(read_records(&m, end, run, &end, err));
    *ret_torn = m.len - end;
    if (ftruncate(j->fd, (off_t)end) || lseek(j->fd, (off_t)end, SEEK_SET) < 0)
        return io_error(j->path, "written", err);
    j->len = end;
    j->n_exchanges = run->n_exchanges;
    return OK;
}

enum status journal_resume(struct journal *j, const char *path, const char *header, struct run *run, uint64_t *ret_torn,
                           struct error *err)
{
    enum status st = open_file(j, path, 0, err);

    if (st == OK)
        st = resume(j, header, run, ret_torn, err);
    if (st != OK)
        journal_done(j);
    return st;
}

enum status journal_read(const char *path, struct run *run, struct error *err)
{
    AUTO(mapped) m = {0};
    size_t end = 0;
    enum status st;
    int fd;

    TRY(file_check_regular(path, err));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(path, "opened", err);
    st = map_file(&m, fd, path, err);
    close(fd);
    TRY(st);
    TRY(check_header(&m, path, NULL, &end, err));
    return read_records(&m, end, run, &end, err);
}
