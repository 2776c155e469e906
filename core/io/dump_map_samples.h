/* dump_map_samples.h - what a layout map and the file below it say about samples: ids, lengths, padding, first rows. */
#ifndef CORE_IO_DUMP_MAP_SAMPLES_H
#define CORE_IO_DUMP_MAP_SAMPLES_H

#include "core/io/dump_map.h"

/* Answers of struct dump_format; ERR_FORMAT asks for what neither says. */
enum status dump_map_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                           size_t *ret_n, struct error *err);
enum status dump_map_integers(struct dump_reader *r, const char *name, size_t max, struct arena *arena, int64_t **ret,
                              size_t *ret_n, struct error *err);

#endif
