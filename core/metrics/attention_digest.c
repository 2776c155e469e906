#include "core/metrics/attention_digest.h"

#include "core/base/mem.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void head_digests_done(struct head_digests *d)
{
    size_t i;

    for (i = 0; i < d->n_states; i++)
        XXH3_freeState(d->states[i]);
    free(d->states);
    memset(d, 0, sizeof *d);
}

enum status head_digests_begin(struct head_digests *d, size_t n_heads, struct error *err)
{
    size_t i;

    TRY(mem_grow(&d->states, &d->cap_states, n_heads, sizeof *d->states, err));
    for (; d->n_states < n_heads; d->n_states++) {
        d->states[d->n_states] = XXH3_createState();
        if (!d->states[d->n_states])
            return error_set(err, ERR_MEMORY, "no memory for the digests of %zu heads", n_heads);
    }
    for (i = 0; i < n_heads; i++)
        XXH3_128bits_reset(d->states[i]);
    return OK;
}

static void add_row(struct XXH3_state_s *state, const void *bytes, size_t n)
{
    XXH128_canonical_t row;

    XXH128_canonicalFromHash(&row, XXH3_128bits(bytes, n));
    XXH3_128bits_update(state, &row, sizeof row);
}

struct job {
    struct head_digests *d;
    size_t head;
    const struct digest_rows *rows;
};

static void add_head(void *context, size_t item, int thread)
{
    const struct job *job = context;
    const struct digest_rows *r = job->rows;
    size_t row_bytes = r->n_columns * r->element, i;
    const char *row = (const char *)r->rows + item * r->n_rows * row_bytes;

    (void)thread;
    for (i = 0; i < r->n_rows; i++, row += row_bytes) {
        struct row_span s = r->spans[i];

        if (s.lo >= s.hi)
            continue;
        if (r->whole_rows)
            s = (struct row_span){0, (uint32_t)r->n_columns};
        add_row(job->d->states[job->head + item], row + s.lo * r->element, (s.hi - s.lo) * r->element);
    }
}

void head_digests_add(struct head_digests *d, size_t head, const struct digest_rows *rows)
{
    struct job job = {d, head, rows};

    parallel_for(rows->n_heads, cpu_threads(), add_head, &job);
}

void head_digests_add_keys(struct head_digests *d, size_t head, size_t n_heads, const void *keys, size_t n,
                           size_t key_bytes)
{
    const char *key = keys;
    size_t i, h;

    for (h = head; h < head + n_heads; h++)
        for (i = 0; i < n; i++)
            add_row(d->states[h], key + i * key_bytes, key_bytes);
}

void head_digests_end(const struct head_digests *d, size_t n_heads, unsigned char *ret)
{
    size_t i;

    for (i = 0; i < n_heads; i++) {
        XXH128_canonical_t digest;

        XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(d->states[i]));
        memcpy(ret + i * DIGEST_BYTES, &digest, DIGEST_BYTES);
    }
}
