#include "core/base/scope.h"
#include "core/base/sha256.h"
#include "core/io/dump.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last head of the last sample of the last layer, as h5py reads its bytes without conversion:
 *   t = d.id.get_type(); b = np.empty(d.shape, f"V{t.get_size()}"); d.id.read(h5s.ALL, h5s.ALL, b, mtype=t)
 *   hashlib.sha256(b[-1, -1].tobytes()).hexdigest() */
static const struct {
    const char *name;
    enum dump_kind kind;
    enum dtype dtype;
    size_t n_layers, n_samples, n_heads, n_kv_heads, n_rows, n_cols, dim;
    const char *tensor_sha256, *k_sha256;
} files[] = {
    {"short_fp32", DUMP_WEIGHTS, DTYPE_F32, 2, 1, 4, 4, 44, 44, 0,
     "473a9f40a10d3b865e27b502a5002860e421a0a9903807c4ab375cca67ba4aa5", ""},
    {"short_fp16", DUMP_WEIGHTS, DTYPE_F16, 2, 1, 4, 4, 44, 44, 0,
     "17d0d344d51a1b14d51bc68ed2c051a9dec78e3c890f130f48bc9aca80fb131c", ""},
    {"short_bf16", DUMP_WEIGHTS, DTYPE_BF16, 2, 1, 4, 4, 44, 44, 0,
     "667d2b86e93d0366a0c3f25ac4c01830d9731209967bade3b311aa5b0fdc3606", ""},
    {"short_bf16_h5float", DUMP_WEIGHTS, DTYPE_BF16, 2, 1, 4, 4, 44, 44, 0,
     "667d2b86e93d0366a0c3f25ac4c01830d9731209967bade3b311aa5b0fdc3606", ""},
    {"batch3_fp16", DUMP_WEIGHTS, DTYPE_F16, 2, 3, 4, 4, 47, 47, 0,
     "5710f74981521d773d44853caf2068346e50a23dd9d6bb9772827bd59b839d1b", ""},
    {"decode24_fp16", DUMP_WEIGHTS, DTYPE_F16, 1, 1, 4, 4, 24, 321, 0,
     "29f11a2f08f252b3cf6663584c0ed90a396921ed1c6f2695449784815a1854bf", ""},
    {"short_qk_fp16", DUMP_QK, DTYPE_F16, 1, 1, 2, 1, 44, 44, 256,
     "e15ca671d103a4bda75a763847d3baf757034a77764cba9597f9122229964b7e",
     "c5b0db8875b0b5735a10e8c7f73b1f6898ceec5dea494f897230f12c50b9b3a4"},
    {"short_qk_bf16", DUMP_QK, DTYPE_BF16, 1, 1, 2, 1, 44, 44, 256,
     "3c5ecd5335a85ac60b399c10399f497d323df2dfe7154f4de412f07706f6875b",
     "19df855a5060a7db6057498b3780d142fe7aedc82344a77027eeefbf62f4eaf6"},
    {"minilm_qk_fp32", DUMP_QK, DTYPE_F32, 1, 2, 4, 4, 37, 37, 32,
     "a163c36b132aba773be2ccbc8df98a69c70e9451efce40cb3db8ae0d4ce6f4d9",
     "d7ceffa8fa959c8fe038a3e7d3ea2cc86c3a2cefd8ed09c11096ea56b809f00c"},
};

static void open_fixture(struct dump *d, const char *name)
{
    struct error err = {0};
    char path[128];

    snprintf(path, sizeof path, "tests/fixtures/dumps/%s.h5", name);
    MUST(dump_open(d, path, &err));
}

