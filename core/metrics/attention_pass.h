/* attention_pass.h - one layer of one sample at a time, from a dump through the kernels to the sums of its heads, in
 * tiles of bounded memory. */
#ifndef CORE_METRICS_ATTENTION_PASS_H
#define CORE_METRICS_ATTENTION_PASS_H

#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/metrics/attention_digest.h"
#include "kernels/backend.h"

#include <stddef.h>

/* Buffers of one pass; sizes follow the largest layer. */
struct pass {
    const struct backend *backend;
    size_t memory;
    void *a, *b; /* of the backend's host_alloc: weights, or q and k */
    size_t a_bytes, b_bytes;
    struct row_span *spans; /* owned: [n_rows]       */
    struct row_stat *rows;  /* owned: heads x rows   */
    struct head_stats *heads;
    double *entropies;      /* owned: heads x rows  */
    unsigned char *digests; /* owned: heads x DIGEST_BYTES, all zero where no row sees a key */
    struct head_digests hashing;
    size_t cap_spans, cap_rows, cap_heads, cap_entropies, cap_digests;
};

void pass_done(struct pass *p);

/* Reads and measures one layer of one sample: p->heads and p->digests of its heads until the next call. A sample with
 * no row that sees a key leaves them empty. */
MUST_CHECK enum status pass_measure(struct pass *p, struct dump *d, size_t layer, size_t sample, struct error *err);

#endif
