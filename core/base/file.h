/* file.h - whole files in, whole files out: reading has a limit, writing appears at once or not at all. */
#ifndef CORE_BASE_FILE_H
#define CORE_BASE_FILE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A file being written under a temporary name beside its place. */
struct outfile {
    char *path; /* owned: the final name                                  */
    char *tmp;  /* owned: the temporary name; NULL once committed          */
};

/* Appends the file's bytes to `ret`; ERR_IO when it cannot be read, ERR_LIMIT when it has more than `limit` bytes. A
 * pipe will do, unless nobody writes to it for some seconds. */
MUST_CHECK enum status file_read(const char *path, size_t limit, struct buf *ret, struct error *err);

/* Exactly `len` bytes from `offset` on; a file that ends before is ERR_FORMAT. `path` is for messages. */
MUST_CHECK enum status file_read_at(int fd, const char *path, uint64_t offset, void *ret, size_t len,
                                    struct error *err);

/* True too where nobody may look: opening it then says so, which is more than that there is nothing. */
bool file_exists(const char *path);
bool file_is_dir(const char *path);
MUST_CHECK enum status file_size(const char *path, uint64_t *ret, struct error *err);

/* ERR_IO for what is no regular file, links followed: what a pipe or a device gives has no end, or cannot be sought. */
MUST_CHECK enum status file_check_regular(const char *path, struct error *err);

/* "dir/name", or just `name` when it is absolute or `dir` is empty; owned by the caller. */
MUST_CHECK enum status path_join(const char *dir, const char *name, char **ret, struct error *err);

/* True when `name` is relative and never climbs out of its folder: a name from foreign input. */
bool path_is_inside(const char *name);

/* Creates `path` and the folders above it. */
MUST_CHECK enum status dir_make(const char *path, struct error *err);

/* Reserves a temporary name (an empty file) beside `path`, to which its whole contents are written. outfile_done()
 * removes it unless it was committed. */
MUST_CHECK enum status outfile_open(struct outfile *f, const char *path, struct error *err);
MUST_CHECK enum status outfile_write(const struct outfile *f, const char *data, size_t len, struct error *err);
MUST_CHECK enum status outfile_commit(struct outfile *f, struct error *err); /* fsync, rename */
void outfile_done(struct outfile *f);

/* The whole of it: temporary name, bytes, fsync, rename. "-" writes to stdout. */
MUST_CHECK enum status file_write(const char *path, const char *data, size_t len, struct error *err);

#endif
