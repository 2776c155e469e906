#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

TestSuite(dump_hostile, .init = folder_make, .fini = folder_drop);

static void copy_fixture(const char *name)
{
    struct error err = {0};
    AUTO(buf) bytes = {0};

    MUST(file_read(name, 1 << 20, &bytes, &err));
    MUST(file_write(folder_file("x.h5"), bytes.data, bytes.len, &err));
}

static void wants(enum status st, const char *words)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    cr_assert(dump_open(&d, folder_file("x.h5"), &err) == st, "'%s': %s", words, err.message);
    cr_assert(strstr(err.message, words) != NULL, "'%s' is not in '%s'", words, err.message);
    cr_assert(strstr(err.message, "x.h5") != NULL, "%s", err.message);
}

/* Replaces an attribute by a number, or a text where `text` is not NULL; `object` loses it where both are absent. */
static void attr(hid_t f, const char *object, const char *name, hid_t type, const void *value)
{
    hid_t o = H5Oopen(f, object, H5P_DEFAULT), s = H5Screate(H5S_SCALAR), a;

    cr_assert(o > 0);
    if (H5Aexists(o, name) > 0)
        H5Adelete(o, name);
    if (value) {
        a = H5Acreate2(o, name, type, s, H5P_DEFAULT, H5P_DEFAULT);
        cr_assert(a > 0 && H5Awrite(a, type, value) >= 0);
        H5Aclose(a);
    }
    H5Sclose(s);
    H5Oclose(o);
}

static void int_attr(hid_t f, const char *object, const char *name, int value)
{
    attr(f, object, name, H5T_NATIVE_INT, &value);
}

static void text_attr(hid_t f, const char *object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, strlen(text) + 1);
    attr(f, object, name, type, text);
    H5Tclose(type);
}

static void no_attr(hid_t f, const char *object, const char *name)
{
    attr(f, object, name, -1, NULL);
}

