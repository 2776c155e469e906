/* attention_digest.h - a digest of the bits that a head's attention is stored in: equal digests, equal bits.
 *
 * XXH3-128 over the XXH3-128 of each row's visible bytes in row order, both in canonical form; rows with no visible key
 * are left out. From queries and keys: the rows of the query head, then those of its key head that any row sees. */
#ifndef CORE_METRICS_ATTENTION_DIGEST_H
#define CORE_METRICS_ATTENTION_DIGEST_H

#include "core/base/error.h"
#include "core/model/fingerprints.h"
#include "kernels/row_stats.h"

#include <stddef.h>

/* The heads of one layer of one sample. */
struct head_digests {
    struct XXH3_state_s **states; /* owned: [n_states], each owned */
    size_t n_states, cap_states;
};

void head_digests_done(struct head_digests *d);
MUST_CHECK enum status head_digests_begin(struct head_digests *d, size_t n_heads, struct error *err);

/* Rows as they are stored: n_heads x n_rows x n_columns elements of `element` bytes, of heads [head, head + n_heads).
 * Of each row the columns of its span; with `whole_rows` all of a row that has a visible key. */
struct digest_rows {
    const void *rows;
    const struct row_span *spans; /* [n_rows] */
    size_t n_heads, n_rows, n_columns, element;
    bool whole_rows;
};
void head_digests_add(struct head_digests *d, size_t head, const struct digest_rows *rows);

/* The keys [first, first + n) of one key head, for heads [head, head + n_heads). */
void head_digests_add_keys(struct head_digests *d, size_t head, size_t n_heads, const void *keys, size_t n,
                           size_t key_bytes);

/* ret: n_heads x DIGEST_BYTES. */
void head_digests_end(const struct head_digests *d, size_t n_heads, unsigned char *ret);

#endif
