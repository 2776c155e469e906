/* attention_parts.h - what the ways through a layer share; for attention_*.c only. */
#ifndef CORE_METRICS_ATTENTION_PARTS_H
#define CORE_METRICS_ATTENTION_PARTS_H

#include "core/io/dump_rows.h"
#include "core/metrics/attention_pass.h"

enum { DIGEST_BYTES = 16 };

/* One layer of one sample on its way: rows [first, last) see keys. */
struct pass_at {
    struct dump *dump;
    const struct dump_layer *layer;
    const struct dump_sample *sample;
    size_t n_layer, n_sample;
    size_t first, last;
};

/* |S - 1| up to which a row's sum counts as right. */
double pass_sum_tolerance(enum dtype dtype);

/* What is the same for each call of the kernel: rows from `row` on, as many as the caller says. */
struct row_entropy_args pass_row_args(const struct pass *p, const struct pass_at *at, size_t row);

/* Makes *ptr at least `want` bytes of the backend's memory. */
MUST_CHECK enum status pass_reserve(const struct backend *backend, void **ptr, size_t *have, size_t want,
                                    struct error *err);

/* How many of n things of `each` bytes fit into `memory`; at least one. */
size_t pass_fit(size_t memory, size_t n, size_t each);

/* Heads [head, head + n_heads) from stored weights, to the sums of their rows. The first reads and measures bands of
 * rows, each on one thread, which is what a CPU does best; the second gives whole tiles to the backend. */
MUST_CHECK enum status pass_bands(struct pass *p, const struct pass_at *at, const struct dump_rows *rows, size_t head,
                                  size_t n_heads, struct error *err);
MUST_CHECK enum status pass_tiles(struct pass *p, const struct pass_at *at, const struct dump_rows *rows, size_t head,
                                  size_t n_heads, struct error *err);

/* All heads from queries and keys. */
MUST_CHECK enum status pass_qk(struct pass *p, const struct pass_at *at, struct error *err);

/* The digest of a row's visible bytes; of a head from those of its rows, in order, [n][DIGEST_BYTES]. */
void pass_digest_row(const void *bytes, size_t n, unsigned char *ret);
void pass_digest_head(const unsigned char *rows, size_t n, unsigned char *ret);

#endif