/* All rows of one head in tiles of `tile` rows, hashed. */
static void hash_rows(struct dump *d, size_t layer, size_t sample, size_t head, size_t tile, struct sha256 *ret)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t row_bytes = (l->kind == DUMP_QK ? l->dim : l->n_cols) * dtype_bytes(l->dtype), row;
    unsigned char *bytes = malloc(l->n_rows * row_bytes);
    struct error err = {0};

    for (row = 0; row < l->n_rows; row += tile) {
        size_t n = l->n_rows - row < tile ? l->n_rows - row : tile;

        if (l->kind == DUMP_QK)
            MUST(dump_read_q(d, layer, sample, head, row, n, bytes + row * row_bytes, &err));
        else
            MUST(dump_read_weights(d, layer, sample, head, row, n, bytes + row * row_bytes, &err));
    }
    MUST(sha256_bytes(ret, bytes, l->n_rows * row_bytes, &err));
    free(bytes);
}

Test(dump, every_form_is_read_as_it_is_stored)
{
    static const size_t tiles[] = {1, 7, 16, 1000};
    size_t i, t;

    for (i = 0; i < sizeof files / sizeof *files; i++) {
        AUTO(dump) d = {0};
        const struct dump_layer *l;

        open_fixture(&d, files[i].name);
        cr_assert(d.n_layers == files[i].n_layers && d.n_samples == files[i].n_samples, "%s", files[i].name);
        l = &d.layers[d.n_layers - 1];
        cr_assert(l->kind == files[i].kind && l->dtype == files[i].dtype, "%s", files[i].name);
        cr_assert(l->n_heads == files[i].n_heads && l->n_kv_heads == files[i].n_kv_heads, "%s", files[i].name);
        cr_assert(l->n_rows == files[i].n_rows && l->n_cols == files[i].n_cols && l->dim == files[i].dim, "%s",
                  files[i].name);
        for (t = 0; t < sizeof tiles / sizeof *tiles; t++) {
            struct sha256 hash = {""};

            hash_rows(&d, d.n_layers - 1, d.n_samples - 1, l->n_heads - 1, tiles[t], &hash);
            cr_assert(eq(str, hash.hex, (char *)files[i].tensor_sha256), "%s in tiles of %zu rows", files[i].name,
                      tiles[t]);
        }
    }
}

Test(dump, keys_are_read_whole)
{
    size_t i;

    for (i = 0; i < sizeof files / sizeof *files; i++) {
        AUTO(dump) d = {0};
        struct error err = {0};
        struct sha256 hash = {""};
        size_t bytes;
        void *k;

        if (files[i].kind != DUMP_QK)
            continue;
        open_fixture(&d, files[i].name);
        bytes = files[i].n_cols * files[i].dim * dtype_bytes(files[i].dtype);
        k = malloc(bytes);
        MUST(dump_read_k(&d, d.n_layers - 1, d.n_samples - 1, files[i].n_kv_heads - 1, k, &err));
        MUST(sha256_bytes(&hash, k, bytes, &err));
        free(k);
        cr_assert(eq(str, hash.hex, (char *)files[i].k_sha256), "%s", files[i].name);
    }
}

Test(dump, knows_where_it_came_from)
{
    AUTO(dump) d = {0};
    struct error err = {0};
    struct sha256 hash = {""};

    open_fixture(&d, "short_fp16");
    MUST(sha256_file(&hash, "tests/fixtures/dumps/short_fp16.h5", &err));
    cr_assert(eq(str, d.source.hash.hex, hash.hex));
    cr_assert(eq(str, d.source.path, "tests/fixtures/dumps/short_fp16.h5"));
    cr_assert(eq(str, d.source.model_name, "google/gemma-3-270m (GGUF Q4_K_M, dequantised)"));
    cr_assert(eq(str, d.source.prompt_version, "v1.2"));
    cr_assert(eq(str, d.source.variant, ""), "an attribute that the file has not");
    cr_assert(eq(str, d.samples[0].id, "short"));
    cr_assert(d.samples[0].turn == 1 && d.samples[0].repeat == 1);
    cr_assert(d.layers[0].index == 0 && d.layers[1].index == 5);
    cr_assert(d.layers[0].window == 512 && d.layers[1].window == 0 && d.layers[0].causal);
}

