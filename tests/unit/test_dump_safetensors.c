#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(dump_safetensors, .init = folder_make, .fini = folder_drop);

/* A dump of two keys: 28 bytes of values. */
#define META(layer)                                                                                                    \
    "\"__metadata__\":{\"format\":\"attn-dump\",\"format_version\":\"1\",\"samples.id\":\"[\\\"a\\\"]\"," layer "}"
#define LAYER "\"layers.0.causal\":\"1\""
#define SAMPLES                                                                                                        \
    "\"samples.length\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[16,20]},"                                   \
    "\"samples.first\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[20,24]},"                                    \
    "\"samples.query_start\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[24,28]}"
#define WEIGHTS(dtype, shape, offsets)                                                                                 \
    "\"layers.0.attn_weights\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define GOOD_WEIGHTS WEIGHTS("F32", "[1,1,2,2]", "[0,16]")
#define GOOD         "{" META(LAYER) "," SAMPLES "," GOOD_WEIGHTS "}"

static const struct {
    float weights[4];
    int32_t length, first, query_start;
} values = {{1, 0, 0.25F, 0.75F}, 2, 0, 0};

static void write_parts(uint64_t header_len, const char *header, const void *data, size_t len)
{
    AUTO(buf) b = {0};
    struct error err = {0};
    int i;

    for (i = 0; i < 8; i++)
        buf_putc(&b, (char)(header_len >> (8 * i) & 0xff));
    buf_puts(&b, header);
    buf_append(&b, data, len);
    MUST(buf_check(&b, &err));
    MUST(file_write(folder_file("x.safetensors"), b.data, b.len, &err));
}

static void wants(enum status st, const char *words)
{
    struct error err = {0};
    AUTO(dump) d = {0};
    enum status got = dump_open(&d, folder_file("x.safetensors"), &err);

    cr_assert(got == st, "'%s': status %d, %s", words, (int)got, err.message);
    cr_assert(strstr(err.message, words) != NULL, "'%s' is not in '%s'", words, err.message);
    cr_assert(strstr(err.message, "x.safetensors") != NULL, "%s", err.message);
}

Test(dump_safetensors, reads_a_file_by_hand)
{
    struct error err = {0};
    AUTO(dump) d = {0};
    float got[4];

    write_parts(strlen(GOOD), GOOD, &values, 28);
    MUST(dump_open(&d, folder_file("x.safetensors"), &err));
    cr_assert(d.n_layers == 1 && d.layers[0].causal && d.layers[0].dtype == DTYPE_F32 && d.samples[0].length == 2);
    MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, values.weights, sizeof got) == 0);
    MUST(dump_read_weights(&d, 0, 0, 0, 1, 1, got, &err));
    cr_assert(memcmp(got, values.weights + 2, 2 * sizeof *got) == 0);
    cr_assert(dump_read_weights(&d, 0, 0, 0, 1, 2, got, &err) == ERR_INTERNAL);
}

Test(dump_safetensors, a_header_may_end_in_spaces)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    write_parts(strlen(GOOD "     "), GOOD "     ", &values, 28);
    MUST(dump_open(&d, folder_file("x.safetensors"), &err));
}

Test(dump_safetensors, is_told_by_its_bytes_not_its_name)
{
    struct error err = {0};
    AUTO(buf) bytes = {0};
    AUTO(dump) d = {0};

    MUST(file_read("tests/fixtures/dumps/short_fp16.safetensors", 1 << 20, &bytes, &err));
    MUST(file_write(folder_file("x.h5"), bytes.data, bytes.len, &err));
    MUST(dump_open(&d, folder_file("x.h5"), &err));
}

