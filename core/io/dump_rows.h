/* dump_rows.h - rows of one layer of one sample, read by several threads at a time into buffers of their own. A read
 * copies what the page cache holds, which costs less than mapping it, takes no memory that grows with the file, and
 * fails with a status where a file was cut short or its network is gone. */
#ifndef CORE_IO_DUMP_ROWS_H
#define CORE_IO_DUMP_ROWS_H

#include "core/io/dump.h"
#include "core/io/dump_layout.h"

struct dump_rows {
    struct dump *dump; /* borrowed */
    size_t layer, sample;
    enum dump_part part;
    size_t n_heads, n_rows, row_bytes;
    bool is_direct; /* the file holds the rows as they are: any thread may read them; else one at a time */
    int fd;
    uint64_t offset;
};

MUST_CHECK enum status dump_rows_find(struct dump_rows *r, struct dump *d, size_t layer, size_t sample,
                                      enum dump_part part, struct error *err);

/* Rows [row, row + n) of a head, each row_bytes after the one before, native byte order. With `spans`, [n], only the
 * columns inside of them are sure to be there: what a mask hides is left out where that saves more than another read
 * costs. NULL: all columns. */
MUST_CHECK enum status dump_rows_read(const struct dump_rows *r, size_t head, size_t row, size_t n,
                                      const struct row_span *spans, void *ret, struct error *err);

#endif
