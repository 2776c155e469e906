#include "core/io/h5chunk.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* What all kept chunks of a dataset may take. */
#define MAX_KEPT_BYTES ((size_t)256 << 20)

/* A chunk is inflated whole in memory: a larger one is a mistake or an attack. */
#define MAX_CHUNK_BYTES ((size_t)1 << 30)

struct h5chunk_slot {
    unsigned char *data; /* owned; NULL until first used */
    hsize_t at[H5CHUNK_MAX_RANK];
    bool is_filled;
};

void h5chunk_done(struct h5chunk *c)
{
    size_t i;

    for (i = 0; i < c->n_slots; i++)
        free(c->slots[i].data);
    free(c->slots);
    free(c->raw);
    free(c->plain);
    memset(c, 0, sizeof *c);
}

/* False when there is a filter that is not undone here. */
static bool find_filters(struct h5chunk *c, hid_t list)
{
    int n = H5Pget_nfilters(list), i;

    c->shuffle = c->deflate = -1;
    for (i = 0; i < n; i++) {
        unsigned values[8] = {0};
        size_t n_values = 8;
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)i, NULL, &n_values, values, 0, NULL, NULL);

        if (id == H5Z_FILTER_SHUFFLE && c->shuffle < 0 && c->deflate < 0 && n_values > 0 && values[0] == c->element)
            c->shuffle = i;
        else if (id == H5Z_FILTER_DEFLATE && c->deflate < 0)
            c->deflate = i;
        else
            return false;
    }
    return n >= 0;
}

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Rows of all heads are read tile by tile. A chunk that belongs to one head is needed until its last row was read, so
 * two rows of chunks a head are kept; one that several heads share is needed for all of them. */
static enum status reserve_slots(struct h5chunk *c, struct error *err)
{
    size_t across, heads, n, most = MAX_KEPT_BYTES / c->chunk_bytes;

    if (c->rank != 4)
        return OK;
    across = ceil_div(c->dim[3], c->chunk[3]);
    heads = ceil_div(c->dim[1], c->chunk[1]);
    c->rows_kept = c->chunk[0] == 1 && c->chunk[1] == 1 ? 2 : ceil_div(c->dim[2], c->chunk[2]);
    if (!size_mul(across, heads, &n) || !size_mul(n, c->rows_kept, &n) || n > most)
        n = most ? most : 1;
    TRY(mem_new(n, sizeof *c->slots, &c->slots, err));
    c->n_slots = n;
    return OK;
}

static enum status read_shape(struct h5chunk *c, const struct h5 *ds, hid_t list, bool *ret_fits, struct error *err)
{
    AUTO(h5id) space = {.id = H5Dget_space(ds->id)};
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    hsize_t dim[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_ndims(space.id), i;
    size_t bytes;

    *ret_fits = false;
    if (rank < 1 || rank > H5CHUNK_MAX_RANK || H5Pget_chunk(list, H5S_MAX_RANK, chunk) != rank ||
        H5Sget_simple_extent_dims(space.id, dim, NULL) != rank)
        return rank > H5CHUNK_MAX_RANK ? OK : h5_bad(ds, err, "chunks and shape do not fit each other");
    c->rank = (size_t)rank;
    c->element = bytes = H5Tget_size(type.id);
    for (i = 0; i < rank; i++) {
        if (chunk[i] == 0 || chunk[i] > MAX_CHUNK_BYTES || !size_mul(bytes, (size_t)chunk[i], &bytes) ||
            bytes > MAX_CHUNK_BYTES)
            return h5_bad(ds, err, "chunks of more than %zu bytes; write the file with smaller ones", MAX_CHUNK_BYTES);
        c->dim[i] = (size_t)dim[i];
        c->chunk[i] = (size_t)chunk[i];
    }
    c->chunk_bytes = bytes;
    *ret_fits = bytes > 0;
    return OK;
}

enum status h5chunk_init(struct h5chunk *c, const struct h5 *ds, bool *ret_usable, struct error *err)
{
    AUTO(h5id) list = {.id = H5Dget_create_plist(ds->id)};
    bool fits = false;

    *ret_usable = false;
    if (list.id < 0)
        return h5_failed(ds, ERR_FORMAT, "the layout cannot be read", err);
    if (H5Pget_layout(list.id) != H5D_CHUNKED)
        return OK;
    TRY(read_shape(c, ds, list.id, &fits, err));
    if (!fits || !find_filters(c, list.id))
        return OK;
    TRY(reserve_slots(c, err));
    *ret_usable = true;
    return OK;
}

static enum status broken(const struct h5 *ds, const hsize_t *at, struct error *err)
{
    return h5_bad(ds, err, "the chunk at element %llu of its first dimension is damaged; copy or write the file again",
                  (unsigned long long)at[0]);
}

/* Exactly as many bytes as a chunk has, or nothing. */
static bool inflate_all(const unsigned char *from, size_t len, unsigned char *to, size_t to_len)
{
    uLongf got = (uLongf)to_len;
    uLong used = (uLong)len;

    return uncompress2(to, &got, from, &used) == Z_OK && got == to_len;
}

/* Bytes of equal rank stand together after the shuffle; what does not fill an element stands at the end. */
static void unshuffle(const unsigned char *from, unsigned char *to, size_t len, size_t element)
{
    size_t n = len / element, i, j;

    for (j = 0; j < element; j++)
        for (i = 0; i < n; i++)
            to[i * element + j] = from[j * n + i];
}

/* The stored bytes of the chunk; *ret_len 0 when it was never written. */
static enum status read_raw(struct h5chunk *c, const struct h5 *ds, const hsize_t *at, unsigned *ret_mask,
                            size_t *ret_len, struct error *err)
{
    haddr_t address = HADDR_UNDEF;
    hsize_t stored = 0;
    unsigned mask = 0;
    uint32_t read_mask = 0;

    if (H5Dget_chunk_info_by_coord(ds->id, at, &mask, &address, &stored) < 0)
        return h5_failed(ds, ERR_FORMAT, "a chunk cannot be found; the file may be damaged", err);
    *ret_len = 0;
    if (address == HADDR_UNDEF)
        return OK;
    /* gzip adds a few bytes at worst */
    if (stored == 0 || stored > c->chunk_bytes + c->chunk_bytes / 8 + 1024)
        return broken(ds, at, err);
    TRY(mem_grow(&c->raw, &c->cap_raw, (size_t)stored, 1, err));
    if (H5Dread_chunk(ds->id, H5P_DEFAULT, at, &read_mask, c->raw) < 0)
        return h5_failed(ds, ERR_FORMAT, "a chunk cannot be read; the file may be damaged", err);
    *ret_mask = mask;
    *ret_len = (size_t)stored;
    return OK;
}

/* A filter that was of no use for a chunk is marked as left out. */
static bool is_used(int filter, unsigned mask)
{
    return filter >= 0 && !(mask & 1U << filter);
}

/* chunk_bytes bytes of a chunk; zeros where nothing was written. */
static enum status decode(struct h5chunk *c, const struct h5 *ds, const hsize_t *at, unsigned char *ret,
                          struct error *err)
{
    const unsigned char *from;
    unsigned mask = 0;
    size_t len = 0;

