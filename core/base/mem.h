/* mem.h - allocation that fails with a status instead of a null pointer. */
#ifndef CORE_BASE_MEM_H
#define CORE_BASE_MEM_H

#include "core/base/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed room for `n` elements of `size` bytes; n = 0 gives a valid pointer. Release with free(). */
MUST_CHECK enum status mem_new(size_t n, size_t size, void *ret_ptr, struct error *err);

/* Makes room in the array *ptr for `n` elements in all, at least doubling `*cap`; new room is not zeroed. */
MUST_CHECK enum status mem_grow(void *ptr, size_t *cap, size_t n, size_t size, struct error *err);

/* An owned copy of `text`; NULL stays NULL. */
MUST_CHECK enum status mem_strdup(const char *text, char **ret, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
