/* zipfile.h - the members of a zip archive and where their bytes lie, so that stored ones are read in place. Checked
 * against the file and each other before anything is read: sizes, places, names, both copies of each header. */
#ifndef CORE_IO_ZIPFILE_H
#define CORE_IO_ZIPFILE_H

#include "core/base/arena.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    char *name; /* borrowed from the archive's arena */
    bool is_deflated;
    uint32_t crc;          /* CRC-32 of the uncompressed bytes */
    uint64_t packed, size; /* bytes in the file, and uncompressed */
    uint64_t header;       /* offset of the local header … */
    uint64_t offset;       /* … and of the packed bytes */
};

struct zipfile {
    const char *path; /* borrowed */
    int fd;           /* borrowed */
    uint64_t bytes;   /* of the file */
    struct arena arena;
    struct zip_member *members; /* in the order of the directory */
    size_t n_members;
};

/* ERR_FORMAT with the member and the offset: what is no zip archive, encrypted, split, compressed by another method,
 * damaged, truncated, or built so that members overlap or a name stands there twice. */
MUST_CHECK enum status zipfile_read(struct zipfile *z, const char *path, int fd, uint64_t bytes, struct error *err);
void zipfile_done(struct zipfile *z);

/* Up to `len` bytes of the beginning of a member, uncompressed. */
MUST_CHECK enum status zipfile_peek(const struct zipfile *z, const struct zip_member *m, void *ret, size_t len,
                                    size_t *ret_len, struct error *err);

/* Reads all of a member; ERR_FORMAT unless size and CRC-32 are right. Writes it to `out`, where that is not -1. */
MUST_CHECK enum status zipfile_extract(const struct zipfile *z, const struct zip_member *m, int out, struct error *err);

/* ERR_FORMAT: "'file' at 'member': …". */
enum status zipfile_bad(const struct zipfile *z, const struct zip_member *m, struct error *err, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

#endif