Test(dump_safetensors, says_what_is_wrong_and_where)
{
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{}", "the header names 0 bytes of values, the file has 28"},
        {"{" GOOD_WEIGHTS "," SAMPLES "}", "not an attention dump: no attribute 'format'"},
        {"{" META(LAYER) "," GOOD_WEIGHTS "," GOOD_WEIGHTS "," SAMPLES "}", "duplicate object key"},
        {"{" META(LAYER) "," META(LAYER) "," GOOD_WEIGHTS "," SAMPLES "}", "duplicate object key"},
        {"{" META(LAYER) "," GOOD_WEIGHTS "," SAMPLES "} x", "not valid JSON"},
        {"{" META(LAYER) "," GOOD_WEIGHTS "," SAMPLES, "not valid JSON at line 1"},
        {"{\"a\\u0000b\":1}", "not valid JSON"},
        {"{\"a\":1}", "at /a: expected an object, found a whole number"},
        {"{\"__metadata__\":{\"a\":1}}", "at /__metadata__/a: expected a text, found a whole number"},
        {"{\"__metadata__\":[]}", "at /__metadata__: expected an object"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", "at /a: 'dtype' is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", "at /a: 'shape' is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "at /a: 'data_offsets' is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "a dimension of -1 elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}",
         "at /a/shape/0: expected a whole number"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,1],\"data_offsets\":[0,4]}}",
         "at /a/shape: the dimensions are too large"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}",
         "do not take the 0 bytes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,0]}}", "not valid JSON"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
         "at /a: 2 elements of type F32 do not take the 4 bytes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "ends at 0, before it begins at 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", "must be begin and end, found 3"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", "at /a/data_offsets/0: an offset of -4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,36]}}",
         "the values end at byte 36 of the data, the file has 28; it may be truncated"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[20],\"data_offsets\":[0,20]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[19,28]}}",
         "at 'b': the values begin at byte 19 of the data, inside those of 'a'"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[20],\"data_offsets\":[0,20]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[21,28]}}",
         "at 'b': the values begin at byte 21 of the data, those before end at 20"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[20],\"data_offsets\":[0,20]}}",
         "names 20 bytes of values, the file has 28"},
        {"{" META("\"layers.0.causal\":\"yes\"") "," SAMPLES "," GOOD_WEIGHTS "}",
         "at 'layers.0.causal': the attribute in __metadata__ must be a whole number, not 'yes'"},
        {"{" META("\"layers.0.window\":\"1\"") "," SAMPLES "," GOOD_WEIGHTS "}",
         "at /layers/0: no attribute 'causal'; write 1, since all weights above the diagonal are zero"},
        {"{" META(LAYER ",\"layers.0.scale\":\"nan\"") "," SAMPLES "," GOOD_WEIGHTS "}",
         "at 'layers.0.scale': the attribute in __metadata__ must be a number, not 'nan'"},
        {"{" META(LAYER ",\"layers.0.logical_dtype\":\"int4\"") "," SAMPLES "," GOOD_WEIGHTS "}",
         "at 'layers.0.logical_dtype'"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS("U16", "[1,1,4,2]", "[0,16]") "}",
         "at /layers/0/attn_weights: integers of 2 bytes without the attribute 'logical_dtype'"},
        {"{" META(LAYER ",\"store_dtype\":\"fp32\"") "," SAMPLES "," WEIGHTS("U16", "[1,1,4,2]", "[0,16]") "}",
         "stored in 2 bytes ('U16'), but the attributes say 'float32'"},
        {"{" META(LAYER ",\"layers.0.attn_weights.logical_dtype\":\"float16\"") "," SAMPLES "," WEIGHTS(
             "BF16", "[1,1,4,2]", "[0,16]") "}",
         "stored as bfloat16, but 'logical_dtype' says 'float16'"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS("F8_E8M0", "[1,1,4,4]", "[0,16]") "}",
         "holds elements of type 'F8_E8M0'"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS("Q3", "[1,1,4,4]", "[0,16]") "}", "holds elements of type 'Q3'"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS("F32", "[2,2]", "[0,16]") "}",
         "at /layers/0/attn_weights: expected 4 dimensions, found 2"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS("F32", "[1,1,1,1,1,1,1,1,1,4]", "[0,16]") "}",
         "10 dimensions, 8 are the limit"},
        {"{" META(LAYER) "," SAMPLES "," WEIGHTS(
             "F32", "[1,1,2,2]",
             "[0,16]") ","
                       "\"samples.mask\":{\"dtype\":\"F32\",\"shape\":[0,0],\"data_offsets\":[28,28]}}",
         "at 'samples.mask': elements must be whole numbers, not of type 'F32'"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_parts(strlen(cases[i].header), cases[i].header, &values, 28);
        wants(ERR_FORMAT, cases[i].words);
    }
}

Test(dump_safetensors, ids_must_be_a_list_of_texts)
{
    static const struct {
        const char *id, *words;
    } cases[] = {
        {"\"samples.id\":\"a\"", "must be a JSON list of texts"},
        {"\"samples.id\":\"[\\\"a\\\", 1]\"", "element 1 of the list is no text"},
        {"\"samples.id\":\"[\\\"a\\\\u0000\\\"]\"", "must be a JSON list of texts"},
        {"\"samples.id\":\"[]\"", "the dump holds no samples"},
        {"\"samples.id\":\"[\\\"a\\\",\\\"b\\\"]\"", "1 numbers for 2 samples"},
        {"\"x\":\"\"", "at 'samples.id': no such list of texts; put a JSON list"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf) header = {0};

        buf_printf(&header,
                   "{\"__metadata__\":{\"format\":\"attn-dump\",\"format_version\":\"1\",%s," LAYER "}," SAMPLES
                   "," GOOD_WEIGHTS "}",
                   cases[i].id);
        write_parts(header.len, buf_text(&header), &values, 28);
        wants(ERR_FORMAT, cases[i].words);
    }
}

Test(dump_safetensors, lengths_that_lie_are_refused)
{
    write_parts(1 << 20, GOOD, &values, 28);
    wants(ERR_FORMAT, "the header takes 1048576 bytes from byte 8 on, but the file has");
    write_parts(UINT64_MAX, GOOD, &values, 28);
    wants(ERR_FORMAT, "the header takes 18446744073709551615 bytes");
    write_parts(0, GOOD, &values, 28);
    wants(ERR_FORMAT, "not valid JSON");
    write_parts(strlen(GOOD), GOOD, &values, 27);
    wants(ERR_FORMAT, "the values end at byte 28 of the data, the file has 27");
    write_parts(strlen(GOOD), GOOD, "0123456789012345678901234567890", 29);
    wants(ERR_FORMAT, "the header names 28 bytes of values, the file has 29");
}

/* Every prefix of a real file is refused, and none is read as something else. */
Test(dump_safetensors, every_cut_is_refused)
{
    struct error err = {0};
    AUTO(buf) bytes = {0};
    size_t len;

    MUST(file_read("tests/fixtures/dumps/short_fp16.safetensors", 1 << 20, &bytes, &err));
    for (len = 0; len < bytes.len; len += 1 + len / 16) {
        FILE *f = fopen(folder_file("x.safetensors"), "wb");

        cr_assert(f && fwrite(bytes.data, 1, len, f) == len && fclose(f) == 0);
        wants(ERR_FORMAT, "");
    }
}
