/* flat_texts.h - lists of texts in a flat dump: JSON in an attribute, or an array of fixed-width texts. */
#ifndef CORE_IO_FLAT_TEXTS_H
#define CORE_IO_FLAT_TEXTS_H

#include "core/io/flat.h"

/* `value` is a JSON list, or a text that holds one. */
MUST_CHECK enum status flat_texts_of_json(const struct flat *f, const char *name, const json_t *value, size_t max,
                                          struct arena *arena, char ***ret, size_t *ret_n, struct error *err);

/* FLAT_BYTES (UTF-8) or FLAT_UTF32, padded with NUL. */
MUST_CHECK enum status flat_texts_of_array(struct flat *f, const struct flat_array *a, size_t max, struct arena *arena,
                                           char ***ret, size_t *ret_n, struct error *err);

#endif
