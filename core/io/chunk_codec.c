#include "core/io/chunk_codec.h"

#include "core/base/mem.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

void chunk_decoder_done(struct chunk_decoder *d)
{
    free(d->raw);
    free(d->plain);
    if (d->engine)
        libdeflate_free_decompressor(d->engine);
    memset(d, 0, sizeof *d);
}

enum status chunk_decoder_reserve(struct chunk_decoder *d, const struct chunk_codec *codec, size_t stored,
                                  struct error *err)
{
    TRY(mem_grow(&d->raw, &d->cap_raw, stored, 1, err));
    if (!d->plain)
        TRY(mem_new(codec->bytes, 1, &d->plain, err));
    if (!d->engine && codec->deflate >= 0)
        d->engine = libdeflate_alloc_decompressor();
    if (!d->engine && codec->deflate >= 0)
        return error_set(err, ERR_MEMORY, "no memory to inflate chunks");
    return OK;
}

/* A filter that was of no use for a chunk is marked as left out. */
static bool is_used(int filter, unsigned mask)
{
    return filter >= 0 && !(mask & 1U << filter);
}

bool chunk_decode(struct chunk_decoder *d, const struct chunk_codec *codec)
{
    size_t n = 0;

    d->values = d->plain;
    d->is_shuffled = d->len > 0 && codec->element > 1 && is_used(codec->shuffle, d->mask);
    if (d->len == 0) {
        memset(d->plain, 0, codec->bytes);
        return true;
    }
    if (!is_used(codec->deflate, d->mask)) {
        d->values = d->raw;
        return d->len == codec->bytes;
    }
    return libdeflate_zlib_decompress(d->engine, d->raw, d->len, d->plain, codec->bytes, &n) == LIBDEFLATE_SUCCESS &&
           n == codec->bytes;
}

/* The usual widths have loops of their own, which compilers turn into vectors. */

static void join2(const unsigned char *restrict a, const unsigned char *restrict b, size_t n,
                  unsigned char *restrict to)
{
    size_t i;

    for (i = 0; i < n; i++) {
        to[2 * i] = a[i];
        to[2 * i + 1] = b[i];
    }
}

static void join4(const unsigned char *restrict from, size_t step, size_t n, unsigned char *restrict to)
{
    size_t i;

    for (i = 0; i < n; i++) {
        to[4 * i] = from[i];
        to[4 * i + 1] = from[step + i];
        to[4 * i + 2] = from[2 * step + i];
        to[4 * i + 3] = from[3 * step + i];
    }
}

/* Bytes of equal rank stand together after the shuffle. */
static void unshuffle(const unsigned char *from, size_t step, size_t n, size_t element, unsigned char *to)
{
    size_t i, j;

    if (element == 2) {
        join2(from, from + step, n, to);
        return;
    }
    if (element == 4) {
        join4(from, step, n, to);
        return;
    }
    for (j = 0; j < element; j++)
        for (i = 0; i < n; i++)
            to[i * element + j] = from[j * step + i];
}

void chunk_values(const struct chunk_decoder *d, const struct chunk_codec *codec, size_t first, size_t n, void *ret)
{
    if (d->is_shuffled)
        unshuffle(d->values + first, codec->bytes / codec->element, n, codec->element, ret);
    else
        memcpy(ret, d->values + first * codec->element, n * codec->element);
}
