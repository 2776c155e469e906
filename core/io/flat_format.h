/* flat_format.h - the answers of struct dump_format for a struct flat: what a container adds is how to open and close.
 */
#ifndef CORE_IO_FLAT_FORMAT_H
#define CORE_IO_FLAT_FORMAT_H

#include "core/io/flat.h"

bool flat_has(struct dump_reader *r, const char *name);
enum status flat_layer_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err);
enum status flat_attr_text(struct dump_reader *r, const char *object, const char *attr, struct arena *arena,
                           bool *ret_found, char **ret, struct error *err);
enum status flat_attr_i64(struct dump_reader *r, const char *object, const char *attr, bool *ret_found, int64_t *ret,
                          struct error *err);
enum status flat_attr_double(struct dump_reader *r, const char *object, const char *attr, bool *ret_found, double *ret,
                             struct error *err);
enum status flat_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                       size_t *ret_n, struct error *err);
enum status flat_integers(struct dump_reader *r, const char *name, size_t max, struct arena *arena, int64_t **ret,
                          size_t *ret_n, struct error *err);
enum status flat_table(struct dump_reader *r, const char *name, size_t *ret_rows, size_t *ret_cols, struct error *err);
enum status flat_table_row(struct dump_reader *r, const char *name, size_t row, size_t n_cols, int64_t *ret,
                           struct error *err);
enum status flat_names(struct dump_reader *r, struct arena *arena, char ***ret, size_t *ret_n, struct error *err);
enum status flat_shape(struct dump_reader *r, const char *name, struct dump_shape *ret, struct error *err);
enum status flat_slab(struct dump_reader *r, const char *name, const size_t *start, const size_t *count, void *ret,
                      struct error *err);
enum status flat_locate(struct dump_reader *r, const char *name, struct dump_place *ret, struct error *err);

/* All of them but name, suffix, knows, open and free. */
#define FLAT_ANSWERS                                                                                                   \
    .has = flat_has, .layer_names = flat_layer_names, .attr_text = flat_attr_text, .attr_i64 = flat_attr_i64,          \
    .attr_double = flat_attr_double, .texts = flat_texts, .integers = flat_integers, .table = flat_table,              \
    .table_row = flat_table_row, .tensor = dump_reader_tensor, .rows = dump_reader_rows, .place = dump_reader_place,   \
    .names = flat_names, .shape = flat_shape, .slab = flat_slab, .locate = flat_locate

#endif
