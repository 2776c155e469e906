#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/zip_make.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(dump_npz, .init = folder_make, .fini = folder_drop);

/* A dump of two keys, or another one: what is NULL or 0 is as good() has it. */
struct plan {
    const char *header; /* of layers.0.attn_weights */
    const void *weights;
    size_t weights_len;
    const char *meta;
    const char *id_header; /* samples.id as an array */
    const void *ids;
    size_t ids_len;
    int version;
    bool is_deflated;
};

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"
#define META(more)         "{\"format\": \"attn-dump\", \"format_version\": \"1\", \"layers.0.causal\": \"1\"" more "}"
#define ID                 ", \"samples.id\": \"[\\\"a\\\"]\""

static const float ramp[4] = {1, 0, 0.25F, 0.75F};

enum { N_PARTS = 5, WEIGHTS = 0 };

static void make(struct buf *ret, const struct plan *plan, struct zip_place *ret_place)
{
    static const char *const names[] = {"layers.0.attn_weights.npy", "samples.length.npy", "samples.first.npy",
                                        "samples.query_start.npy",   "meta_json.npy",      "samples.id.npy"};
    const char *meta = plan->meta ? plan->meta : META(ID);
    int version = plan->version ? plan->version : 1, two = 2, zero = 0;
    struct zip_part parts[N_PARTS + 1] = {0};
    struct buf npy[N_PARTS + 1] = {0};
    char meta_header[80];
    size_t i, n = plan->id_header ? N_PARTS + 1 : N_PARTS;

    npy_make(&npy[WEIGHTS], version, plan->header ? plan->header : DICT("<f4", "(1, 1, 2, 2)"),
             plan->weights ? plan->weights : ramp, plan->weights ? plan->weights_len : sizeof ramp);
    npy_make(&npy[1], version, DICT("<i4", "(1,)"), &two, sizeof two);
    npy_make(&npy[2], version, DICT("<i4", "(1,)"), &zero, sizeof zero);
    npy_make(&npy[3], version, DICT("<i4", "(1,)"), &zero, sizeof zero);
    snprintf(meta_header, sizeof meta_header, DICT("|u1", "(%zu,)"), strlen(meta));
    npy_make(&npy[4], version, meta_header, meta, strlen(meta));
    if (plan->id_header)
        npy_make(&npy[5], version, plan->id_header, plan->ids, plan->ids_len);
    for (i = 0; i < n; i++)
        parts[i] = (struct zip_part){names[i], npy[i].data, npy[i].len, plan->is_deflated};
    zip_make(ret, parts, n, WEIGHTS, ret_place);
    for (i = 0; i < n; i++)
        buf_done(&npy[i]);
}

