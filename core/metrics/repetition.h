/* repetition.h - how much a text repeats itself, by three measures; NaN where a text is too short for one. */
#ifndef CORE_METRICS_REPETITION_H
#define CORE_METRICS_REPETITION_H

#include <stddef.h>

/* Share of four-word runs that stood in the text before; needs eight words. */
double repetition_ngrams(const char *text, size_t len);

/* How often the last sentence, or what of it was not cut off, began a sentence before; needs a word. */
double repetition_last_sentence(const char *text, size_t len);

/* Bytes over bytes after deflate; needs 64 bytes. */
double repetition_compression(const char *text, size_t len);

#endif
