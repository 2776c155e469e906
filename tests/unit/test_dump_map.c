#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "core/io/dump_rows.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/zip_make.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(dump_map, .init = folder_make, .fini = folder_drop);

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"
#define SAID               "\"causal\": true, \"ids\": [\"a\", \"b\"], \"lengths\": null"

/* Two samples, three layers, one head, two keys: row 0 sees key 0; row 1 gives key 0 the weight (2 layer + sample) / 8.
 */
static float tensor[2][3][1][2][2];

static void fill(void)
{
    int s, l;

    for (s = 0; s < 2; s++)
        for (l = 0; l < 3; l++) {
            float w = (float)(2 * l + s) / 8;

            tensor[s][l][0][0][0] = 1;
            tensor[s][l][0][1][0] = w;
            tensor[s][l][0][1][1] = 1 - w;
        }
}

static void put(const char *name, const void *bytes, size_t len)
{
    FILE *f = fopen(folder_file(name), "wb");

    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

static void put_npy(const char *header, const void *values, size_t len)
{
    AUTO(buf) b = {0};

    npy_make(&b, 1, header, values, len);
    put("x.npy", b.data, b.len);
}

static enum status open_mapped(struct dump *d, const char *dump, const char *map, struct error *err)
{
    struct dump_options options = {.layout = folder_file("map.json")};

    put("map.json", map, strlen(map));
    return dump_open_as(d, dump, &options, err);
}

static void holds_the_tensor(struct dump *d, int64_t first_layer)
{
    struct error err = {0};
    size_t s, l;

    cr_assert(d->n_samples == 2 && d->n_layers == 3);
    for (s = 0; s < 2; s++)
        for (l = 0; l < 3; l++) {
            float got[4];

            cr_assert(d->layers[l].index == first_layer + (int64_t)l && d->layers[l].causal);
            MUST(dump_read_weights(d, l, s, 0, 0, 2, got, &err));
            cr_assert(memcmp(got, tensor[s][l], sizeof got) == 0, "sample %zu, layer %zu", s, l);
            MUST(dump_read_weights(d, l, s, 0, 1, 1, got, &err));
            cr_assert(memcmp(got, tensor[s][l][0][1], 2 * sizeof *got) == 0, "sample %zu, layer %zu", s, l);
        }
}

Test(dump_map, one_array_of_all_layers)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    fill();
    put_npy(DICT("<f4", "(2, 3, 1, 2, 2)"), tensor, sizeof tensor);
    MUST(open_mapped(&d, folder_file("x.npy"),
                     "{\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows,cols\", \"layer\": 9, " SAID "}",
                     &err));
    holds_the_tensor(&d, 9);
    cr_assert(eq(str, d.samples[1].id, "b"));
    cr_assert(d.samples[1].length == 2 && d.samples[1].first == 0 && d.samples[1].query_start == 0);
}

/* The last index changes slowest. */
Test(dump_map, an_array_in_fortran_order)
{
    float turned[2][2][1][3][2];
    struct error err = {0};
    AUTO(dump) d = {0};
    int s, l, i;

    fill();
    for (s = 0; s < 2; s++)
        for (l = 0; l < 3; l++)
            for (i = 0; i < 4; i++)
                turned[i % 2][i / 2][0][l][s] = tensor[s][l][0][i / 2][i % 2];
    put_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 1, 2, 2), }", turned, sizeof turned);
    MUST(open_mapped(&d, folder_file("x.npy"),
                     "{\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows,cols\", " SAID "}", &err));
    holds_the_tensor(&d, 0);
}

Test(dump_map, dimensions_that_are_left_out_are_one)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    fill();
    put_npy(DICT("<f4", "(2, 3, 2, 2)"), tensor, sizeof tensor);
    MUST(open_mapped(&d, folder_file("x.npy"),
                     "{\"stacked\": \"array\", \"axes\": \"samples,layers,rows,cols\", " SAID "}", &err));
    holds_the_tensor(&d, 0);
}

