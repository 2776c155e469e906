/* attention_parts.h - what the ways through a layer share; for attention_*.c alone. */
#ifndef CORE_METRICS_ATTENTION_PARTS_H
#define CORE_METRICS_ATTENTION_PARTS_H

#include "core/io/dump_rows.h"
#include "core/metrics/attention_pass.h"

/* Some heads of one layer of one sample. Rows [first, first + n) are those that may see a key: p->rows and
 * p->row_digests hold n of each head, and the digests of n_keys keys behind those of the rows. */
struct part {
    struct pass *pass;
    struct dump *dump;
    const struct dump_layer *layer;
    const struct dump_sample *sample;
    size_t n_layer, n_sample;
    size_t first, n;
    size_t head, n_heads, n_keys;
};

/* Makes *ptr at least `want` bytes of the backend's memory. */
MUST_CHECK enum status pass_reserve(const struct backend *backend, void **ptr, size_t *have, size_t want,
                                    struct error *err);

/* How many of n things of `each` bytes fit into `memory`: from one to n. */
size_t pass_fit(size_t memory, size_t n, size_t each);

/* Where row `row` of the part's head `head`, counted from part->head, keeps what is known of it. */
struct row_stat *part_row(const struct part *part, size_t head, size_t row);
unsigned char *part_digest(const struct part *part, size_t head, size_t row);

/* Where the distances of that head are added up. */
uint64_t *part_profile(const struct part *part, size_t head);

/* The factors of a head's rows from `row` on; NULL where there are none. */
const double *part_scales(const struct part *part, size_t head, size_t row);

/* A call of a kernel for n_heads heads and n rows from `row` on, counted from the part's first: what stands in both
 * kinds of dumps. */
struct row_entropy_args part_args(const struct part *part, const void *weights, size_t head, size_t row, size_t n_heads,
                                  size_t n);

/* Keeps what a call of the backend gave, n_heads x n, for rows from part->first + row on. */
void part_keep(const struct part *part, const struct row_stat *rows, size_t head, size_t n_heads, size_t row, size_t n);

/* From stored weights. The first reads and measures bands of rows, each on one thread, which a CPU does best; the
 * second gives tiles to the backend. */
MUST_CHECK enum status part_bands(const struct part *part, const struct dump_rows *rows, struct error *err);
MUST_CHECK enum status part_tiles(const struct part *part, const struct dump_rows *rows, struct error *err);
void band_workers_done(struct pass *p);

/* From queries and keys; the part has all query heads of whole key heads. */
MUST_CHECK enum status part_qk(const struct part *part, const struct dump_rows *q, const struct dump_rows *k,
                               struct error *err);

/* Rows that were measured from queries and keys: n of each of n_heads heads from `head` and `row` on, counted from the
 * part's first. */
struct lse_rows {
    size_t head, n_heads, row, n, group; /* group: query heads of a key head */
    const void *q;
    const double *key_norms; /* of each key head the largest of its keys' */
    const struct row_stat *rows;
    const double *lse; /* natural log of sum e^score */
};

/* ERR_FORMAT where the dump's log-sum-exp of one of them is another. */
MUST_CHECK enum status part_lse_check(const struct part *part, const struct lse_rows *rows, struct error *err);

/* The largest norm of the keys [first, first + n). */
double part_lse_norm(const struct part *part, const void *keys, size_t first, size_t n);

/* Reads rows [row, row + n) of n_heads heads one after the other, and takes the digest of each row: those of a head
 * are digest_step apart. With spans only what they show is sure to be there and counts. */
struct fill {
    const struct dump_rows *rows;
    size_t head, n_heads, row, n;
    const struct row_span *spans; /* of row `row` and on, or NULL */
    char *to;
    unsigned char *digests;
    size_t digest_step;
    bool reads_hidden; /* what the spans do not show is wanted too */
};
MUST_CHECK enum status part_fill(const struct fill *fill, struct error *err);

#endif
