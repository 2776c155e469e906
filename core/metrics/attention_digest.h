/* attention_digest.h - a digest of the bits that a head's attention is stored in: equal digests, equal bits.
 *
 * XXH3-128 over the XXH3-128 of each row's visible bytes in row order, both in canonical form; rows with no visible key
 * are left out. 8-bit weights: with the factor of each row. From queries and keys: the rows of the query head, then
 * those of its key head that any row sees. */
#ifndef CORE_METRICS_ATTENTION_DIGEST_H
#define CORE_METRICS_ATTENTION_DIGEST_H

#include "core/model/fingerprints.h"
#include "kernels/row_stats.h"

#include <stddef.h>

/* Rows as they are stored, row_bytes each. */
struct digest_rows {
    const void *rows;
    size_t n, row_bytes;
    const struct row_span *spans; /* [n]: of each row the columns of its span count; NULL: all of them */
    size_t element;               /* bytes of a column, where there are spans */
};

/* ret: n x DIGEST_BYTES, a digest of each row, zeros where nothing of it is visible. For any thread. */
void digest_each(const struct digest_rows *rows, unsigned char *ret);

/* Makes the digest of a row whose values have a factor that of both: XXH3-128 over it and the factor's float64,
 * little-endian. */
void digest_factor(unsigned char *row, double factor);

/* The digest of a head from the digests of its n rows and of its n_keys keys, if any. `rows` has room for those of the
 * keys behind its own; afterwards it holds something else. Rows with an empty span are left out; all zero where every
 * span is empty. */
void digest_head(unsigned char *rows, const struct row_span *spans, size_t n, const unsigned char *keys, size_t n_keys,
                 unsigned char *ret);

#endif
