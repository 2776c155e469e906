/* similar.h - the "did you mean" of every message. */
#ifndef CORE_BASE_SIMILAR_H
#define CORE_BASE_SIMILAR_H

#include <stddef.h>

/* The nearest of n words by edit distance, or NULL when none is near enough to be a slip of the finger. */
const char *similar_find(const char *word, const char *const *words, size_t n);

#endif