static void put(const void *bytes, size_t len)
{
    FILE *f = fopen(folder_file("x.npz"), "wb");

    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

static void put_plan(const struct plan *plan)
{
    AUTO(buf) b = {0};

    make(&b, plan, NULL);
    put(b.data, b.len);
}

static void wants(enum status st, const char *words)
{
    struct error err = {0};
    AUTO(dump) d = {0};
    enum status got = dump_open(&d, folder_file("x.npz"), &err);

    cr_assert(got == st, "'%s': status %d, %s", words, (int)got, err.message);
    cr_assert(strstr(err.message, words) != NULL, "'%s' is not in '%s'", words, err.message);
    cr_assert(strstr(err.message, "x.npz") != NULL, "%s", err.message);
}

Test(dump_npz, reads_every_version_stored_and_deflated)
{
    int version, deflated;

    for (version = 1; version <= 3; version++)
        for (deflated = 0; deflated < 2; deflated++) {
            struct plan plan = {.version = version, .is_deflated = deflated == 1};
            struct error err = {0};
            AUTO(dump) d = {0};
            float got[4];

            put_plan(&plan);
            MUST(dump_open(&d, folder_file("x.npz"), &err));
            cr_assert(d.n_layers == 1 && d.layers[0].causal && d.samples[0].length == 2 && d.n_notices == 0);
            MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
            cr_assert(memcmp(got, ramp, sizeof got) == 0);
            MUST(dump_read_weights(&d, 0, 0, 0, 1, 1, got, &err));
            cr_assert(memcmp(got, ramp + 2, 2 * sizeof *got) == 0);
        }
}

/* 1, 0, 0.25, 0.75 in each type. */
Test(dump_npz, reads_every_type)
{
    static const double f8[4] = {1, 0, 0.25, 0.75};
    static const uint16_t f2[4] = {0x3c00, 0, 0x3400, 0x3a00}, bf16[4] = {0x3f80, 0, 0x3e80, 0x3f40};
    static const unsigned char f4_big[16] = {0x3f, 0x80, 0, 0, 0, 0, 0, 0, 0x3e, 0x80, 0, 0, 0x3f, 0x40, 0, 0};
    static const unsigned char f2_big[8] = {0x3c, 0, 0, 0, 0x34, 0, 0x3a, 0};
    static const struct {
        const char *header;
        const void *bytes;
        size_t len;
        const char *meta;
        enum dtype dtype;
        bool has_notice;
    } cases[] = {
        {DICT("<f8", "(1, 1, 2, 2)"), f8, sizeof f8, META(ID), DTYPE_F64, false},
        {DICT("<f2", "(1, 1, 2, 2)"), f2, sizeof f2, META(ID), DTYPE_F16, false},
        {DICT(">f4", "(1, 1, 2, 2)"), f4_big, sizeof f4_big, META(ID), DTYPE_F32, false},
        {DICT(">f2", "(1, 1, 2, 2)"), f2_big, sizeof f2_big, META(ID), DTYPE_F16, false},
        {DICT("|V2", "(1, 1, 2, 2)"), bf16, sizeof bf16, META(ID), DTYPE_BF16, true},
        {DICT("<V2", "(1, 1, 2, 2)"), bf16, sizeof bf16, META(ID ", \"store_dtype\": \"bf16\""), DTYPE_BF16, false},
        {DICT("<u2", "(1, 1, 2, 2)"), bf16, sizeof bf16, META(ID ", \"store_dtype\": \"bf16\""), DTYPE_BF16, false},
        {DICT("<i2", "(1, 1, 2, 2)"), f2, sizeof f2, META(ID ", \"layers.0.logical_dtype\": \"float16\""), DTYPE_F16,
         false},
        {DICT("<u2", "(1, 1, 2, 2)"), bf16, sizeof bf16,
         META(ID ", \"layers.0.attn_weights.logical_dtype\": \"bfloat16\""), DTYPE_BF16, false},
        {"{'shape': (1L, 1L, 2L, 2L), 'fortran_order':False,\"descr\":\"<f4\"}   ", ramp, sizeof ramp, META(ID),
         DTYPE_F32, false},
    };
    size_t i, j;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {
            .header = cases[i].header, .weights = cases[i].bytes, .weights_len = cases[i].len, .meta = cases[i].meta};
        struct error err = {0};
        AUTO(dump) d = {0};
        double got[4];

        put_plan(&plan);
        MUST(dump_open(&d, folder_file("x.npz"), &err));
        cr_assert(d.layers[0].dtype == cases[i].dtype, "%s", cases[i].header);
        cr_assert(cases[i].has_notice == (d.n_notices > 0), "%s", cases[i].header);
        MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
        for (j = 0; j < 4; j++)
            cr_assert(dtype_load(got, cases[i].dtype, j) == (double)ramp[j], "%s: element %zu", cases[i].header, j);
    }
}

