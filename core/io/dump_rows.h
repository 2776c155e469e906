/* dump_rows.h - rows of one layer of one sample, a band at a time, read by several threads into buffers of their own. A
 * read copies what the page cache holds, which costs less than mapping it, takes no memory that grows with the file,
 * and fails with a status where a file was cut short or its network is gone. */
#ifndef CORE_IO_DUMP_ROWS_H
#define CORE_IO_DUMP_ROWS_H

#include "core/io/chunk_codec.h"
#include "core/io/dump.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_reader.h"

struct dump_rows {
    struct dump *dump; /* borrowed */
    size_t layer, sample;
    enum dump_part part;
    size_t n_heads, n_rows, n_cols, element, row_bytes;
    struct dump_place place;
    bool for_threads;             /* bands may be read by several threads at a time; else by one, and the whole way */
    size_t step_heads, step_rows; /* bands cut at multiples of these are decompressed once */
    size_t extra_bytes;           /* what reading a band takes besides the band */
};

/* Until another tensor is asked for. */
MUST_CHECK enum status dump_rows_find(struct dump_rows *r, struct dump *d, size_t layer, size_t sample,
                                      enum dump_part part, struct error *err);

/* ERR_FORMAT: its chunks do not fit into `memory`, and what to do. */
enum status dump_rows_too_large(const struct dump_rows *r, size_t memory, struct error *err);

/* What a thread has read last. */
struct dump_band {
    const char *rows;  /* of each head, row_bytes after each other, native byte order … */
    size_t head_bytes; /* … the heads so far apart */
    char *buffer;      /* owned */
    size_t cap;
    struct chunk_decoder decoder;
};

void dump_band_done(struct dump_band *b);

/* Rows [row, row + n) of n_heads heads. With `spans`, [n], only the columns inside of them are sure to be there: what a
 * mask hides is neither read nor decompressed where that saves more than it costs. NULL: all columns. */
MUST_CHECK enum status dump_band_read(struct dump_band *b, const struct dump_rows *r, size_t head, size_t n_heads,
                                      size_t row, size_t n, const struct row_span *spans, struct error *err);

/* The same of one head to a place of the caller's; chunks go through what the container keeps, by one thread. */
MUST_CHECK enum status dump_rows_read(const struct dump_rows *r, size_t head, size_t row, size_t n,
                                      const struct row_span *spans, void *ret, struct error *err);

#endif
