/* npz_archive.h - an archive of arrays that a test fills one by one, opened as a dump with a layout map. */
#ifndef TESTS_SUPPORT_NPZ_ARCHIVE_H
#define TESTS_SUPPORT_NPZ_ARCHIVE_H

#include "core/io/dump.h"
#include "tests/support/zip_make.h"

enum { NPZ_ARCHIVE_MAX = 12 };

struct npz_archive {
    struct zip_part parts[NPZ_ARCHIVE_MAX];
    struct buf npy[NPZ_ARCHIVE_MAX];
    size_t n;
};

/* `name` ends in .npy and must outlive the archive; every second array is deflated. */
void npz_archive_add(struct npz_archive *a, const char *name, const char *descr, const char *shape, const void *values,
                     size_t len);

/* Writes x.npz and map.json into the test's folder, forgets the arrays, and opens the dump; no map where it is NULL. */
enum status npz_archive_open(struct dump *d, struct npz_archive *a, const char *map, struct error *err);

#endif
