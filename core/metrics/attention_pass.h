/* attention_pass.h - one layer of one sample at a time, from a dump through the kernels to the sums of its heads, in
 * memory that does not grow with the file. */
#ifndef CORE_METRICS_ATTENTION_PASS_H
#define CORE_METRICS_ATTENTION_PASS_H

#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/metrics/attention_digest.h"
#include "core/metrics/attention_options.h"
#include "kernels/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* A tile of weights or scores under way on the device while the next one is read. */
struct tile_slot {
    struct row_entropy_args args;
    struct row_work *work;
    struct row_stat *rows; /* owned */
    double *scales;        /* owned */
    size_t cap_rows, cap_scales, head, row;
    bool is_busy;
};

enum { TILE_SLOTS = 2 };

/* Buffers of one pass; sizes follow the largest layer. `memory` bounds each of: the rows of the file that are read at
 * a time, and what is kept of each row until its head is complete. */
struct pass {
    const struct backend *backend;
    const struct attention_options *options;
    size_t memory;
    struct head_stats *heads; /* owned: [heads] */
    unsigned char *digests;   /* owned: heads x DIGEST_BYTES, all zero where no row sees a key */
    uint64_t *profiles;       /* owned: heads x PROFILE_BUCKETS */

    /* The rest is the pass's own. */
    struct row_span *spans; /* owned: [n_rows] */
    size_t cap_spans, cap_heads, cap_digests, cap_profiles;

    /* Of some heads at a time, for each row that may see a key. */
    struct row_stat *rows;
    double *entropies;
    unsigned char *row_digests; /* and of each key behind them */
    double *scales;             /* factor of each row, where the dump has such */
    size_t cap_rows, cap_entropies, cap_row_digests, cap_scales;

    void *a, *b; /* of the backend's host_alloc: weights, or q and k */
    size_t a_bytes, b_bytes;
    struct row_stat *tile;              /* owned: statistics of one call of the backend */
    struct tile_slot slots[TILE_SLOTS]; /* their values lie in a and b */
    unsigned char *key_digests;
    double *lse, *key_norms; /* of the tile, where the dump has lse */
    size_t cap_tile, cap_key_digests, cap_lse, cap_key_norms;
    struct band_worker *workers; /* owned: [n_workers] */
    size_t n_workers, cap_workers;
};

void pass_done(struct pass *p);

/* Reads and measures one layer of one sample: p->heads, p->digests and p->profiles until the next call. A sample with
 * no row that sees a key leaves them empty. */
MUST_CHECK enum status pass_measure(struct pass *p, struct dump *d, size_t layer, size_t sample, struct error *err);

#endif