    TRY(read_raw(c, ds, at, &mask, &len, err));
    if (len == 0) {
        memset(ret, 0, c->chunk_bytes);
        return OK;
    }
    from = c->raw;
    if (is_used(c->deflate, mask)) {
        unsigned char *to = ret;

        if (is_used(c->shuffle, mask)) {
            if (!c->plain)
                TRY(mem_new(c->chunk_bytes, 1, &c->plain, err));
            to = c->plain;
        }
        if (!inflate_all(c->raw, len, to, c->chunk_bytes))
            return broken(ds, at, err);
        from = to;
    } else if (len != c->chunk_bytes) {
        return broken(ds, at, err);
    }
    if (is_used(c->shuffle, mask))
        unshuffle(from, ret, c->chunk_bytes, c->element);
    else if (from != ret)
        memcpy(ret, from, c->chunk_bytes);
    return OK;
}

static enum status find_chunk(struct h5chunk *c, const struct h5 *ds, const size_t *index, const unsigned char **ret,
                              struct error *err)
{
    size_t across = ceil_div(c->dim[3], c->chunk[3]), i;
    size_t slot = ((index[1] * c->rows_kept + index[2] % c->rows_kept) * across + index[3]) % c->n_slots;
    struct h5chunk_slot *s = &c->slots[slot];
    hsize_t at[H5CHUNK_MAX_RANK];

    for (i = 0; i < 4; i++)
        at[i] = index[i] * c->chunk[i];
    if (!s->is_filled || memcmp(s->at, at, sizeof at) != 0) {
        if (!s->data)
            TRY(mem_new(c->chunk_bytes, 1, &s->data, err));
        s->is_filled = false;
        TRY(decode(c, ds, at, s->data, err));
        memcpy(s->at, at, sizeof at);
        s->is_filled = true;
    }
    *ret = s->data;
    return OK;
}

enum status h5chunk_rows(struct h5chunk *c, const struct h5 *ds, size_t sample, size_t head, size_t row, size_t n_rows,
                         unsigned char *ret, struct error *err)
{
    size_t index[4] = {sample / c->chunk[0], head / c->chunk[1], 0, 0};
    size_t plane = (sample % c->chunk[0]) * c->chunk[1] + head % c->chunk[1];
    size_t last = row + n_rows, r;

    for (index[2] = row / c->chunk[2]; index[2] * c->chunk[2] < last; index[2]++) {
        size_t top = index[2] * c->chunk[2];
        size_t from = row > top ? row : top;
        size_t to = last - top < c->chunk[2] ? last : top + c->chunk[2];

        for (index[3] = 0; index[3] * c->chunk[3] < c->dim[3]; index[3]++) {
            size_t left = index[3] * c->chunk[3];
            size_t n = c->dim[3] - left < c->chunk[3] ? c->dim[3] - left : c->chunk[3];
            const unsigned char *data = NULL;

            TRY(find_chunk(c, ds, index, &data, err));
            for (r = from; r < to; r++)
                memcpy(ret + ((r - row) * c->dim[3] + left) * c->element,
                       data + ((plane * c->chunk[2] + r - top) * c->chunk[3]) * c->element, n * c->element);
        }
    }
    return OK;
}

enum status h5chunk_verify(const struct h5 *ds, struct error *err)
{
    AUTO(h5chunk) c = {0};
    hsize_t at[H5CHUNK_MAX_RANK] = {0};
    unsigned char *plain = NULL;
    bool usable = false;
    enum status st = OK;
    size_t i;

    TRY(h5chunk_init(&c, ds, &usable, err));
    for (i = 0; i < c.rank; i++)
        if (c.dim[i] == 0)
            return OK;
    if (!usable)
        return OK;
    TRY(mem_new(c.chunk_bytes, 1, &plain, err));
    do {
        st = decode(&c, ds, at, plain, err);
        for (i = c.rank; i-- > 0;) { /* the next corner, last dimension fastest */
            at[i] += c.chunk[i];
            if (at[i] < c.dim[i])
                break;
            at[i] = 0;
        }
    } while (st == OK && i < c.rank);
    free(plain);
    return st;
}