/* A layer for each name, "12" before "5" in the order of texts. */
Test(dump_map, layers_go_by_the_number_in_their_name)
{
    static const char *const names[] = {"m/5/w.npy", "m/12/w.npy", "m/7/w.npy", "m/x/w.npy", "m/5/v.npy"};
    struct zip_part parts[5];
    struct buf npy[5] = {0};
    struct error err = {0};
    AUTO(buf) zip = {0};
    AUTO(dump) d = {0};
    float got[4];
    size_t i;

    for (i = 0; i < 5; i++) {
        float values[4] = {1, 0, (float)i / 8, 1 - (float)i / 8};

        npy_make(&npy[i], 1, DICT("<f4", "(1, 2, 2)"), values, sizeof values);
        parts[i] = (struct zip_part){names[i], npy[i].data, npy[i].len, i % 2 == 1};
    }
    zip_make(&zip, parts, 5, 0, NULL);
    for (i = 0; i < 5; i++)
        buf_done(&npy[i]);
    put("x.npz", zip.data, zip.len);
    MUST(open_mapped(&d, folder_file("x.npz"),
                     "{\"weights\": \"/m/{layer}/w\", \"axes\": \"heads,rows,cols\", \"causal\": true, "
                     "\"window\": 64, \"window_by_layer\": {\"7\": 0}, \"ids\": [\"a\"], \"lengths\": [2]}",
                     &err));
    cr_assert(d.n_layers == 3 && d.layers[0].index == 5 && d.layers[1].index == 7 && d.layers[2].index == 12);
    cr_assert(d.layers[0].window == 64 && d.layers[1].window == 0 && d.layers[2].window == 64);
    MUST(dump_read_weights(&d, 2, 0, 0, 0, 2, got, &err));
    cr_assert(got[2] > 0.124F && got[2] < 0.126F, "the second array is layer 12");
}

/* The fixtures, read through a map as if they were not attn-dump. */
Test(dump_map, a_map_over_known_names_reads_the_same)
{
    static const struct {
        const char *file, *weights;
    } cases[] = {
        {"short_fp16.h5", "/layers/{layer}/attn_weights"},
        {"short_fp16.npz", "layers.{layer}.attn_weights"},
        {"short_fp16.safetensors", "layers.{layer}.attn_weights"},
        {"short_bf16_h5float.h5", "layers/{layer}/attn_weights"},
    };
    size_t i, l, h;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        static unsigned char x[44 * 44 * 2], y[44 * 44 * 2];
        char path[80], map[200];
        struct error err = {0};
        AUTO(dump) plain = {0};
        AUTO(dump) mapped = {0};

        snprintf(path, sizeof path, "tests/fixtures/dumps/%s", cases[i].file);
        snprintf(map, sizeof map, "{\"weights\": \"%s\", \"causal\": true}", cases[i].weights);
        MUST(dump_open(&plain, path, &err));
        MUST(open_mapped(&mapped, path, map, &err)); /* ids, lengths and so on are those of the file */
        cr_assert(eq(str, mapped.samples[0].id, "short"));
        cr_assert(mapped.samples[0].length == 44 && mapped.n_layers == 2);
        cr_assert(eq(str, mapped.source.model_name, plain.source.model_name));
        for (l = 0; l < 2; l++)
            for (h = 0; h < 4; h++) {
                MUST(dump_read_weights(&plain, l, 0, h, 0, 44, x, &err));
                MUST(dump_read_weights(&mapped, l, 0, h, 0, 44, y, &err));
                cr_assert(memcmp(x, y, sizeof x) == 0, "%s", cases[i].file);
            }
    }
}

Test(dump_map, queries_and_keys)
{
    static unsigned char x[44 * 256 * 2], y[44 * 256 * 2];
    struct error err = {0};
    AUTO(dump) plain = {0};
    AUTO(dump) mapped = {0};

    MUST(dump_open(&plain, "tests/fixtures/dumps/short_qk_fp16.h5", &err));
    MUST(open_mapped(&mapped, "tests/fixtures/dumps/short_qk_fp16.h5",
                     "{\"q\": \"layers/{layer}/q\", \"k\": \"layers/{layer}/k\", \"causal\": true, \"scale\": 0.0625, "
                     "\"ids\": [\"other\"], \"lengths\": null}",
                     &err));
    cr_assert(mapped.layers[0].kind == DUMP_QK && mapped.layers[0].n_kv_heads == 1 && mapped.layers[0].scale > 0.06);
    cr_assert(eq(str, mapped.samples[0].id, "other"));
    MUST(dump_read_q(&plain, 0, 0, 1, 0, 44, x, &err));
    MUST(dump_read_q(&mapped, 0, 0, 1, 0, 44, y, &err));
    cr_assert(memcmp(x, y, sizeof x) == 0);
    MUST(dump_read_k(&plain, 0, 0, 0, x, &err));
    MUST(dump_read_k(&mapped, 0, 0, 0, y, &err));
    cr_assert(memcmp(x, y, sizeof x) == 0);
}

