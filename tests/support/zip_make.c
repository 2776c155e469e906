#include "tests/support/zip_make.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_PARTS = 16 };

static void put(struct buf *b, uint64_t value, int n_bytes)
{
    int i;

    for (i = 0; i < n_bytes; i++)
        buf_putc(b, (char)(value >> (8 * i) & 0xff));
}

void npy_make(struct buf *ret, int version, const char *header, const void *values, size_t len)
{
    buf_append(ret, "\x93NUMPY", 6);
    put(ret, (uint64_t)version, 1);
    put(ret, 0, 1);
    put(ret, strlen(header) + 1, version == 1 ? 2 : 4);
    buf_puts(ret, header);
    buf_putc(ret, '\n');
    buf_append(ret, values, len);
}

/* What stands in both headers from the version on. */
static void put_common(struct buf *b, const struct zip_part *p, size_t packed)
{
    put(b, 20, 2);
    put(b, 0, 2);
    put(b, p->is_deflated ? 8 : 0, 2);
    put(b, 0, 4);
    put(b, crc32(0, p->bytes, (uInt)p->len), 4);
    put(b, packed, 4);
    put(b, p->len, 4);
    put(b, strlen(p->name), 2);
    put(b, 0, 2);
}

static size_t deflate_part(const struct zip_part *p, unsigned char *out, size_t room)
{
    z_stream s = {0};

    deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    s.next_in = (Bytef *)(uintptr_t)p->bytes;
    s.avail_in = (uInt)p->len;
    s.next_out = out;
    s.avail_out = (uInt)room;
    deflate(&s, Z_FINISH);
    deflateEnd(&s);
    return room - s.avail_out;
}

void zip_make(struct buf *ret, const struct zip_part *parts, size_t n, size_t which, struct zip_place *ret_place)
{
    size_t local[MAX_PARTS], packed[MAX_PARTS], directory, i;
    struct zip_place place = {0};

    for (i = 0; i < n; i++) {
        size_t room = parts[i].len + 1024;
        unsigned char *bytes = malloc(room);

        packed[i] = parts[i].len;
        if (parts[i].is_deflated)
            packed[i] = deflate_part(&parts[i], bytes, room);
        else if (parts[i].len)
            memcpy(bytes, parts[i].bytes, parts[i].len);
        local[i] = ret->len;
        buf_append(ret, "PK\3\4", 4);
        put_common(ret, &parts[i], packed[i]);
        buf_puts(ret, parts[i].name);
        if (i == which)
            place.local = local[i], place.data = ret->len;
        buf_append(ret, bytes, packed[i]);
        free(bytes);
    }
    directory = ret->len;
    for (i = 0; i < n; i++) {
        if (i == which)
            place.entry = ret->len;
        buf_append(ret, "PK\1\2\24\0", 6);
        put_common(ret, &parts[i], packed[i]);
        put(ret, 0, 8); /* comment, disk, attributes */
        put(ret, 0, 2);
        put(ret, local[i], 4);
        buf_puts(ret, parts[i].name);
    }
    place.end = ret->len;
    buf_append(ret, "PK\5\6\0\0\0\0", 8);
    put(ret, n, 2);
    put(ret, n, 2);
    put(ret, place.end - directory, 4);
    put(ret, directory, 4);
    put(ret, 0, 2);
    if (ret_place)
        *ret_place = place;
}
