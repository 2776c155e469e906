#include "core/base/scope.h"
#include "core/metrics/attention_digest.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct error err;

static void hex(const unsigned char *digest, char text[2 * DIGEST_BYTES + 1])
{
    size_t i;

    for (i = 0; i < DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* python3 -c "import xxhash, numpy as np; a = np.arange(24, dtype='<u2').reshape(2, 3, 4)
 * for h in a: print(xxhash.xxh3_128(b''.join(xxhash.xxh3_128(r[l:u].tobytes()).digest()
 *     for r, (l, u) in zip(h, [(0, 1), (2, 2), (1, 4)]) if l < u)).hexdigest())" */
static const char *const want[2] = {"29b0555333685c137049c2aa367ff9cc", "14290defd6beeaff67c1c9b1bd473a5b"};

static const struct row_span spans[3] = {{0, 1}, {2, 2}, {1, 4}};

static void fill(unsigned short values[24])
{
    unsigned short i;

    for (i = 0; i < 24; i++)
        values[i] = i;
}

Test(attention_digest, is_that_of_the_visible_bytes_of_each_row)
{
    AUTO(head_digests) d = {0};
    unsigned short values[24];
    struct digest_rows rows = {
        .rows = values, .spans = spans, .n_heads = 2, .n_rows = 3, .n_columns = 4, .element = sizeof *values};
    unsigned char got[2 * DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];
    size_t h;

    fill(values);
    MUST(head_digests_begin(&d, 2, &err));
    head_digests_add(&d, 0, &rows);
    head_digests_end(&d, 2, got);
    for (h = 0; h < 2; h++) {
        hex(got + h * DIGEST_BYTES, text);
        cr_assert(eq(str, text, (char *)want[h]));
    }
}

Test(attention_digest, does_not_hang_on_how_the_rows_are_cut_nor_on_what_is_hidden)
{
    AUTO(head_digests) d = {0};
    unsigned short values[24];
    unsigned char got[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];
    size_t row;

    fill(values);
    values[1] = values[4] = values[7] = values[8] = 999; /* none of them is visible */
    MUST(head_digests_begin(&d, 1, &err));
    for (row = 0; row < 3; row++) {
        struct digest_rows one = {.rows = values + 4 * row,
                                  .spans = spans + row,
                                  .n_heads = 1,
                                  .n_rows = 1,
                                  .n_columns = 4,
                                  .element = sizeof *values};

        head_digests_add(&d, 0, &one);
    }
    head_digests_end(&d, 1, got);
    hex(got, text);
    cr_assert(eq(str, text, (char *)want[0]));
}