/* The array `attn` in x.h5, in chunks that gzip packs, of which the first n_samples samples are written. */
static void put_stacked(const hsize_t chunk[5], float fill_value, hsize_t n_samples)
{
    hsize_t dims[5] = {2, 3, 1, 2, 2}, start[5] = {0}, count[5] = {n_samples, 3, 1, 2, 2};
    hid_t f = H5Fcreate(folder_file("x.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(5, dims, NULL), part = H5Screate_simple(5, count, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), ds;

    fill();
    H5Pset_chunk(list, 5, chunk);
    H5Pset_deflate(list, 4);
    H5Pset_fill_value(list, H5T_NATIVE_FLOAT, &fill_value);
    ds = H5Dcreate2(f, "attn", H5T_IEEE_F32LE, s, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sselect_hyperslab(s, H5S_SELECT_SET, start, NULL, count, NULL);
    cr_assert(H5Dwrite(ds, H5T_NATIVE_FLOAT, part, s, H5P_DEFAULT, tensor) >= 0);
    H5Dclose(ds);
    H5Pclose(list);
    H5Sclose(part);
    H5Sclose(s);
    H5Fclose(f);
}

#define STACKED "{\"stacked\": \"attn\", \"axes\": \"samples,layers,heads,rows,cols\", " SAID "}"

Test(dump_map, a_stacked_array_in_hdf5)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    put_stacked((const hsize_t[5]){1, 2, 1, 2, 1}, 0, 2);
    MUST(open_mapped(&d, folder_file("x.h5"), STACKED, &err));
    holds_the_tensor(&d, 0);
}

/* Chunks of one sample and layer are fetched by any thread: the place of both stands before heads, rows and columns. */
Test(dump_map, chunks_of_a_stacked_array_are_fetched_one_by_one)
{
    struct error err = {0};
    AUTO(dump_band) band = {0};
    AUTO(dump) d = {0};
    size_t l, s;

    put_stacked((const hsize_t[5]){1, 1, 1, 1, 2}, 0, 2);
    MUST(open_mapped(&d, folder_file("x.h5"), STACKED, &err));
    for (l = 0; l < 3; l++)
        for (s = 0; s < 2; s++) {
            struct dump_rows rows;

            MUST(dump_rows_find(&rows, &d, l, s, DUMP_PART_WEIGHTS, &err));
            cr_assert(rows.for_threads && rows.step_rows == 1);
            MUST(dump_band_read(&band, &rows, 0, 1, 0, 2, NULL, &err));
            cr_assert(memcmp(band.rows, tensor[s][l], sizeof tensor[s][l]) == 0, "layer %zu, sample %zu", l, s);
        }
}

Test(dump_map, chunks_that_were_never_written_hold_zeros_or_are_refused)
{
    static const float zeros[4];
    struct error err = {0};
    AUTO(dump_band) band = {0};
    AUTO(dump) d = {0};
    AUTO(dump) other = {0};
    struct dump_rows rows;
    float got[4];

    put_stacked((const hsize_t[5]){1, 1, 1, 2, 2}, 0, 1);
    MUST(open_mapped(&d, folder_file("x.h5"), STACKED, &err));
    MUST(dump_rows_find(&rows, &d, 2, 1, DUMP_PART_WEIGHTS, &err));
    MUST(dump_band_read(&band, &rows, 0, 1, 0, 2, NULL, &err));
    cr_assert(memcmp(band.rows, zeros, sizeof zeros) == 0);
    MUST(dump_read_weights(&d, 2, 1, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, zeros, sizeof zeros) == 0);
    dump_done(&d);

    put_stacked((const hsize_t[5]){1, 1, 1, 2, 2}, 0.5F, 1);
    MUST(open_mapped(&other, folder_file("x.h5"), STACKED, &err));
    MUST(dump_read_weights(&other, 2, 0, 0, 0, 2, got, &err));
    cr_assert(eq(int, dump_read_weights(&other, 2, 1, 0, 0, 2, got, &err), ERR_FORMAT));
    cr_assert(strstr(err.message, "never written, and the fill value is not 0") != NULL, "%s", err.message);
}

/* A map without names goes before the file's own attributes. */
Test(dump_map, a_map_may_only_correct)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    MUST(open_mapped(&d, "tests/fixtures/dumps/short_fp16.safetensors",
                     "{\"window\": 8, \"ids\": [\"task#2\"], \"prompt_version\": \"v9\"}", &err));
    cr_assert(d.layers[0].window == 8 && d.layers[1].window == 8 && d.layers[0].causal);
    cr_assert(eq(str, d.samples[0].task, "task"));
    cr_assert(d.samples[0].turn == 2);
    cr_assert(eq(str, d.source.prompt_version, "v9"));
}

Test(dump_map, padding_on_the_left_ends_with_the_last_key)
{
    struct error err = {0};
    AUTO(dump) left = {0};
    AUTO(dump) right = {0};

    fill();
    put_npy(DICT("<f4", "(2, 3, 1, 2, 2)"), tensor, sizeof tensor);
#define PADDED                                                                                                         \
    "{\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows,cols\", \"causal\": true, \"ids\": [\"a\", "       \
    "\"b\"], \"lengths\": [2, 1], \"pad_side\": "
    MUST(open_mapped(&left, folder_file("x.npy"), PADDED "\"left\"}", &err));
    cr_assert(left.samples[0].first == 0 && left.samples[1].first == 1 && left.samples[1].length == 1);
    MUST(open_mapped(&right, folder_file("x.npy"), PADDED "\"right\"}", &err));
    cr_assert(right.samples[0].first == 0 && right.samples[1].first == 0);
}

Test(dump_map, what_is_not_known_is_asked_for)
{
#define ARRAY "\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows,cols\""
    static const struct {
        const char *map, *words;
    } cases[] = {
        {"{" ARRAY "}", "the samples have no ids: add \"ids\", 2 texts"},
        {"{" ARRAY ", \"ids\": [\"a\"]}", "map.json' at /ids: 1 ids for 2 samples"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"]}",
         "add \"lengths\", 2 numbers of keys, or null where no sample is padded and all have 2"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": null}",
         "no attribute 'causal'; write 1, since all weights above the diagonal are zero"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": [2, 1]}",
         "add \"pad_side\", \"right\" where padding follows"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": [2]}", "at /lengths: 1 numbers for 2 samples"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": [2, \"x\"]}", "at /lengths/1: expected a whole number"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": [2, -9223372036854775808]}",
         "sample 'b' has -9223372036854775808"},
        {"{" ARRAY ", \"ids\": [\"a\", \"b\"], \"lengths\": null, \"pad_side\": \"top\"}",
         "must be \"left\" or \"right\""},
        {"{\"stacked\": \"array\"}", "'axes' is missing: say which dimension of 'stacked' is which"},
        {"{\"stacked\": \"array\", \"axes\": \"samples,heads,rows,cols\"}",
         "'array' has 5 dimensions, and \"axes\" speaks of 4"},
        {"{\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows,rows\"}", "'rows' stands there twice"},
        {"{\"stacked\": \"array\", \"axes\": \"samples,layers,heads,rows\"}", "rows and cols must be among"},
        {"{\"stacked\": \"array\", \"axes\": \"samples,samples,heads,rows,cols\"}", "'samples' stands there twice"},
        {"{\"stacked\": \"array\", \"axes\": \"batch,layers,heads,rows,cols\"}", "'batch' is no axis"},
        {"{\"stacked\": \"array\", \"axes\": \"\"}", "rows and cols must be among"},
        {"{\"weights\": \"array\", \"axes\": \"samples,layers,heads,rows,cols\"}",
         "'layers' is a dimension only of an array that \"stacked\" names"},
        {"{\"weights\": \"a{layer}\"}",
         "no array is named 'a{layer}' with numbers for its holes; the file holds 'array'"},
        {"{\"weights\": \"{layer}{layer}\"}", "with one {layer} where the layer's number stands"},
        {"{\"weights\": \"\"}", "must be the name of an array"},
        {"{\"weights\": \"other\"}", "no array is named 'other'; the file holds 'array'"},
        {"{\"weights\": \"a\", \"stacked\": \"b\"}", "names the tensors once more"},
        {"{\"stacked\": \"a{layer}\"}", "it has no {layer}"},
        {"{\"q\": \"q{layer}\"}", "has 'q' without 'k'"},
        {"{\"q\": \"q{layer}\", \"k\": \"k\"}", "must all have a {layer}, or none"},
        {"{\"wieghts\": \"a\"}", "unknown key 'wieghts', did you mean 'weights'?"},
        {"{\"dtype\": \"int4\"}", "'int4' is no type"},
        {"{}",
         "not an attention dump: no attribute 'format' = \"attn-dump\"; a file laid out in another way needs a map"},
        {"[]", "expected an object"},
        {"{", "not valid JSON"},
    };
    size_t i;

    fill();
    put_npy(DICT("<f4", "(2, 3, 1, 2, 2)"), tensor, sizeof tensor);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(dump) d = {0};

        cr_assert(open_mapped(&d, folder_file("x.npy"), cases[i].map, &err) == ERR_FORMAT, "%s: %s", cases[i].map,
                  err.message);
        cr_assert(strstr(err.message, cases[i].words) != NULL, "'%s' is not in '%s'", cases[i].words, err.message);
    }
}

