/* dump_layout.h - the layout attn-dump 1: samples and layers of a dump, checked against each other and the tensors. */
#ifndef CORE_IO_DUMP_LAYOUT_H
#define CORE_IO_DUMP_LAYOUT_H

#include "core/io/dump.h"

enum { DUMP_LAYOUT_VERSION = 1 };

/* A name inside a dump: "layers/005/attn_weights". */
struct dump_name {
    char text[96];
};

/* Fills source, samples and layers of a dump whose reader is open. */
MUST_CHECK enum status dump_layout_read(struct dump *d, struct error *err);

/* A tensor of a layer, or the layer itself where `tensor` is "". */
struct dump_name dump_layout_name(const struct dump_layer *l, const char *tensor);

/* A number as it must be written to be read back. */
struct dump_name dump_layout_number(double value);

/* ERR_FORMAT: "'file' at /name: …". */
enum status dump_layout_bad(const struct dump *d, const char *name, struct error *err, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

/* Something to be told about the dump; the same text is kept once. */
MUST_CHECK enum status dump_note(struct dump *d, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
