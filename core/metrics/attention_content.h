/* attention_content.h - what a dump holds, as one hash: two files with the same are the same to tare, whatever
 * container they are in and whatever a mask hides. Known as a by-product of measuring, where a hash of the file's bytes
 * takes several times as long as measuring does.
 *
 * SHA-256 over lines of text: what the dump says of itself, its samples, and for each layer its description and the
 * SHA-256 of the digests of its heads (attention_digest.h), sample by sample. */
#ifndef CORE_METRICS_ATTENTION_CONTENT_H
#define CORE_METRICS_ATTENTION_CONTENT_H

#include "core/base/buf.h"
#include "core/base/sha256.h"
#include "core/io/dump.h"

struct content {
    struct buf text;    /* what is hashed in the end */
    struct buf digests; /* of the layer at hand */
};

void content_done(struct content *c);

/* In this order: begin; for each layer, each of its samples, then the end of the layer; end. */
void content_begin(struct content *c, const struct dump *d);
void content_add(struct content *c, const unsigned char *digests, size_t n_heads);
MUST_CHECK enum status content_end_layer(struct content *c, const struct dump_layer *l, struct error *err);
MUST_CHECK enum status content_end(const struct content *c, struct sha256 *ret, struct error *err);

/* The same for a dump that is not measured: reads all of it that is visible. */
MUST_CHECK enum status content_of_dump(struct dump *d, size_t memory, struct sha256 *ret, struct error *err);

#endif