Test(dump_npz, ids_may_be_an_array_of_texts)
{
    static const uint32_t wide[6] = {0xe9, 0x6f22, 0x1f600, 0, 0, 0};
    static const unsigned char wide_big[8] = {0, 0, 0, 'a', 0, 0, 0, 'b'};
    static const struct {
        const char *header;
        const void *bytes;
        size_t len;
        const char *id;
    } cases[] = {
        {DICT("|S4", "(1,)"), "ab\0\0", 4, "ab"},
        {DICT("|S2", "(1,)"), "ab", 2, "ab"},
        {DICT("<U6", "(1,)"), wide, sizeof wide, "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"},
        {DICT(">U2", "(1,)"), wide_big, sizeof wide_big, "ab"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {
            .id_header = cases[i].header, .ids = cases[i].bytes, .ids_len = cases[i].len, .meta = META("")};
        struct error err = {0};
        AUTO(dump) d = {0};

        put_plan(&plan);
        MUST(dump_open(&d, folder_file("x.npz"), &err));
        cr_assert(eq(str, d.samples[0].id, (char *)cases[i].id));
    }
}

Test(dump_npz, headers_of_arrays_are_held_to_the_format)
{
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"", "the array's header is not"},
        {"{}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2)", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2)} x", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1, 2, 2)}", "the array's header is not"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), 'x': 1}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4)}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 1, 2, 2)}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1 2 2)}", "the array's header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999, )}",
         "the array's header is not"},
        {"{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (4,)}",
         "the array's header is not"},
        {DICT("<f4", "(1, 1, 2, 3)"), "the shape asks for 24 bytes of values, there are 16"},
        {DICT("<f4", "(4294967296, 4294967296, 4294967296, 1)"), "the shape asks for"},
        {DICT("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 4)"), "9 dimensions, 8 are the limit"},
        {DICT("<f4", "(2, 2)"), "at /layers/0/attn_weights: expected 4 dimensions, found 2"},
        {DICT("|O", "(1, 1, 2, 2)"), "holds Python objects, which would have to be unpickled"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}", "holds records of named fields"},
        {DICT("<c8", "(1, 1, 1, 2)"), "holds complex numbers"},
        {DICT("<M8[s]", "(1, 1, 1, 2)"), "holds times"},
        {DICT("<f4x", "(1, 1, 2, 2)"), "has the unknown type '<f4x'"},
        {DICT("f4", "(1, 1, 2, 2)"), "has the unknown type 'f4'"},
        {DICT("<f", "(1, 1, 2, 2)"), "has the unknown type '<f'"},
        {DICT("", "(1, 1, 2, 2)"), "has the unknown type ''"},
        {DICT("<i4", "(1, 1, 2, 2)"), "holds elements of type '<i4'; store float16"},
        {DICT("<f16", "(1, 1, 1, 1)"), "holds elements of type '<f16'"},
        {DICT("|S4", "(1, 1, 2, 2)"), "holds elements of type '|S4'"},
        {DICT("<u2", "(1, 1, 2, 4)"), "integers of 2 bytes without the attribute 'logical_dtype'"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {.header = cases[i].header};

        put_plan(&plan);
        wants(ERR_FORMAT, cases[i].words);
    }
}

Test(dump_npz, attributes_are_checked)
{
    static const struct {
        const char *meta, *words;
    } cases[] = {
        {"{", "not valid JSON"},
        {"[]", "expected an object, found an array"},
        {"{}", "no attribute 'format'"},
        {META(ID ", \"layers.0.window\": \"many\""), "the attribute in meta_json must be a whole number, not 'many'"},
        {META(ID ", \"layers.0.window\": {}"), "the attribute in meta_json must be a whole number"},
        {META(ID ", \"layers.0.window\": 2.5"), "the attribute in meta_json must be a whole number"},
        {META(ID ", \"store_dtype\": 1"), "the attribute in meta_json must be a text"},
        {META(", \"samples.id\": [1]"), "element 0 of the list is no text"},
        {META(""), "no such list of texts; put a JSON list, [\"first\", \"second\"], into meta_json"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {.meta = cases[i].meta};

        put_plan(&plan);
        wants(ERR_FORMAT, cases[i].words);
    }
}

/* Attributes need not be texts in JSON. */
Test(dump_npz, attributes_may_be_numbers)
{
    struct plan plan = {.meta = "{\"format\": \"attn-dump\", \"format_version\": 1, \"layers.0.causal\": true, "
                                "\"layers.0.window\": 7, \"layers.0.scale\": 0.5, \"layers.0.softcap\": null, "
                                "\"samples.id\": [\"a\"]}"};
    struct error err = {0};
    AUTO(dump) d = {0};

    put_plan(&plan);
    MUST(dump_open(&d, folder_file("x.npz"), &err));
    cr_assert(d.layers[0].causal && d.layers[0].window == 7 && d.layers[0].scale > 0.49);
}

/* One number in the archive's own structure is changed; `from` says what its offset counts from. */
Test(dump_npz, the_archive_is_checked_against_itself)
{
    enum { LOCAL, ENTRY, END };
    static const struct {
        int from;
        size_t offset;
        int n_bytes;
        uint64_t value;
        const char *words;
    } cases[] = {
        {ENTRY, 0, 4, 0, "the directory of the zip archive is damaged"},
        {ENTRY, 8, 2, 1, "is encrypted"},
        {ENTRY, 10, 2, 12, "is compressed by bzip2 (method 12)"},
        {ENTRY, 10, 2, 93, "is compressed by Zstandard"},
        {ENTRY, 10, 2, 77, "is compressed by an unknown method (method 77)"},
        {ENTRY, 10, 2, 8, "contradicts the directory"},
        {ENTRY, 16, 4, 1, "contradicts the directory"},
        {ENTRY, 20, 4, 5, "bytes, but stores 5"},
        {ENTRY, 24, 4, 0xfffffff0, "claims 4294967280 bytes, but stores"},
        {ENTRY, 24, 4, 0xffffffff, "the directory gives no size"},
        {ENTRY, 28, 2, 0xffff, "the directory of the zip archive is damaged"},
        {ENTRY, 42, 4, 0x7fffffff, "its header would begin at byte 2147483647"},
        {ENTRY, 42, 4, 1, "at byte 1, where its header must be, is none of that name"},
        {ENTRY, 46, 1, 7, "control characters in its name"},
        {ENTRY, 46, 1, 0xff, "a name that is not valid UTF-8"},
        {ENTRY, 46, 1, 'L', "where its header must be, is none of that name"},
        {LOCAL, 28, 2, 0xffff, "do not fit before the directory"},
        {END, 0, 4, 0, "no end record, the last thing in the file"},
        {END, 4, 2, 1, "one part of a split zip archive"},
        {END, 10, 2, 4, "has more entries than its end record says"},
        {END, 10, 2, 6, "the directory of the zip archive is damaged"},
        {END, 10, 2, 0xfff0, "too short for its members"},
        {END, 10, 2, 0xffff, "has no end record of 64 bits"},
        {END, 12, 4, 0x7fffffff, "does not lie in the file"},
        {END, 16, 4, 0x7fffffff, "does not lie in the file"},
        {END, 20, 2, 1, "no end record, the last thing in the file"},
    };
    size_t i;
    int j;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {0};
        struct zip_place place;
        AUTO(buf) b = {0};
        size_t base;

        make(&b, &plan, &place);
        base = cases[i].from == LOCAL ? place.local : cases[i].from == ENTRY ? place.entry : place.end;
        for (j = 0; j < cases[i].n_bytes; j++)
            b.data[base + cases[i].offset + (size_t)j] = (char)(cases[i].value >> (8 * j) & 0xff);
        put(b.data, b.len);
        wants(ERR_FORMAT, cases[i].words);
    }
}