Test(dump, padding_rows_have_no_columns)
{
    AUTO(dump) d = {0};
    struct row_span spans[64];

    open_fixture(&d, "batch3_fp16"); /* lengths 36, 47, 37 of 47, padded at the end */
    dump_spans(&d.layers[0], &d.samples[0], spans);
    cr_assert(spans[0].lo == 0 && spans[0].hi == 1);
    cr_assert(spans[35].lo == 0 && spans[35].hi == 36);
    cr_assert(spans[36].lo == 0 && spans[36].hi == 0);
    dump_spans(&d.layers[0], &d.samples[1], spans);
    cr_assert(spans[46].hi == 47);
}

Test(dump, rows_of_a_decode_step_begin_late)
{
    AUTO(dump) d = {0};
    struct row_span spans[64];

    open_fixture(&d, "decode24_fp16"); /* 24 rows from key 297 on */
    dump_spans(&d.layers[0], &d.samples[0], spans);
    cr_assert(spans[0].lo == 0 && spans[0].hi == 298);
    cr_assert(spans[23].hi == 321);
}

Test(dump, an_encoder_sees_the_whole_sample)
{
    AUTO(dump) d = {0};
    struct row_span spans[64];

    open_fixture(&d, "minilm_qk_fp32"); /* lengths 22 and 4 of 37 */
    dump_spans(&d.layers[0], &d.samples[1], spans);
    cr_assert(spans[0].lo == 0 && spans[0].hi == 4 && spans[3].hi == 4 && spans[4].hi == 0);
}

/* Spans by hand: row i stands at key p = query_start + i. */
Test(dump, spans_follow_mask_window_and_first_column)
{
    static const struct {
        bool causal;
        int64_t window, key_start, first, length, query_start;
        size_t n_cols, row;
        uint32_t lo, hi;
    } cases[] = {
        {true, 0, 0, 0, 5, 0, 8, 4, 0, 5},  {true, 0, 0, 0, 5, 0, 8, 5, 0, 0},  {true, 2, 0, 0, 5, 0, 8, 4, 3, 5},
        {true, 0, 0, 3, 5, 0, 8, 2, 0, 0},  {true, 0, 0, 3, 5, 0, 8, 3, 3, 4},  {true, 3, 0, 3, 5, 0, 8, 4, 3, 5},
        {false, 2, 0, 3, 4, 0, 8, 3, 3, 7}, {true, 4, 6, 0, 10, 9, 4, 0, 0, 4}, {true, 1, 0, 0, 5, 0, 8, 4, 4, 5},
        {false, 0, 0, 0, 5, 3, 8, 1, 0, 5}, {false, 0, 0, 0, 5, 3, 8, 2, 0, 0}, {true, 99, 0, 0, 5, 0, 8, 4, 0, 5},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dump_layer l = {.causal = cases[i].causal,
                               .window = cases[i].window,
                               .key_start = cases[i].key_start,
                               .n_rows = 8,
                               .n_cols = cases[i].n_cols};
        struct dump_sample s = {
            .first = cases[i].first, .length = cases[i].length, .query_start = cases[i].query_start};
        struct row_span spans[8];

        dump_spans(&l, &s, spans);
        cr_assert(spans[cases[i].row].lo == cases[i].lo && spans[cases[i].row].hi == cases[i].hi, "case %zu: [%u, %u)",
                  i, spans[cases[i].row].lo, spans[cases[i].row].hi);
    }
}

Test(dump, the_hash_may_come_later)
{
    AUTO(dump) d = {0};
    AUTO(dump) unsettled = {0};
    struct error err = {0};
    struct sha256 hash = {""};

    MUST(sha256_file(&hash, "tests/fixtures/dumps/short_fp16.h5", &err));
    MUST(dump_begin(&unsettled, "tests/fixtures/dumps/short_fp16.h5", NULL, &err));
    MUST(dump_begin(&d, "tests/fixtures/dumps/short_fp16.h5", NULL, &err));
    MUST(dump_settle(&d, &err));
    cr_assert(eq(str, d.source.hash.hex, hash.hex));
    MUST(dump_settle(&d, &err));
    cr_assert(eq(str, d.source.hash.hex, hash.hex), "settled twice");
}
