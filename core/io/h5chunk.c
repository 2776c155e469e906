#include "core/io/h5chunk.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the chunks of a dataset may take where nothing else was said. */
#define DEFAULT_MEMORY ((size_t)256 << 20)

/* A chunk is inflated whole in memory: a larger one is a mistake or an attack. */
#define MAX_CHUNK_BYTES ((size_t)1 << 30)

/* Chunks that are inflated at the same time; rows of chunks that a head keeps. */
enum { N_JOBS = 4, KEPT_ROWS = 4 };

/* Less than this is inflated before a thread is made. */
#define FEW_BYTES ((size_t)1 << 18)

/* A chunk on its way from the file to its slot. */
struct h5chunk_job {
    hsize_t at[H5CHUNK_MAX_RANK];
    struct chunk_decoder decoder;
    unsigned char *to; /* codec.bytes */
    bool is_broken;
};

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
    for (i = 0; c->jobs && i < N_JOBS; i++)
        chunk_decoder_done(&c->jobs[i].decoder);
    free(c->jobs);
    memset(c, 0, sizeof *c);
}

/* False when there is a filter that is not undone here. */
static bool find_filters(struct h5chunk *c, hid_t list)
{
    int n = H5Pget_nfilters(list), i;

    c->codec.shuffle = c->codec.deflate = -1;
    for (i = 0; i < n; i++) {
        unsigned values[8] = {0};
        size_t n_values = 8;
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)i, NULL, &n_values, values, 0, NULL, NULL);

        if (id == H5Z_FILTER_SHUFFLE && c->codec.shuffle < 0 && c->codec.deflate < 0 && n_values > 0 &&
            values[0] == c->codec.element)
            c->codec.shuffle = i;
        else if (id == H5Z_FILTER_DEFLATE && c->codec.deflate < 0)
            c->codec.deflate = i;
        else
            return false;
    }
    return n >= 0;
}

enum status h5chunk_too_large(const struct h5chunk *c, const struct h5 *ds, size_t memory, struct error *err)
{
    return h5_bad(ds, err,
                  "chunks of %zu bytes, of which %d must fit into the memory of %zu: raise --memory, or write the file "
                  "with smaller ones",
                  c->codec.bytes, (int)CHUNK_COPIES, memory);
}

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t chunks_along(const struct h5chunk *c, size_t dimension)
{
    return ceil_div(c->dim[dimension], c->chunk[dimension]);
}

/* The dimension of rows, and the last one besides it and that of columns: the heads. SIZE_MAX where there is none. */
static void find_dimensions(struct h5chunk *c, const size_t *count)
{
    size_t i;

    c->rows_dim = c->rank > 1 ? c->rank - 2 : 0;
    for (i = 0; i + 1 < c->rank; i++)
        if (count[i] > count[c->rows_dim])
            c->rows_dim = i;
    c->heads_dim = SIZE_MAX;
    for (i = 0; i + 1 < c->rank; i++)
        if (i != c->rows_dim)
            c->heads_dim = i;
}

/* Rows of all heads are read tile by tile. A chunk that belongs to one head is needed until its last row was read, so
 * some rows of chunks a head are kept, those that are inflated at the same time; one that several heads share is needed
 * for all of them. `count`: what is read at a time. */
static enum status reserve_slots(struct h5chunk *c, const struct h5 *ds, const size_t *count, struct error *err)
{
    size_t memory = c->memory ? c->memory : DEFAULT_MEMORY, heads, n, most = memory / 2 / c->codec.bytes, i;
    bool is_shared = false;

