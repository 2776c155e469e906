#include "core/base/file.h"

#include "core/base/mem.h"
#include "core/base/pending.h"
#include "core/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status io_error(struct error *err, const char *what, const char *path)
{
    return error_set(err, ERR_IO, "'%s': %s: %s", path, what, strerror(errno));
}

static enum status read_all(int fd, const char *path, size_t limit, struct buf *ret, struct error *err)
{
    char chunk[65536];

    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n == 0)
            return buf_check(ret, err);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(err, "cannot read", path);
        if (ret->len + (size_t)n > limit)
            return error_set(err, ERR_LIMIT, "'%s': larger than the limit of %zu bytes for such a file", path, limit);
        buf_append(ret, chunk, (size_t)n);
    }
}

/* How long a pipe may have no writer at all. */
enum { PIPE_WAIT_MS = 5000 };

/* A pipe that nobody writes to would be waited for without end. After a wait in vain, a read tells the two cases apart:
 * 0 bytes without a writer, EAGAIN with one that takes its time. */
static enum status await_writer(int fd, const char *path, struct buf *ret, struct error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char first;
    ssize_t n;

    if (poll(&p, 1, PIPE_WAIT_MS) != 0)
        return OK;
    n = read(fd, &first, 1);
    if (n == 0)
        return error_set(err, ERR_IO, "'%s': is a pipe that no program writes to (waited %d s)", path,
                         PIPE_WAIT_MS / 1000);
    if (n == 1)
        buf_putc(ret, first);
    return OK;
}

/* Opening a pipe would wait for its writer, so it is opened without waiting, and the waiting has a limit. */
static enum status settle_input(int fd, const char *path, struct buf *ret, struct error *err)
{
    struct stat sb;
    int flags;

    if (fstat(fd, &sb))
        return io_error(err, "cannot read", path);
    if (S_ISDIR(sb.st_mode))
        return error_set(err, ERR_IO, "'%s': is a folder, a file is wanted", path);
    if (S_ISFIFO(sb.st_mode))
        TRY(await_writer(fd, path, ret, err));
    flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return io_error(err, "cannot read", path);
    return OK;
}

enum status file_read(const char *path, size_t limit, struct buf *ret, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    enum status st;

    if (fd < 0)
        return io_error(err, "cannot open", path);
    st = settle_input(fd, path, ret, err);
    if (st == OK)
        st = read_all(fd, path, limit, ret, err);
    close(fd);
    return st;
}

enum status file_read_at(int fd, const char *path, uint64_t offset, void *ret, size_t len, struct error *err)
{
    unsigned char *at = ret;

