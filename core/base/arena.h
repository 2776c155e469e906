/* arena.h - strings and tables that live and die together: a bump allocator with a limit. */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include "core/base/error.h"

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* owned, newest first                          */
    size_t used;              /* bytes handed out                             */
    size_t limit;             /* 0 = ARENA_DEFAULT_LIMIT; passing it is ERR_LIMIT */
};

#define ARENA_DEFAULT_LIMIT ((size_t)1 << 30)

/* A zeroed struct arena is ready to use. */
void arena_done(struct arena *a);

/* Zeroed, aligned for any type, room for n elements of `size` bytes. */
MUST_CHECK enum status arena_new(struct arena *a, size_t n, size_t size, void *ret_ptr, struct error *err);

/* A NUL-terminated copy; NULL text stays NULL. */
MUST_CHECK enum status arena_strdup(struct arena *a, const char *text, char **ret, struct error *err);
MUST_CHECK enum status arena_strndup(struct arena *a, const char *text, size_t len, char **ret, struct error *err);
MUST_CHECK enum status arena_printf(struct arena *a, char **ret, struct error *err, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

#endif