    if (c->slots)
        return OK;
    if (c->codec.bytes > memory / CHUNK_COPIES)
        return h5chunk_too_large(c, ds, memory, err);
    c->n_jobs = memory / 4 / c->codec.bytes;
    c->n_jobs = c->n_jobs < 1 ? 1 : c->n_jobs < N_JOBS ? c->n_jobs : N_JOBS;
    find_dimensions(c, count);
    heads = c->heads_dim == SIZE_MAX ? 1 : chunks_along(c, c->heads_dim);
    for (i = 0; i + 1 < c->rank; i++)
        is_shared = is_shared || (i != c->rows_dim && c->chunk[i] != 1);
    c->rows_kept = is_shared ? chunks_along(c, c->rows_dim) : KEPT_ROWS;
    if (!size_mul(chunks_along(c, c->rank - 1), heads, &n) || !size_mul(n, c->rows_kept, &n) || n > most)
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
    c->codec.element = bytes = H5Tget_size(type.id);
    for (i = 0; i < rank; i++) {
        if (chunk[i] == 0 || chunk[i] > MAX_CHUNK_BYTES || !size_mul(bytes, (size_t)chunk[i], &bytes) ||
            bytes > MAX_CHUNK_BYTES)
            return h5_bad(ds, err, "chunks of more than %zu bytes; write the file with smaller ones", MAX_CHUNK_BYTES);
        c->dim[i] = (size_t)dim[i];
        c->chunk[i] = (size_t)chunk[i];
    }
    c->codec.bytes = bytes;
    *ret_fits = bytes > 0;
    return OK;
}

/* Is the value of what was never written zero, as it is unless somebody chose another? */
static bool is_filled_with_zero(const struct h5 *ds, hid_t list, size_t element)
{
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    H5D_fill_value_t state = H5D_FILL_VALUE_ERROR;
    unsigned char value[64] = {0};
    size_t i;

    if (H5Pfill_value_defined(list, &state) < 0 || state != H5D_FILL_VALUE_USER_DEFINED)
        return true;
    if (element > sizeof value || H5Pget_fill_value(list, type.id, value) < 0)
        return false;
    for (i = 0; i < element; i++)
        if (value[i] != 0)
            return false;
    return true;
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
    c->fills_zero = is_filled_with_zero(ds, list.id, c->codec.element);
    H5Eclear2(H5E_DEFAULT);
    TRY(mem_new(N_JOBS, sizeof *c->jobs, &c->jobs, err));
    *ret_usable = true;
    return OK;
}

static enum status broken(const struct h5 *ds, const hsize_t *at, struct error *err)
{
    return h5_bad(ds, err, "the chunk at element %llu of its first dimension is damaged; copy or write the file again",
                  (unsigned long long)at[0]);
}

/* Without filters the library gives a size for a chunk that was never written too. */
static bool was_written(const struct h5 *ds, const hsize_t *at)
{
    haddr_t address = HADDR_UNDEF;
    hsize_t stored = 0;
    unsigned mask = 0;

    return H5Dget_chunk_info_by_coord(ds->id, at, &mask, &address, &stored) < 0 || address != HADDR_UNDEF;
}

/* A chunk that was never written, as a mask hides many, holds the fill value; any but zero is a value to be read. */
static enum status check_fill(const struct h5chunk *c, const struct h5 *ds, const hsize_t *at, struct error *err)
{
    H5Eclear2(H5E_DEFAULT);
    if (c->fills_zero)
        return OK;
    return h5_bad(ds, err,
                  "the chunk at element %llu of its first dimension was never written, and the fill value is not 0: "
                  "write all chunks",
                  (unsigned long long)at[0]);
}

static enum status read_stored(const struct h5chunk *c, const struct h5 *ds, const hsize_t *at, struct chunk_decoder *d,
                               struct error *err)
{
    hsize_t stored = 0;
    uint32_t mask = 0;

    if (H5Dget_chunk_storage_size(ds->id, at, &stored) < 0) {
        if (was_written(ds, at))
            return h5_failed(ds, ERR_FORMAT, "a chunk cannot be found; the file may be damaged", err);
        H5Eclear2(H5E_DEFAULT);
    }
    /* gzip adds a few bytes at worst */
    if (stored > c->codec.bytes + c->codec.bytes / 8 + 1024)
        return broken(ds, at, err);
    d->len = 0;
    TRY(chunk_decoder_reserve(d, &c->codec, (size_t)stored, err));
    if (stored == 0 || H5Dread_chunk(ds->id, H5P_DEFAULT, at, &mask, d->raw) < 0)
        return stored > 0 && was_written(ds, at)
                   ? h5_failed(ds, ERR_FORMAT, "a chunk cannot be read; the file may be damaged", err)
                   : check_fill(c, ds, at, err);
    d->len = (size_t)stored;
    d->mask = mask;
    return OK;
}

