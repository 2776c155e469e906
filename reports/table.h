/* table.h - columns of text for a terminal, as wide as their widest cell. */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include "core/base/buf.h"

#include <stddef.h>

enum { TABLE_COLUMNS = 16, TABLE_ROWS = 256 };

struct table {
    size_t n_columns;
    const char *align; /* a letter a column: 'l' or 'r'                                    */
    struct buf text;   /* cells, each NUL-terminated, row by row                           */
    size_t n_cells;
    const char *colour[TABLE_ROWS]; /* ANSI sequence of a row; NULL none; later rows have none  */
};

void table_done(struct table *t);

/* The next cell, cut at `columns`. */
void table_cell(struct table *t, const char *text, size_t columns);

/* Prints with `indent` blanks before each line. When the lines are wider than `width`, the gaps shrink to one blank,
 * then column `shrink` is cut. */
void table_print(const struct table *t, struct buf *out, size_t indent, size_t width, size_t shrink);

#endif
