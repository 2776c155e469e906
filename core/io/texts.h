/* texts.h - whether foreign text is what the rest of the program takes for granted, and whether names repeat. */
#ifndef CORE_IO_TEXTS_H
#define CORE_IO_TEXTS_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

bool texts_is_utf8(const char *text, size_t len);

/* Index of a text that stands in `texts` before, or SIZE_MAX; in n log n. */
MUST_CHECK enum status texts_find_repeated(char *const *texts, size_t n, size_t *ret, struct error *err);

#endif