Test(dump_npz, bytes_after_the_end_are_a_comment_or_refused)
{
    struct error err = {0};
    struct plan plan = {0};
    struct zip_place place;
    AUTO(buf) b = {0};
    AUTO(dump) d = {0};

    make(&b, &plan, &place);
    b.data[place.end + 20] = 5;
    buf_append(&b, "hello", 5);
    put(b.data, b.len);
    MUST(dump_open(&d, folder_file("x.npz"), &err));
    buf_append(&b, "!", 1);
    put(b.data, b.len);
    wants(ERR_FORMAT, "no end record, the last thing in the file");
}

Test(dump_npz, members_may_not_overlap_or_repeat)
{
    AUTO(buf) npy = {0};
    AUTO(buf) twice = {0};
    AUTO(buf) shared = {0};
    struct zip_place place;

    npy_make(&npy, 1, DICT("|u1", "(4,)"), "abcd", 4);
    zip_make(&twice, (struct zip_part[]){{"a.npy", npy.data, npy.len, false}, {"a.npy", npy.data, npy.len, false}}, 2,
             0, NULL);
    put(twice.data, twice.len);
    wants(ERR_FORMAT, "at 'a.npy': the name stands in the archive twice, at bytes 0 and");
    /* the second entry points to the first member: the kernel of a bomb */
    zip_make(&shared, (struct zip_part[]){{"a.npy", npy.data, npy.len, false}, {"a.npy", npy.data, npy.len, false}}, 2,
             1, &place);
    memset(shared.data + place.entry + 42, 0, 4);
    put(shared.data, shared.len);
    wants(ERR_FORMAT, "begins at byte 0, inside 'a.npy'");
}

Test(dump_npz, a_damaged_value_is_found_when_it_is_read)
{
    int deflated;

    for (deflated = 0; deflated < 2; deflated++) {
        struct plan plan = {.is_deflated = deflated == 1};
        struct zip_place place;
        struct error err = {0};
        AUTO(buf) b = {0};
        AUTO(dump) d = {0};
        float got[4];

        make(&b, &plan, &place);
        b.data[place.entry + 16] ^= 1; /* the CRC-32, in both headers, so that only the values contradict it */
        b.data[place.local + 14] ^= 1;
        put(b.data, b.len);
        MUST(dump_open(&d, folder_file("x.npz"), &err));
        cr_assert(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err) == ERR_FORMAT);
        cr_assert(strstr(err.message, "layers.0.attn_weights.npy': its bytes have the CRC-32") != NULL, "%s",
                  err.message);
    }
}