    while (len > 0) {
        ssize_t n = offset > INT64_MAX ? 0 : pread(fd, at, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(err, "cannot read", path);
        if (n == 0)
            return error_set(err, ERR_FORMAT, "'%s': ends at byte %llu, %zu more were expected; it may be truncated",
                             path, (unsigned long long)offset, len);
        at += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return OK;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0 || errno == EACCES;
}

bool file_is_dir(const char *path)
{
    struct stat sb;

    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

enum status file_size(const char *path, uint64_t *ret, struct error *err)
{
    struct stat sb;

    if (stat(path, &sb))
        return io_error(err, "cannot open", path);
    *ret = (uint64_t)sb.st_size;
    return OK;
}

enum status file_check_regular(const char *path, struct error *err)
{
    struct stat sb;

    if (stat(path, &sb))
        return io_error(err, "cannot open", path);
    if (S_ISDIR(sb.st_mode))
        return error_set(err, ERR_IO, "'%s': is a folder, a file is wanted", path);
    if (!S_ISREG(sb.st_mode))
        return error_set(err, ERR_IO, "'%s': is no regular file; copy its bytes into one", path);
    return OK;
}

enum status path_join(const char *dir, const char *name, char **ret, struct error *err)
{
    AUTO(buf) b = {0};

    if (name[0] != '/' && dir[0]) {
        buf_puts(&b, dir);
        if (dir[strlen(dir) - 1] != '/')
            buf_putc(&b, '/');
    }
    buf_puts(&b, name);
    TRY(buf_check(&b, err));
    return mem_strdup(buf_text(&b), ret, err);
}

bool path_is_inside(const char *name)
{
    const char *part = name;

    if (name[0] == '/' || name[0] == '\0')
        return false;
    while (part) {
        const char *slash = strchr(part, '/');
        size_t len = slash ? (size_t)(slash - part) : strlen(part);

        if (len == 2 && part[0] == '.' && part[1] == '.')
            return false;
        part = slash ? slash + 1 : NULL;
    }
    return true;
}

enum status dir_make(const char *path, struct error *err)
{
    char *copy = NULL;
    enum status st = OK;
    char *p;

    TRY(mem_strdup(path, &copy, err));
    for (p = copy + 1; st == OK && copy[0] && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) && errno != EEXIST)
            st = io_error(err, "cannot create the folder", copy);
        *p = '/';
    }
    if (st == OK && mkdir(copy, 0777) && errno != EEXIST)
        st = io_error(err, "cannot create the folder", path);
    if (st == OK && !file_is_dir(path))
        st = error_set(err, ERR_IO, "'%s': exists and is not a folder", path);
    free(copy);
    return st;
}

/* mkstemp() makes the file private; what a program writes for others should follow the umask instead. */
static void follow_umask(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    if (fchmod(fd, 0666 & ~mask))
        return; /* a file system without modes: nothing is lost */
}

enum status outfile_open(struct outfile *f, const char *path, struct error *err)
{
    AUTO(buf) name = {0};
    int fd;

    memset(f, 0, sizeof *f);
    if (file_is_dir(path))
        return error_set(err, ERR_IO, "'%s': is a folder, name a file", path);
    buf_printf(&name, "%s.tmp-XXXXXX", path);
    TRY(buf_check(&name, err));
    TRY(mem_strdup(path, &f->path, err));
    fd = pending_create(name.data);
    if (fd < 0) {
        outfile_done(f);
        return io_error(err, "cannot create", path);
    }
    follow_umask(fd);
    close(fd);
    f->tmp = name.data;
    memset(&name, 0, sizeof name);
    return OK;
}

enum status outfile_commit(struct outfile *f, struct error *err)
{
    int fd = open(f->tmp, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd)) {
        enum status st = io_error(err, "cannot write", f->path);

        if (fd >= 0)
            close(fd);
        return st;
    }
    close(fd);
    if (pending_rename(f->tmp, f->path))
        return io_error(err, "cannot rename the finished file to", f->path);
    free(f->tmp);
    f->tmp = NULL;
    return OK;
}

void outfile_done(struct outfile *f)
{
    if (f->tmp)
        pending_unlink(f->tmp);
    free(f->tmp);
    free(f->path);
    memset(f, 0, sizeof *f);
}

static enum status write_all(FILE *out, const char *path, const char *data, size_t len, struct error *err)
{
    if ((len && fwrite(data, 1, len, out) != len) || fflush(out))
        return io_error(err, "cannot write", path);
    return OK;
}

enum status outfile_write(const struct outfile *f, const char *data, size_t len, struct error *err)
{
    FILE *out = fopen(f->tmp, "wbe");
    enum status st;

    if (!out)
        return io_error(err, "cannot write", f->path);
    st = write_all(out, f->path, data, len, err);
    if (fclose(out) && st == OK)
        st = io_error(err, "cannot write", f->path);
    return st;
}

enum status file_write(const char *path, const char *data, size_t len, struct error *err)
{
    AUTO(outfile) f = {0};

    if (strcmp(path, "-") == 0)
        return write_all(stdout, "standard output", data, len, err);
    TRY(outfile_open(&f, path, err));
    TRY(outfile_write(&f, data, len, err));
    return outfile_commit(&f, err);
}