enum status h5chunk_fetch(const struct h5chunk *c, const struct h5 *ds, const hsize_t *at, struct chunk_decoder *d,
                          struct error *err)
{
    static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
    enum status st;

    pthread_mutex_lock(&library);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of this thread */
    st = read_stored(c, ds, at, d, err);
    pthread_mutex_unlock(&library);
    TRY(st);
    return chunk_decode(d, &c->codec) ? OK : broken(ds, at, err);
}

/* Calls nothing of the library. */
static void decode(void *context, size_t item, int thread)
{
    const struct h5chunk *c = context;
    struct h5chunk_job *job = &c->jobs[item];

    (void)thread;
    job->is_broken = !chunk_decode(&job->decoder, &c->codec);
    if (!job->is_broken)
        chunk_values(&job->decoder, &c->codec, 0, c->codec.bytes / c->codec.element, job->to);
}

static enum status decode_all(struct h5chunk *c, const struct h5 *ds, size_t n, struct error *err)
{
    size_t i;

    parallel_for(n, n * c->codec.bytes < FEW_BYTES ? 1 : cpu_threads(), decode, c);
    for (i = 0; i < n; i++)
        if (c->jobs[i].is_broken)
            return broken(ds, c->jobs[i].at, err);
    return OK;
}

static struct h5chunk_slot *slot_of(struct h5chunk *c, const size_t *index)
{
    size_t plane = 0, across = chunks_along(c, c->rank - 1), i;

    for (i = 0; i + 1 < c->rank; i++)
        if (i != c->rows_dim)
            plane = plane * chunks_along(c, i) + index[i];
    return &c->slots[((plane * c->rows_kept + index[c->rows_dim] % c->rows_kept) * across + index[c->rank - 1]) %
                     c->n_slots];
}

static void corner(const struct h5chunk *c, const size_t *index, hsize_t at[H5CHUNK_MAX_RANK])
{
    size_t i;

    memset(at, 0, H5CHUNK_MAX_RANK * sizeof *at);
    for (i = 0; i < c->rank; i++)
        at[i] = index[i] * c->chunk[i];
}

/* Does the slot hold the chunk at `at`? */
static bool is_held(const struct h5chunk_slot *s, const hsize_t *at)
{
    return s->is_filled && memcmp(s->at, at, sizeof s->at) == 0;
}

/* Makes the chunk at `index` the next job, unless its slot has it already or waits for another one; *ret_n counts. */
static enum status add_job(struct h5chunk *c, const struct h5 *ds, const size_t *index, size_t *ret_n,
                           struct error *err)
{
    struct h5chunk_slot *s = slot_of(c, index);
    struct h5chunk_job *job = &c->jobs[*ret_n];
    size_t i;

    corner(c, index, job->at);
    if (is_held(s, job->at))
        return OK;
    if (!s->data)
        TRY(mem_new(c->codec.bytes, 1, &s->data, err));
    for (i = 0; i < *ret_n; i++)
        if (c->jobs[i].to == s->data)
            return OK;
    s->is_filled = false;
    TRY(read_stored(c, ds, job->at, &job->decoder, err));
    job->to = s->data;
    memcpy(s->at, job->at, sizeof s->at);
    (*ret_n)++;
    return OK;
}

/* Fills the slot of the chunk at `index`, and of those below it up to row `last` as far as slots are kept. */
static enum status fill_slots(struct h5chunk *c, const struct h5 *ds, const size_t *index, size_t last,
                              struct error *err)
{
    size_t at[H5CHUNK_MAX_RANK], n = 0, rows, d = c->rows_dim, i;
    enum status st;

    memcpy(at, index, sizeof at);
    for (rows = 0; rows < c->rows_kept && n < c->n_jobs && at[d] * c->chunk[d] < last; rows++, at[d]++)
        TRY(add_job(c, ds, at, &n, err));
    st = decode_all(c, ds, n, err);
    for (i = 0; st == OK && i < n; i++) {
        memcpy(at, index, sizeof at);
        at[d] = (size_t)(c->jobs[i].at[d] / c->chunk[d]);
        slot_of(c, at)->is_filled = true;
    }
    return st;
}