Test(dump_map, rows_that_are_fewer_than_keys_are_the_last_ones)
{
    static const float rows[2][4] = {{0.5F, 0.25F, 0.25F, 0}, {0.25F, 0.25F, 0.25F, 0.25F}};
#define LATE "{\"weights\": \"array\", \"axes\": \"rows,cols\", \"causal\": true, \"ids\": [\"a\"], \"lengths\": null"
    struct error err = {0};
    AUTO(dump) assumed = {0};
    AUTO(dump) said = {0};

    put_npy(DICT("<f4", "(2, 4)"), rows, sizeof rows);
    MUST(open_mapped(&assumed, folder_file("x.npy"), LATE "}", &err));
    cr_assert(assumed.samples[0].query_start == 2 && assumed.n_notices == 1);
    cr_assert(strstr(assumed.notices[0], "2 rows and 4 keys without \"query_start\"") != NULL, "%s",
              assumed.notices[0]);
    MUST(open_mapped(&said, folder_file("x.npy"), LATE ", \"query_start\": 2}", &err));
    cr_assert(said.samples[0].query_start == 2 && said.n_notices == 0);
}

Test(dump_map, swapped_rows_and_columns_are_noticed)
{
    static const float swapped[3][3] = {{1, 0.75F, 0.5F}, {0, 0.25F, 0.25F}, {0, 0, 0.25F}};
    struct error err = {0};
    AUTO(dump) d = {0};

    put_npy(DICT("<f4", "(3, 3)"), swapped, sizeof swapped);
    cr_assert(open_mapped(&d, folder_file("x.npy"),
                          "{\"weights\": \"array\", \"axes\": \"rows,cols\", \"causal\": true, \"ids\": [\"a\"], "
                          "\"lengths\": null}",
                          &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "not the rows sum to 1, but the columns (3 of 3)") != NULL, "%s", err.message);
}

