/* h5.h - HDF5 objects with a place for messages, closed at the end of their scope. For one thread at a time. */
#ifndef CORE_IO_H5_H
#define CORE_IO_H5_H

#include "core/base/arena.h"
#include "core/base/error.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

/* An open file, group or dataset. */
struct h5 {
    hid_t id;         /* 0 = none */
    const char *file; /* borrowed: the file's name, for messages     */
    char path[160];   /* of the object in the file: "/layers/005/q"; cut to fit */
};

void h5_done(struct h5 *h);
struct h5 h5_take(struct h5 *from);

/* A datatype, dataspace, attribute or property list. */
struct h5id {
    hid_t id; /* 0 = none */
};

void h5id_done(struct h5id *h);

/* ERR_FORMAT: "'file' at /path: …". */
enum status h5_bad(const struct h5 *at, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A call of the library failed: `code` and "'file' at /path: what: the library's own reason". */
enum status h5_failed(const struct h5 *at, enum status code, const char *what, struct error *err);

/* Opens for reading. `path` is borrowed. What is no HDF5 file, or a damaged one, is ERR_FORMAT. Links to other files
 * are never followed. */
MUST_CHECK enum status h5_open(struct h5 *ret, const char *path, struct error *err);

/* Overwrites `path`; messages call the file `shown` (borrowed). No times are tracked, so equal calls give equal bytes.
 */
MUST_CHECK enum status h5_create(struct h5 *ret, const char *path, const char *shown, struct error *err);

/* Flushes and closes a file that was written; ERR_IO when the bytes could not all be written. */
MUST_CHECK enum status h5_close(struct h5 *f, struct error *err);

/* Members of a group. A missing one, or one of another kind, is ERR_FORMAT. */
bool h5_has(const struct h5 *at, const char *name);
MUST_CHECK enum status h5_group(const struct h5 *at, const char *name, struct h5 *ret, struct error *err);
MUST_CHECK enum status h5_dataset(const struct h5 *at, const char *name, struct h5 *ret, struct error *err);

/* Names of a group's members, ascending. */
MUST_CHECK enum status h5_names(const struct h5 *group, struct arena *arena, char ***ret, size_t *ret_n,
                                struct error *err);

/* Names of everything in a file that is reached by hard and soft links, "a/b/c", ascending. */
MUST_CHECK enum status h5_all_names(const struct h5 *file, struct arena *arena, char ***ret, size_t *ret_n,
                                    struct error *err);

/* What an object is, for people: the attribute "help", and the same as the object's comment, which `h5dump -H` prints.
 */
MUST_CHECK enum status h5_explain(const struct h5 *h, const char *help, struct error *err);

/* Another comment than its help: what else the header's reader wants to know. */
MUST_CHECK enum status h5_comment(const struct h5 *h, const char *text, struct error *err);

/* A new group, explained. */
MUST_CHECK enum status h5_make_group(const struct h5 *at, const char *name, const char *help, struct h5 *ret,
                                     struct error *err);

#endif