/* A new dataset in the place of an old one, filled with `fill`; not written where that is NULL. */
static void data(hid_t f, const char *path, hid_t type, int rank, const hsize_t *dims, const void *fill)
{
    hid_t s = H5Screate_simple(rank, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE), d;

    if (H5Lexists(f, path, H5P_DEFAULT) > 0)
        H5Ldelete(f, path, H5P_DEFAULT);
    if (fill) {
        H5Pset_fill_value(list, type, fill);
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    }
    d = H5Dcreate2(f, path, type, s, H5P_DEFAULT, list, H5P_DEFAULT);
    cr_assert(d > 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(s);
}

static void one_int(hid_t f, const char *path, int value)
{
    data(f, path, H5T_NATIVE_INT, 1, (hsize_t[]){1}, &value);
}

static void four(hid_t f, const char *path, hid_t type, hsize_t a, hsize_t b, hsize_t c, hsize_t d)
{
    double zero = 0;

    data(f, path, type, 4, (hsize_t[]){a, b, c, d}, &zero);
}

static void format_other(hid_t f)
{
    text_attr(f, "/", "format", "tare-run");
}
static void format_none(hid_t f)
{
    no_attr(f, "/", "format");
}
static void version_newer(hid_t f)
{
    int_attr(f, "/", "format_version", 2);
}
static void version_text(hid_t f)
{
    text_attr(f, "/", "format_version", "1");
}
static void no_samples(hid_t f)
{
    H5Ldelete(f, "samples", H5P_DEFAULT);
}
static void no_length(hid_t f)
{
    H5Ldelete(f, "samples/length", H5P_DEFAULT);
}
static void zero_length(hid_t f)
{
    one_int(f, "samples/length", 0);
}
static void long_length(hid_t f)
{
    one_int(f, "samples/length", 45);
}
static void late_first(hid_t f)
{
    one_int(f, "samples/first", 1);
}
static void negative_start(hid_t f)
{
    one_int(f, "samples/query_start", -1);
}
static void late_start(hid_t f)
{
    one_int(f, "samples/query_start", 44);
}
static void two_lengths(hid_t f)
{
    int one = 1;

    data(f, "samples/length", H5T_NATIVE_INT, 1, (hsize_t[]){2}, &one);
}
static void float_length(hid_t f)
{
    double one = 1;

    data(f, "samples/length", H5T_NATIVE_DOUBLE, 1, (hsize_t[]){1}, &one);
}
static void number_ids(hid_t f)
{
    one_int(f, "samples/id", 1);
}
static void bad_id(hid_t f)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, 4);
    data(f, "samples/id", type, 1, (hsize_t[]){1}, "a#0");
    H5Tclose(type);
}
static void same_ids(hid_t f)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, 2);
    data(f, "samples/id", type, 1, (hsize_t[]){2}, "a");
    H5Tclose(type);
}
static void no_ids(hid_t f)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    data(f, "samples/id", type, 1, (hsize_t[]){0}, NULL);
    H5Tclose(type);
}
static void holey_mask(hid_t f)
{
    unsigned char zero = 0;

    data(f, "samples/mask", H5T_NATIVE_UCHAR, 2, (hsize_t[]){1, 44}, &zero);
}
static void no_layers(hid_t f)
{
    H5Ldelete(f, "layers/000", H5P_DEFAULT);
    H5Ldelete(f, "layers/005", H5P_DEFAULT);
}
static void named_layer(hid_t f)
{
    H5Lmove(f, "layers/000", f, "layers/first", H5P_DEFAULT, H5P_DEFAULT);
}
static void twin_layer(hid_t f)
{
    H5Lcreate_hard(f, "layers/005", f, "layers/5", H5P_DEFAULT, H5P_DEFAULT);
}
static void no_causal(hid_t f)
{
    no_attr(f, "layers/005", "causal");
}
static void odd_causal(hid_t f)
{
    int_attr(f, "layers/005", "causal", 2);
}
static void negative_window(hid_t f)
{
    int_attr(f, "layers/005", "window", -1);
}
static void odd_heads(hid_t f)
{
    int_attr(f, "layers/005", "n_heads", 8);
}
static void nan_scale(hid_t f)
{
    double nan = strtod("nan", NULL);

    attr(f, "layers/005", "scale", H5T_NATIVE_DOUBLE, &nan);
}
static void late_keys(hid_t f)
{
    int_attr(f, "layers/005", "key_start", 1);
}
static void three_dimensions(hid_t f)
{
    float zero = 0;

    data(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, 3, (hsize_t[]){4, 44, 44}, &zero);
}
static void two_samples(hid_t f)
{
    four(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, 2, 4, 44, 44);
}
static void few_columns(hid_t f)
{
    four(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, 1, 4, 44, 43);
}
static void integers(hid_t f)
{
    four(f, "layers/005/attn_weights", H5T_NATIVE_INT, 1, 4, 44, 44);
}
static void plain_uint16(hid_t f)
{
    four(f, "layers/005/attn_weights", H5T_NATIVE_UINT16, 1, 4, 44, 44);
}
static void said_float32(hid_t f)
{
    plain_uint16(f);
    text_attr(f, "layers/005/attn_weights", "logical_dtype", "float32");
}
static void said_nonsense(hid_t f)
{
    plain_uint16(f);
    text_attr(f, "layers/005/attn_weights", "logical_dtype", "bf-sixteen");
}
static void said_bfloat16(hid_t f)
{
    text_attr(f, "layers/005/attn_weights", "logical_dtype", "bfloat16");
}
static void unwritten(hid_t f)
{
    data(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, 4, (hsize_t[]){1, 4, 44, 44}, NULL);
}
static void huge(hid_t f)
{
    data(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, 4, (hsize_t[]){1, (hsize_t)1 << 20, (hsize_t)1 << 20, 44},
         NULL);
}
static void no_tensor(hid_t f)
{
    H5Ldelete(f, "layers/005/attn_weights", H5P_DEFAULT);
}
static void q_alone(hid_t f)
{
    no_tensor(f);
    four(f, "layers/005/q", H5T_NATIVE_FLOAT, 1, 4, 44, 8);
}
static void odd_kv(hid_t f)
{
    q_alone(f);
    four(f, "layers/005/k", H5T_NATIVE_FLOAT, 1, 3, 44, 8);
}
static void other_width_of_k(hid_t f)
{
    q_alone(f);
    four(f, "layers/005/k", H5T_NATIVE_FLOAT, 1, 1, 44, 4);
}
static void qk_without_scale(hid_t f)
{
    q_alone(f);
    four(f, "layers/005/k", H5T_NATIVE_FLOAT, 1, 1, 44, 8);
    int_attr(f, "layers/005", "head_dim", 8);
    no_attr(f, "layers/005", "scale");
}
static void unknown_filter(hid_t f)
{
    hid_t s = H5Screate_simple(4, (hsize_t[]){1, 4, 44, 44}, NULL), list = H5Pcreate(H5P_DATASET_CREATE), d;

    no_tensor(f);
    H5Pset_chunk(list, 4, (hsize_t[]){1, 1, 44, 44});
    H5Pset_filter(list, 32015, H5Z_FLAG_OPTIONAL, 0, NULL);
    d = H5Dcreate2(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, s, H5P_DEFAULT, list, H5P_DEFAULT);
    cr_assert(d > 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(s);
}
static void values_elsewhere(hid_t f)
{
    hid_t s = H5Screate_simple(4, (hsize_t[]){1, 4, 44, 44}, NULL), list = H5Pcreate(H5P_DATASET_CREATE), d;

    no_tensor(f);
    H5Pset_external(list, "/etc/passwd", 0, 4 * 4 * 44 * 44);
    d = H5Dcreate2(f, "layers/005/attn_weights", H5T_NATIVE_FLOAT, s, H5P_DEFAULT, list, H5P_DEFAULT);
    cr_assert(d > 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(s);
}

Test(dump_hostile, says_what_is_wrong_and_where)
{
    static const struct {
        void (*edit)(hid_t);
        const char *words;
    } cases[] = {
        {format_other, "format is 'tare-run', not 'attn-dump'"},
        {format_none, "not an attention dump: no attribute 'format'"},
        {version_newer, "written in layout attn-dump 2, this tare reads up to 1"},
        {version_text, "attribute 'format_version' must be a whole number"},
        {no_samples, "at /: no group 'samples'"},
        {no_length, "at /samples: no dataset 'length'"},
        {zero_length, "at /samples/length: sample 'short' has 0"},
        {long_length, "sample 'short' has keys 0 to 44, but the mask has 44 columns"},
        {late_first, "sample 'short' has keys 1 to 44, but the mask has 44 columns"},
        {negative_start, "at /samples/query_start: sample 'short' has -1"},
        {late_start, "no row belongs to sample 'short'"},
        {two_lengths, "2 numbers for 1 samples"},
        {float_length, "at /samples/length: elements must be whole numbers"},
        {number_ids, "at /samples/id: elements must be texts"},
        {bad_id, "sample 0 has the id 'a#0'"},
        {same_ids, "sample 'a' stands there twice"},
        {no_ids, "at /samples/id: the dump holds no samples"},
        {holey_mask, "at /samples/mask: sample 'short' has 0 at key 0"},
        {no_layers, "at /layers: the dump holds no layers"},
        {named_layer, "'first' is no layer"},
        {twin_layer, "'005' and '5' are the same layer"},
        {no_causal, "at /layers/005: no attribute 'causal'; write 1, since all weights above the diagonal are zero"},
        {odd_causal, "attribute 'causal' is 2"},
        {negative_window, "attribute 'window' is -1"},
        {odd_heads, "attribute 'n_heads' is 8, the tensor has 4 heads"},
        {nan_scale, "attribute 'scale' is nan"},
        {late_keys, "see keys 0 to 43, but the columns hold keys 1 to 44"},
        {three_dimensions, "at /layers/005/attn_weights: expected 4 dimensions, found 3"},
        {two_samples, "2 samples in the tensor, 1 in /samples"},
        {few_columns, "see keys 0 to 43, but the columns hold keys 0 to 42"},
        {integers, "holds integers of 4 bytes"},
        {plain_uint16, "without the attribute 'logical_dtype'; add it"},
        {said_float32, "stored as integers of 2 bytes, but 'logical_dtype' says 'float32'"},
        {said_nonsense, "'logical_dtype' is 'bf-sixteen'"},
        {said_bfloat16, "stored as float16, but 'logical_dtype' says 'bfloat16'"},
        {unwritten, "at /layers/005/attn_weights: no values were written"},
        {huge, "at /layers/005/attn_weights: "},
        {q_alone, "has 'q' without 'k'"},
        {odd_kv, "4 query heads do not divide among 3 key heads"},
        {other_width_of_k, "heads of 4 numbers, but q has 8"},
        {qk_without_scale, "attribute 'scale' must be the factor"},
        {unknown_filter, "compressed with HDF5 filter 32015"},
        {values_elsewhere, "the values lie in other files"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        hid_t f;

        copy_fixture("tests/fixtures/dumps/short_fp16.h5");
        f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        cr_assert(f > 0);
        cases[i].edit(f);
        cr_assert(H5Fclose(f) >= 0);
        wants(ERR_FORMAT, cases[i].words);
    }
}

/* The reader takes the kind of link out of the library, so this is the first thing that its process does. */
Test(dump_hostile, a_layer_in_another_file_is_named)
{
    hid_t f;

    copy_fixture("tests/fixtures/dumps/short_fp16.h5");
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert(H5Lcreate_external("other.h5", "/layers/000", f, "layers/007", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    cr_assert(H5Fclose(f) >= 0);
    wants(ERR_FORMAT, "at /layers: '007' is a link to another file");
}

Test(dump_hostile, a_mask_of_booleans_is_read)
{
    const signed char no = 0, yes = 1;
    hid_t f, type = H5Tenum_create(H5T_NATIVE_SCHAR);
    struct error err = {0};
    AUTO(dump) dump = {0};

    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    copy_fixture("tests/fixtures/dumps/short_fp16.h5");
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    data(f, "samples/mask", type, 2, (hsize_t[]){1, 44}, &yes);
    cr_assert(H5Fclose(f) >= 0);
    H5Tclose(type);
    MUST(dump_open(&dump, folder_file("x.h5"), &err));
}

/* The same numbers, stored with the most significant byte first. */
Test(dump_hostile, the_other_byte_order_is_turned)
{
    static const float ramp[4] = {0.5F, 0.25F, 0.125F, 0.125F};
    hid_t f, s = H5Screate_simple(4, (hsize_t[]){1, 1, 1, 4}, NULL), d;
    struct error err = {0};
    AUTO(dump) dump = {0};
    float got[4];

    copy_fixture("tests/fixtures/dumps/short_fp16.h5");
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(f, "layers/000", H5P_DEFAULT);
    H5Ldelete(f, "samples/mask", H5P_DEFAULT);
    one_int(f, "samples/length", 4);
    one_int(f, "samples/query_start", 3);
    no_tensor(f);
    int_attr(f, "layers/005", "n_heads", 1);
    d = H5Dcreate2(f, "layers/005/attn_weights", H5T_IEEE_F32BE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert(H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ramp) >= 0);
    H5Dclose(d);
    H5Sclose(s);
    H5Fclose(f);
    MUST(dump_open(&dump, folder_file("x.h5"), &err));
    MUST(dump_read_weights(&dump, 0, 0, 0, 0, 1, got, &err));
    cr_assert(memcmp(got, ramp, sizeof got) == 0);
}

Test(dump_hostile, other_containers_are_named)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *words;
    } cases[] = {
        {"PK\3\4xxxxxxxxxxxx", 16, "too few bytes for a zip archive"},
        {"\x93NUMPY\1\0v\0{'descr", 16, "the array's header takes 118 bytes"},
        {"\x40\1\0\0\0\0\0\0{\"__meta", 16, "the header takes 320 bytes"},
        {"", 0, "the file is empty"},
        {"hello", 5, "not an HDF5 file"},
    };
    struct error err = {0};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        MUST(file_write(folder_file("x.h5"), cases[i].bytes, cases[i].len, &err));
        wants(ERR_FORMAT, cases[i].words);
    }
}

Test(dump_hostile, a_cut_file_is_refused)
{
    struct error err = {0};
    AUTO(buf) bytes = {0};

    MUST(file_read("tests/fixtures/dumps/short_fp16.h5", 1 << 20, &bytes, &err));
    MUST(file_write(folder_file("x.h5"), bytes.data, bytes.len / 2, &err));
    wants(ERR_FORMAT, "truncated");
}

Test(dump_hostile, a_missing_file_is_an_io_error)
{
    wants(ERR_IO, "cannot open");
}
