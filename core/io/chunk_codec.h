/* chunk_codec.h - what stands in a stored chunk: gzip and the shuffle of bytes, undone without the HDF5 library, which
 * trusts a chunk to be as long as it says after its filters, and reads beyond the end of one that is not. Each thread
 * with a decoder of its own. */
#ifndef CORE_IO_CHUNK_CODEC_H
#define CORE_IO_CHUNK_CODEC_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all chunks of a dataset. */
struct chunk_codec {
    size_t element, bytes; /* of an element; of a chunk when all filters are undone */
    int shuffle, deflate;  /* place among the filters, or -1 */
};

struct chunk_decoder {
    unsigned char *raw;                     /* owned: stored bytes, put there by the caller */
    size_t cap_raw, len;                    /* stored bytes; 0: never written */
    unsigned mask;                          /* filters that were left out for this chunk, a bit each */
    unsigned char *plain;                   /* owned */
    struct libdeflate_decompressor *engine; /* owned */
    const unsigned char *values;            /* by chunk_decode(): its bytes */
    bool is_shuffled;                       /* … which are still shuffled */
};

void chunk_decoder_done(struct chunk_decoder *d);

/* Room for `stored` bytes at d->raw and for what they become. */
MUST_CHECK enum status chunk_decoder_reserve(struct chunk_decoder *d, const struct chunk_codec *codec, size_t stored,
                                             struct error *err);

/* False when d->raw is not exactly a chunk. A chunk that was never written is zeros. */
bool chunk_decode(struct chunk_decoder *d, const struct chunk_codec *codec);

/* Elements [first, first + n) of the chunk that was decoded last. */
void chunk_values(const struct chunk_decoder *d, const struct chunk_codec *codec, size_t first, size_t n, void *ret);

#endif