static enum status find_chunk(struct h5chunk *c, const struct h5 *ds, const size_t *index, size_t last,
                              const unsigned char **ret, struct error *err)
{
    struct h5chunk_slot *s = slot_of(c, index);
    hsize_t at[H5CHUNK_MAX_RANK];

    corner(c, index, at);
    if (!is_held(s, at))
        TRY(fill_slots(c, ds, index, last, err));
    *ret = s->data;
    return OK;
}

/* Copies what a chunk and the slab have in common: elements [from, to) of every dimension, counted in the array. */
static void copy_common(const struct h5chunk *c, const unsigned char *chunk, const size_t *top, const size_t *from,
                        const size_t *to, const size_t *start, const size_t *count, unsigned char *ret)
{
    size_t at[H5CHUNK_MAX_RANK], last = c->rank - 1, i;

    memcpy(at, from, sizeof at);
    for (;;) {
        size_t source = 0, target = 0;

        for (i = 0; i < c->rank; i++) {
            source = source * c->chunk[i] + at[i] - top[i];
            target = target * count[i] + at[i] - start[i];
        }
        memcpy(ret + target * c->codec.element, chunk + source * c->codec.element,
               (to[last] - from[last]) * c->codec.element);
        for (i = last; i-- > 0;) { /* the next run, the last dimension but one fastest */
            if (++at[i] < to[i])
                break;
            at[i] = from[i];
        }
        if (i == SIZE_MAX)
            return;
    }
}

/* The part of the slab that lies in the chunk at `index`. */
static enum status copy_chunk(struct h5chunk *c, const struct h5 *ds, const size_t *index, const size_t *start,
                              const size_t *count, unsigned char *ret, struct error *err)
{
    size_t top[H5CHUNK_MAX_RANK] = {0}, from[H5CHUNK_MAX_RANK] = {0}, to[H5CHUNK_MAX_RANK] = {0}, i;
    const unsigned char *data = NULL;

    for (i = 0; i < c->rank; i++) {
        size_t end = start[i] + count[i];

        top[i] = index[i] * c->chunk[i];
        from[i] = start[i] > top[i] ? start[i] : top[i];
        to[i] = end - top[i] < c->chunk[i] ? end : top[i] + c->chunk[i];
    }
    TRY(find_chunk(c, ds, index, start[c->rows_dim] + count[c->rows_dim], &data, err));
    copy_common(c, data, top, from, to, start, count, ret);
    return OK;
}

enum status h5chunk_slab(struct h5chunk *c, const struct h5 *ds, const size_t *start, const size_t *count,
                         unsigned char *ret, struct error *err)
{
    size_t index[H5CHUNK_MAX_RANK] = {0}, i;

    for (i = 0; i < c->rank; i++) {
        if (count[i] == 0)
            return OK;
        index[i] = start[i] / c->chunk[i];
    }
    TRY(reserve_slots(c, ds, count, err));
    for (;;) {
        TRY(copy_chunk(c, ds, index, start, count, ret, err));
        for (i = c->rank; i-- > 0;) { /* the next chunk, the last dimension fastest */
            if (++index[i] * c->chunk[i] < start[i] + count[i])
                break;
            index[i] = start[i] / c->chunk[i];
        }
        if (i == SIZE_MAX)
            return OK;
    }
}

enum status h5chunk_verify(const struct h5 *ds, struct error *err)
{
    AUTO(h5chunk) c = {0};
    AUTO(chunk_decoder) decoder = {0};
    hsize_t at[H5CHUNK_MAX_RANK] = {0};
    bool usable = false;
    size_t i;

    TRY(h5chunk_init(&c, ds, &usable, err));
    for (i = 0; i < c.rank; i++)
        if (c.dim[i] == 0)
            return OK;
    if (!usable)
        return OK;
    do {
        TRY(h5chunk_fetch(&c, ds, at, &decoder, err));
        for (i = c.rank; i-- > 0;) { /* the next corner, last dimension fastest */
            at[i] += c.chunk[i];
            if (at[i] < c.dim[i])
                break;
            at[i] = 0;
        }
    } while (i < c.rank);
    return OK;
}