Test(dump_npz, what_inflates_to_another_size_is_refused)
{
    struct plan plan = {.is_deflated = true};
    struct zip_place place;
    AUTO(buf) b = {0};

    make(&b, &plan, &place);
    b.data[place.entry + 24]++; /* one byte more than there is, in both headers */
    b.data[place.local + 22]++;
    put(b.data, b.len);
    wants(ERR_FORMAT, "the shape asks for 16 bytes of values, there are 17");
}

/* Zeros take a thousandth of their bytes, so that output comes after the last input was taken; where it stops at the
 * end of a piece depends on the length of the whole. */
Test(dump_npz, what_deflates_well_is_read_whole)
{
    enum { N = 1024 };
    float *weights = calloc((size_t)N * N, sizeof *weights), *got = calloc((size_t)N * N, sizeof *got);
    size_t i;

    weights[0] = 1;
    for (i = 0; i < 40; i++) {
        char header[200];
        struct plan plan = {
            .header = header, .weights = weights, .weights_len = sizeof *weights * N * N, .is_deflated = true};
        struct error err = {0};
        AUTO(dump) d = {0};

        snprintf(header, sizeof header, "%s%*s", DICT("<f4", "(1, 1, 1024, 1024)"), (int)i, "");
        put_plan(&plan);
        MUST(dump_open(&d, folder_file("x.npz"), &err));
        MUST(dump_read_weights(&d, 0, 0, 0, 0, N, got, &err));
        cr_assert(memcmp(weights, got, sizeof *weights * N * N) == 0);
    }
    free(weights);
    free(got);
}

Test(dump_npz, needs_room_for_what_is_deflated)
{
    struct plan plan = {.is_deflated = true};
    struct error err = {0};
    AUTO(dump) d = {0};

    put_plan(&plan);
    setenv("TMPDIR", folder_file("nowhere"), 1);
    cr_assert(dump_open(&d, folder_file("x.npz"), &err) == ERR_IO);
    cr_assert(strstr(err.message, "no temporary file can be made") != NULL, "%s", err.message);
    setenv("TMPDIR", folder_path(), 1);
    error_clear(&err);
    MUST(dump_open(&d, folder_file("x.npz"), &err));
    cr_assert(eq(sz, folder_count(), 1), "temporary files have no name");
}

Test(dump_npz, a_pytorch_file_is_named)
{
    AUTO(buf) b = {0};

    zip_make(&b, (struct zip_part[]){{"archive/data.pkl", "\x80\2", 2, false}, {"archive/version", "3", 1, false}}, 2,
             0, NULL);
    put(b.data, b.len);
    wants(ERR_FORMAT, "a PyTorch file (it holds the pickle 'archive/data.pkl')");
}

Test(dump_npz, what_is_no_array_is_refused_by_name)
{
    AUTO(buf) b = {0};
    AUTO(buf) future = {0};
    AUTO(buf) c = {0};

    zip_make(&b, (struct zip_part[]){{"a.npy", "hello", 5, false}}, 1, 0, NULL);
    put(b.data, b.len);
    wants(ERR_FORMAT, "at 'a': is no NumPy array");
    npy_make(&future, 4, DICT("|u1", "(4,)"), "abcd", 4);
    zip_make(&c, (struct zip_part[]){{"a.npy", future.data, future.len, false}}, 1, 0, NULL);
    put(c.data, c.len);
    wants(ERR_FORMAT, "at 'a': the array is written in version 4.0 of the format");
}

/* Every prefix of real files is refused. */
Test(dump_npz, every_cut_is_refused)
{
    static const char *const names[] = {"short_fp16.npz", "batch3_fp16_deflate.npz", "short_fp16_zip64.npz"};
    size_t i, len;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        struct error err = {0};
        AUTO(buf) bytes = {0};
        char path[80];

        snprintf(path, sizeof path, "tests/fixtures/dumps/%s", names[i]);
        MUST(file_read(path, 1 << 20, &bytes, &err));
        for (len = 0; len < bytes.len; len += 1 + len / 16) {
            put(bytes.data, len);
            wants(ERR_FORMAT, "");
        }
        put(bytes.data, bytes.len - 1);
        wants(ERR_FORMAT, "no end record, the last thing in the file");
    }
}
