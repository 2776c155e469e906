#include "core/metrics/attention_digest.h"

#include <string.h>
#ifdef __x86_64__
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

/* On x86 the header above chooses the instruction set at run time. */
static void digest(const void *bytes, size_t n, unsigned char *ret)
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, n));
    memcpy(ret, &canonical, DIGEST_BYTES);
}

void digest_each(const struct digest_rows *rows, unsigned char *ret)
{
    const char *row = rows->rows;
    size_t i;

    for (i = 0; i < rows->n; i++, row += rows->row_bytes, ret += DIGEST_BYTES) {
        size_t lo = rows->spans ? rows->spans[i].lo * rows->element : 0;
        size_t hi = rows->spans ? rows->spans[i].hi * rows->element : rows->row_bytes;

        if (lo < hi)
            digest(row + lo, hi - lo, ret);
        else
            memset(ret, 0, DIGEST_BYTES);
    }
}

void digest_factor(unsigned char *row, double factor)
{
    unsigned char bytes[DIGEST_BYTES + sizeof factor];
    uint64_t bits;
    size_t i;

    memcpy(&bits, &factor, sizeof bits);
    memcpy(bytes, row, DIGEST_BYTES);
    for (i = 0; i < sizeof bits; i++)
        bytes[DIGEST_BYTES + i] = (unsigned char)(bits >> (8 * i) & 0xff);
    digest(bytes, sizeof bytes, row);
}

void digest_head(unsigned char *rows, const struct row_span *spans, size_t n, const unsigned char *keys, size_t n_keys,
                 unsigned char *ret)
{
    size_t n_seen = 0, i;

    for (i = 0; i < n; i++) {
        if (spans[i].lo >= spans[i].hi)
            continue;
        if (n_seen != i)
            memcpy(rows + n_seen * DIGEST_BYTES, rows + i * DIGEST_BYTES, DIGEST_BYTES);
        n_seen++;
    }
    memset(ret, 0, DIGEST_BYTES);
    if (n_seen == 0)
        return;
    if (n_keys > 0)
        memcpy(rows + n_seen * DIGEST_BYTES, keys, n_keys * DIGEST_BYTES);
    digest(rows, (n_seen + n_keys) * DIGEST_BYTES, ret);
}