Test(dump_map, types_may_be_said_and_not_contradicted)
{
    static const uint16_t bf16[4] = {0x3f80, 0, 0x3e80, 0x3f40};
#define ONE "\"weights\": \"array\", \"axes\": \"rows,cols\", \"causal\": true, \"ids\": [\"a\"], \"lengths\": null"
    static const struct {
        const char *header, *map;
        bool has_option;
        enum dtype option;
        const char *words; /* NULL: bfloat16 */
    } cases[] = {
        {DICT("<u2", "(2, 2)"), "{" ONE ", \"dtype\": \"bfloat16\"}", false, DTYPE_F32, NULL},
        {DICT("<u2", "(2, 2)"), "{" ONE "}", true, DTYPE_BF16, NULL},
        {DICT("|V2", "(2, 2)"), "{" ONE "}", true, DTYPE_BF16, NULL},
        {DICT("<u2", "(2, 2)"), "{" ONE "}", false, DTYPE_F32,
         "add it: \"bfloat16\", with which rows sum to 1, or say --dtype bfloat16"},
        {DICT("<u2", "(2, 2)"), "{" ONE "}", true, DTYPE_F32,
         "holds values of 2 bytes, but --dtype or the layout says"},
        {DICT("<f2", "(2, 2)"), "{" ONE "}", true, DTYPE_BF16,
         "holds float16, but --dtype or the layout says bfloat16"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dump_options options = {
            .layout = folder_file("map.json"), .has_dtype = cases[i].has_option, .dtype = cases[i].option};
        struct error err = {0};
        AUTO(dump) d = {0};
        enum status st;

        put_npy(cases[i].header, bf16, sizeof bf16);
        put("map.json", cases[i].map, strlen(cases[i].map));
        st = dump_open_as(&d, folder_file("x.npy"), &options, &err);
        cr_assert(st == (cases[i].words ? ERR_FORMAT : OK), "case %zu: %s", i, err.message);
        if (cases[i].words)
            cr_assert(strstr(err.message, cases[i].words) != NULL, "'%s' is not in '%s'", cases[i].words, err.message);
        else
            cr_assert(d.layers[0].dtype == DTYPE_BF16 && d.n_notices == 0, "case %zu", i);
    }
}

Test(dump_map, an_array_alone_says_what_it_needs)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    fill();
    put_npy(DICT("<f4", "(2, 3, 1, 2, 2)"), tensor, sizeof tensor);
    cr_assert(dump_open(&d, folder_file("x.npy"), &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "needs a map that says how: --layout") != NULL, "%s", err.message);
    put("x.npy", "\x93NUMPY\1\0v\0{'descr", 16);
    error_clear(&err);
    cr_assert(dump_open(&d, folder_file("x.npy"), &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "header takes 118 bytes, there are 16; it may be truncated") != NULL, "%s",
              err.message);
}
