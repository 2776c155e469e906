/* dump_look.h - a look at the values of a dump, to propose what was not said and to find what was said wrong. */
#ifndef CORE_IO_DUMP_LOOK_H
#define CORE_IO_DUMP_LOOK_H

#include "core/io/dump.h"

/* Do the first rows of the first sample put weight on a later key? The sample must begin at key and row 0. */
MUST_CHECK enum status dump_look_above_diagonal(struct dump *d, const struct dump_layer *l, bool *ret,
                                                struct error *err);

/* ERR_FORMAT where not the rows sum to 1 but the columns: rows and columns were taken for each other. */
MUST_CHECK enum status dump_look_which_way(struct dump *d, const struct dump_layer *l, struct error *err);

#endif
