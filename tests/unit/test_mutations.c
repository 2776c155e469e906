#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "core/io/runfile.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/sample_run.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Damaged files: a reader may refuse or give what is there, but it must come back. TARE_MUTATIONS sets how many a file.
 */

/* The library itself leaks on some damaged files; what we allocate stays under watch. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

TestSuite(mutations, .init = folder_make, .fini = folder_drop, .timeout = 280);

static size_t n_mutations(void)
{
    const char *text = getenv("TARE_MUTATIONS");

    return text ? (size_t)strtoul(text, NULL, 10) : 100;
}

/* Overwrites one to four bytes; most strike the first half, where the structure lies. */
static void damage(unsigned char *bytes, size_t len, uint64_t stream, uint64_t index)
{
    size_t n = 1 + rng_at(1, stream, index).word[0] % 4, i;

    for (i = 0; i < n; i++) {
        struct rng_block r = rng_at(2 + i, stream, index);
        size_t range = r.word[0] % 4 ? (len + 1) / 2 : len;
        static const unsigned char special[] = {0, 1, 0x7f, 0x80, 0xff};

        bytes[r.word[1] % range] = r.word[2] % 2 ? special[r.word[3] % sizeof special] : (unsigned char)r.word[3];
    }
}

/* Reads the file whole, so that nothing is left untouched. */
static void read_dump_as(const char *path, const struct dump_options *options)
{
    struct error err = {0};
    AUTO(dump) d = {0};
    size_t l, s, h;

    if (dump_open_as(&d, path, options, &err) != OK)
        return;
    for (l = 0; l < d.n_layers; l++) {
        const struct dump_layer *layer = &d.layers[l];
        size_t width = layer->kind == DUMP_QK ? layer->dim : layer->n_cols;
        size_t bytes = layer->n_rows * width * dtype_bytes(layer->dtype);
        void *rows = bytes < (size_t)1 << 28 ? malloc(bytes) : NULL;

        for (s = 0; rows && s < d.n_samples && s < 4; s++)
            for (h = 0; h < layer->n_heads && h < 4; h++) {
                struct error e = {0};
                enum status st = layer->kind == DUMP_QK ? dump_read_q(&d, l, s, h, 0, layer->n_rows, rows, &e)
                                                        : dump_read_weights(&d, l, s, h, 0, layer->n_rows, rows, &e);

                cr_assert(st == OK || e.message[0], "a failure without a message");
            }
        free(rows);
    }
}

static void read_dump(const char *path)
{
    read_dump_as(path, NULL);
}

/* The map is good, so that the damage lies in what it is laid over. */
static void read_mapped(const char *path)
{
    static const char map[] = "{\"weights\": \"layers/{layer}/attn_weights\", \"causal\": true, \"ids\": [\"a\"], "
                              "\"lengths\": null}";
    struct dump_options options = {.layout = folder_file("map.json")};
    struct error err = {0};

    if (!file_exists(options.layout))
        MUST(file_write(options.layout, map, strlen(map), &err));
    read_dump_as(path, &options);
}

static void read_run(const char *path)
{
    struct error err = {0};
    AUTO(run) r = {0};

    cr_assert(runfile_read(&r, path, &err) == OK || err.message[0], "a failure without a message");
}

/* Without the wait for the disk that file_write() has. */
static void put(const char *path, const struct buf *bytes)
{
    FILE *f = fopen(path, "wb");

    cr_assert(f != NULL && fwrite(bytes->data, 1, bytes->len, f) == bytes->len && fclose(f) == 0);
}

static void mutate(const char *original, void (*read)(const char *))
{
    struct error err = {0};
    AUTO(buf) whole = {0};
    AUTO(buf) copy = {0};
    size_t i;

    MUST(file_read(original, 1 << 24, &whole, &err));
    for (i = 0; i < n_mutations(); i++) {
        buf_clear(&copy);
        buf_append(&copy, whole.data, whole.len);
        damage((unsigned char *)copy.data, copy.len, rng_stream(original[0] == '/' ? "run" : original), i);
        put(folder_file("mutant.h5"), &copy);
        read(folder_file("mutant.h5"));
    }
}

Test(mutations, a_damaged_dump_of_weights_is_survived)
{
    mutate("tests/fixtures/dumps/short_fp16.h5", read_dump);
}

Test(mutations, a_damaged_dump_of_queries_and_keys_is_survived)
{
    mutate("tests/fixtures/dumps/minilm_qk_fp32.h5", read_dump);
}

Test(mutations, a_damaged_safetensors_file_is_survived)
{
    mutate("tests/fixtures/dumps/short_fp16.safetensors", read_dump);
}

Test(mutations, a_damaged_npz_file_is_survived)
{
    mutate("tests/fixtures/dumps/short_fp16.npz", read_dump);
}

Test(mutations, a_damaged_deflated_npz_file_is_survived)
{
    mutate("tests/fixtures/dumps/batch3_fp16_deflate.npz", read_dump);
}

Test(mutations, a_damaged_zip64_directory_is_survived)
{
    mutate("tests/fixtures/dumps/short_fp16_zip64.npz", read_dump);
}

Test(mutations, a_damaged_dump_under_a_map_is_survived)
{
    mutate("tests/fixtures/dumps/short_fp16.h5", read_mapped);
}

Test(mutations, a_damaged_run_file_is_survived)
{
    AUTO(run) r = {0};
    struct error err = {0};

    sample_run(&r);
    MUST(runfile_write(&r, folder_file("run.h5"), &err));
    mutate(folder_file("run.h5"), read_run);
}
