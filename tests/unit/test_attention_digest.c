#include "core/metrics/attention_digest.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

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

static void digest_of_head(const unsigned short *values, size_t step, char text[2 * DIGEST_BYTES + 1])
{
    unsigned char rows[3 * DIGEST_BYTES], got[DIGEST_BYTES];
    size_t row;

    for (row = 0; row < 3; row += step) {
        struct digest_rows some = {.rows = values + 4 * row,
                                   .n = step,
                                   .row_bytes = 4 * sizeof *values,
                                   .spans = spans + row,
                                   .element = sizeof *values};

        digest_each(&some, rows + row * DIGEST_BYTES);
    }
    digest_head(rows, spans, 3, NULL, 0, got);
    hex(got, text);
}

Test(attention_digest, is_that_of_the_visible_bytes_of_each_row)
{
    unsigned short values[24];
    char text[2 * DIGEST_BYTES + 1];
    size_t h;

    fill(values);
    for (h = 0; h < 2; h++) {
        digest_of_head(values + 12 * h, 3, text);
        cr_assert(eq(str, text, (char *)want[h]));
    }
}

Test(attention_digest, does_not_hang_on_how_the_rows_are_cut_nor_on_what_is_hidden)
{
    unsigned short values[24];
    char text[2 * DIGEST_BYTES + 1];

    fill(values);
    values[1] = values[4] = values[7] = values[8] = 999; /* none of them is visible */
    digest_of_head(values, 1, text);
    cr_assert(eq(str, text, (char *)want[0]));
}

/* python3 -c "import xxhash, numpy as np; a = np.arange(24, dtype='<u2').reshape(6, 4);
 * print(xxhash.xxh3_128(b''.join(xxhash.xxh3_128(a[i].tobytes()).digest() for i in (0, 2, 3, 4, 5))).hexdigest())" */
Test(attention_digest, of_queries_and_keys_takes_whole_rows_the_keys_last)
{
    unsigned short values[24];
    unsigned char rows[6 * DIGEST_BYTES], keys[3 * DIGEST_BYTES], got[DIGEST_BYTES];
    struct digest_rows q = {.rows = values, .n = 3, .row_bytes = 4 * sizeof *values};
    struct digest_rows k = {.rows = values + 12, .n = 3, .row_bytes = 4 * sizeof *values};
    char text[2 * DIGEST_BYTES + 1];

    fill(values);
    digest_each(&q, rows);
    digest_each(&k, keys);
    digest_head(rows, spans, 3, keys, 3, got);
    hex(got, text);
    cr_assert(eq(str, text, (char *)"c83894170bafb401b94f22a1db95e842"));
}

/* python3 -c "import xxhash, struct; d = bytes(range(16));
 * print(xxhash.xxh3_128(d + struct.pack('<d', 1 / 255)).hexdigest())" */
Test(attention_digest, hangs_on_the_factor_of_a_row)
{
    unsigned char row[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];
    unsigned char i;

    for (i = 0; i < DIGEST_BYTES; i++)
        row[i] = i;
    digest_factor(row, 1.0 / 255);
    hex(row, text);
    cr_assert(eq(str, text, (char *)"654e17b2cc73857db0d1b645c920fe81"));
}

Test(attention_digest, of_rows_that_see_nothing_is_zero)
{
    static const struct row_span none[2];
    unsigned char rows[2 * DIGEST_BYTES] = {1}, got[DIGEST_BYTES] = {1};
    char text[2 * DIGEST_BYTES + 1];

    digest_head(rows, none, 2, NULL, 0, got);
    hex(got, text);
    cr_assert(eq(str, text, (char *)"00000000000000000000000000000000"));
}
