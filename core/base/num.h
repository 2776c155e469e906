/* num.h - text to numbers: the whole string, range checked, independent of the locale. */
#ifndef CORE_BASE_NUM_H
#define CORE_BASE_NUM_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* False, and *ret untouched, unless all of `text` is one decimal number in range. */
bool num_u64(const char *text, uint64_t *ret);
bool num_i64(const char *text, int64_t *ret);

/* A finite decimal or exponent form, "." as the point; no hexadecimal, no "inf", no "nan". */
bool num_double(const char *text, double *ret);

/* Appends the shortest decimal that reads back as the same double; "nan", "inf", "-inf" for the rest. */
void num_append(struct buf *b, double value);

/* Appends with 17 significant digits ("%.17g"); "nan", "inf", "-inf" for the rest. */
void num_append17(struct buf *b, double value);

#endif
