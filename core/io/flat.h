/* flat.h - dumps whose arrays lie flat in a file (safetensors, npz): names with dots instead of groups, values
 * uncompressed, attributes as texts under dotted names. A container lists its arrays; the rest is here. */
#ifndef CORE_IO_FLAT_H
#define CORE_IO_FLAT_H

#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/io/dump_reader.h"

enum flat_kind {
    FLAT_FLOAT,
    FLAT_INTEGER, /* of 1, 2, 4 or 8 bytes */
    FLAT_OPAQUE,  /* of 1 or 2 bytes       */
    FLAT_BYTES,   /* texts of fixed width  */
    FLAT_UTF32,   /* the same, 4 bytes a character */
    FLAT_OBJECT,  /* of Python: nothing that can be read */
    FLAT_OTHER
};

enum { FLAT_MAX_RANK = 8 };

struct flat_array {
    char *name; /* "layers.005.q"; it and `type` are borrowed from the arena */
    char *type; /* as the container calls it: "BF16", "<f2" */
    enum flat_kind kind;
    enum dtype dtype; /* FLAT_FLOAT */
    bool is_signed, is_swapped;
    bool is_fortran; /* the first dimension is the one whose elements lie next to each other */
    size_t element, rank, dim[FLAT_MAX_RANK], n; /* bytes of an element; n elements in all */
    uint64_t offset;                             /* of the values in the file that `source` gives */
    size_t member;                               /* for the container's own use */
};

/* Begins the struct of each container. */
struct flat {
    struct dump_reader base;
    const char *path; /* borrowed */
    int fd;
    uint64_t bytes;      /* of the file */
    struct arena arena;  /* names and types */
    struct json attrs;   /* an object: "layers.005.window" to a text, a number or true or false */
    const char *attr_in; /* where attributes stand, for messages: "__metadata__" */
    struct flat_array *arrays;
    size_t n_arrays;

    /* The file that the values of an array stand in, at its offset. */
    enum status (*source)(struct flat *f, const struct flat_array *a, int *ret_fd, struct error *err);
};

/* A regular file, open for reading. flat_close() undoes it, and is good for a zeroed struct flat with fd -1. */
MUST_CHECK enum status flat_open(struct flat *f, const char *path, struct error *err);
void flat_close(struct flat *f);

/* ERR_FORMAT: "'file' at 'layers.005.q': …". */
enum status flat_bad(const struct flat *f, const char *name, struct error *err, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Makes room for n arrays; sorts them by name, where a repeated one is ERR_FORMAT. */
MUST_CHECK enum status flat_reserve(struct flat *f, size_t n, struct error *err);
MUST_CHECK enum status flat_sort(struct flat *f, struct error *err);

/* False when dimensions overflow; writes their product and its bytes. A rank over FLAT_MAX_RANK has none. */
bool flat_size(const struct flat_array *a, size_t *ret_n, size_t *ret_bytes);

/* NULL where there is no such array. */
const struct flat_array *flat_find(const struct flat *f, const char *dotted);

/* Elements [first, first + n) as they lie, in native byte order. */
MUST_CHECK enum status flat_read(struct flat *f, const struct flat_array *a, size_t first, size_t n, void *ret,
                                 struct error *err);

/* The part that begins at start[] and is count[] long, which lies within the array, in C order. */
MUST_CHECK enum status flat_part(struct flat *f, const struct flat_array *a, const size_t *start, const size_t *count,
                                 void *ret, struct error *err);

#endif
