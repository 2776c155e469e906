/* dump_map_read.h - the JSON of a layout map: names and axes, held to what a map can say. */
#ifndef CORE_IO_DUMP_MAP_READ_H
#define CORE_IO_DUMP_MAP_READ_H

#include "core/io/dump_map.h"

/* Fills names, axes and dtype from the text, or from the file `name` where it is NULL. ERR_FORMAT names the file and
 * the key. */
MUST_CHECK enum status dump_map_read(struct dump_map *m, const char *name, const char *text, struct error *err);

/* Does the map name tensors, or only say what the file leaves out? */
bool dump_map_names_tensors(const struct dump_map *m);

/* The value of a key, NULL where it is absent or null; and the same with its place for messages. */
json_t *dump_map_said(const struct dump_map *m, const char *key);
struct json_at dump_map_place(const struct dump_map *m, const char *key);

/* ERR_FORMAT about the dump, and what the map should say. */
enum status dump_map_ask(const struct dump_map *m, struct error *err, const char *what);

#endif
