#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/runfile.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/sample_run.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(runfile_hostile, .init = folder_make, .fini = folder_drop);

static void write_to(const char *path)
{
    AUTO(run) r = {0};
    struct error err = {0};

    sample_run(&r);
    MUST(runfile_write(&r, path, &err));
}

/* Runs `edit` on a good file and wants the reader to refuse it with `words`. */
static void refuses(void (*edit)(hid_t), const char *words)
{
    AUTO(run) r = {0};
    struct error err = {0};
    hid_t f;

    write_to(folder_file("x.h5"));
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert(f > 0);
    edit(f);
    cr_assert(H5Fclose(f) >= 0);
    cr_assert(runfile_read(&r, folder_file("x.h5"), &err) == ERR_FORMAT, "taken, though %s", words);
    cr_assert(strstr(err.message, words) != NULL && strstr(err.message, "x.h5") != NULL, "'%s' is not in '%s'", words,
              err.message);
}

static void put_i64(hid_t f, const char *object, const char *name, int64_t value)
{
    hid_t o = H5Oopen(f, object, H5P_DEFAULT), s = H5Screate(H5S_SCALAR), a;

    if (H5Aexists(o, name) > 0)
        H5Adelete(o, name);
    a = H5Acreate2(o, name, H5T_STD_I64LE, s, H5P_DEFAULT, H5P_DEFAULT);
    cr_assert(a > 0 && H5Awrite(a, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(a);
    H5Sclose(s);
    H5Oclose(o);
}

/* Replaces a dataset; `value` is repeated over all elements. */
static void put_data(hid_t f, const char *path, hid_t type, int rank, hsize_t a, hsize_t b, const void *value)
{
    hsize_t dims[2] = {a, b};
    hid_t s = H5Screate_simple(rank, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE), d;

    H5Ldelete(f, path, H5P_DEFAULT);
    if (value)
        H5Pset_fill_value(list, type, value);
    H5Pset_alloc_time(list, value ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_LATE);
    d = H5Dcreate2(f, path, type, s, H5P_DEFAULT, list, H5P_DEFAULT);
    cr_assert(d > 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(s);
}

static void newer(hid_t f)
{
    put_i64(f, "/", "schema", 2);
}
static void zero_schema(hid_t f)
{
    put_i64(f, "/", "schema", 0);
}
static void no_format(hid_t f)
{
    H5Adelete(f, "format");
}
static void number_format(hid_t f)
{
    put_i64(f, "/", "format", 1);
}
static void text_as_number(hid_t f)
{
    put_i64(f, "/provenance", "model_asked", 1);
}
static void bad_flag(hid_t f)
{
    put_i64(f, "/provenance", "is_complete", 2);
}
static void negative_seed(hid_t f)
{
    put_i64(f, "/provenance", "seed", -1);
}
static void negative_limit(hid_t f)
{
    put_i64(f, "/provenance", "context_limit", -1);
}
static void infinite_cell(hid_t f)
{
    hid_t d = H5Dopen2(f, "cubes/attn.entropy", H5P_DEFAULT), s = H5Dget_space(d);
    size_t n = (size_t)H5Sget_simple_extent_npoints(s);
    double *values = calloc(n, sizeof *values);

    cr_assert(values != NULL);
    values[n - 1] = -INFINITY;
    cr_assert(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    free(values);
    H5Sclose(s);
    H5Dclose(d);
}

static void enormous_cell(hid_t f)
{
    hid_t d = H5Dopen2(f, "cubes/attn.entropy", H5P_DEFAULT), s = H5Dget_space(d);
    size_t n = (size_t)H5Sget_simple_extent_npoints(s);
    double *values = calloc(n, sizeof *values);

    cr_assert(values != NULL);
    values[n - 1] = 1e308;
    cr_assert(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    free(values);
    H5Sclose(s);
    H5Dclose(d);
}
static void no_provenance(hid_t f)
{
    H5Ldelete(f, "provenance", H5P_DEFAULT);
}
static void no_axes(hid_t f)
{
    H5Ldelete(f, "axes/layer", H5P_DEFAULT);
}
static void no_cubes(hid_t f)
{
    H5Ldelete(f, "cubes", H5P_DEFAULT);
}
static void no_events(hid_t f)
{
    H5Ldelete(f, "observations/events", H5P_DEFAULT);
}
static void group_for_dataset(hid_t f)
{
    H5Ldelete(f, "cubes/attn.entropy", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(f, "cubes/attn.entropy", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}
static void int_cube(hid_t f)
{
    hid_t d = H5Dopen2(f, "cubes/attn.entropy", H5P_DEFAULT), d2;
    int zero = 0;

    put_data(f, "cubes/new", H5T_NATIVE_INT, 1, 1, 1, &zero);
    d2 = H5Dopen2(f, "cubes/new", H5P_DEFAULT);
    {
        hid_t a = H5Aopen(d, "axes", H5P_DEFAULT), t = H5Aget_type(a), s = H5Aget_space(a);
        hid_t b = H5Acreate2(d2, "axes", t, s, H5P_DEFAULT, H5P_DEFAULT);
        const char *axes = "turn";

        H5Awrite(b, t, &axes);
        H5Aclose(b);
        H5Aclose(a);
        H5Tclose(t);
        H5Sclose(s);
    }
    H5Dclose(d);
    H5Dclose(d2);
}
static void unlabelled_cube(hid_t f)
{
    double zero = 0;

    put_data(f, "cubes/attn.entropy", H5T_NATIVE_DOUBLE, 2, 2, 2, &zero);
}
static void more_heads(hid_t f)
{
    int64_t labels[1] = {7};

    put_data(f, "axes/head", H5T_NATIVE_INT64, 1, 1, 0, labels);
}
static void falling_labels(hid_t f)
{
    int64_t same = 3;

    put_data(f, "axes/layer", H5T_NATIVE_INT64, 1, 2, 0, &same);
}
static void huge_labels(hid_t f)
{
    put_data(f, "axes/layer", H5T_NATIVE_INT64, 1, (hsize_t)1 << 40, 0, NULL);
}
static void unwritten_labels(hid_t f)
{
    put_data(f, "axes/layer", H5T_NATIVE_INT64, 1, 2, 0, NULL);
}
static void square_labels(hid_t f)
{
    int64_t zero = 0;

    put_data(f, "axes/layer", H5T_NATIVE_INT64, 2, 2, 2, &zero);
}
static void float_labels(hid_t f)
{
    double zero = 0;

    put_data(f, "axes/layer", H5T_NATIVE_DOUBLE, 1, 2, 0, &zero);
}
static void few_bytes(hid_t f)
{
    unsigned char zero = 0;

    put_data(f, "observations/bytes", H5T_NATIVE_UCHAR, 1, 3, 0, &zero);
}
static void no_events_at_all(hid_t f)
{
    hid_t d = H5Dopen2(f, "observations/events", H5P_DEFAULT), t = H5Dget_type(d);

    H5Dclose(d);
    put_data(f, "observations/events", t, 1, 0, 0, NULL);
    H5Tclose(t);
}
static void plain_requests(hid_t f)
{
    int64_t zero = 0;

    put_data(f, "observations/requests", H5T_NATIVE_INT64, 1, 2, 0, &zero);
}
static void number_notes(hid_t f)
{
    int64_t zero = 0;

    put_data(f, "notes", H5T_NATIVE_INT64, 1, 2, 0, &zero);
}
Test(runfile_hostile, refuses_what_is_not_a_run_and_says_why)
{
    static const struct {
        void (*edit)(hid_t);
        const char *words;
    } cases[] = {
        {newer, "written by a newer tare (schema 2), this one reads up to 1"},
        {zero_schema, "schema 0 does not exist"},
        {no_format, "no attribute 'format'"},
        {number_format, "attribute 'format' must be a text"},
        {text_as_number, "at /provenance: attribute 'model_asked' must be a text"},
        {bad_flag, "'is_complete' is 2"},
        {negative_seed, "'seed' is -1"},
        {negative_limit, "'context_limit' is -1: it may not be negative"},
        {infinite_cell, "at /cubes/attn.entropy: cell"},
        {enormous_cell, "is 1e+308, which no metric is"},
        {no_provenance, "no group 'provenance'"},
        {no_axes, "at /axes: no dataset 'layer'"},
        {no_cubes, "no group 'cubes'"},
        {no_events, "at /observations: no dataset 'events'"},
        {group_for_dataset, "at /cubes/attn.entropy: expected a dataset"},
        {int_cube, "at /cubes/new: elements must be float64"},
        {unlabelled_cube, "at /cubes/attn.entropy: no attribute 'axes'"},
        {more_heads, "dimension 'head' has 4 elements, /axes/head has 1"},
        {falling_labels, "element 1 is 3: labels must ascend"},
        {huge_labels, "at /axes/layer: 1099511627776 elements"},
        {unwritten_labels, "at /axes/layer: no values were written"},
        {square_labels, "at /axes/layer: expected 1 dimensions, found 2"},
        {float_labels, "at /axes/layer: elements must be whole numbers"},
        {few_bytes, "lie beyond the 3 bytes"},
        {no_events_at_all, "lie beyond the 0 that are stored"},
        {plain_requests, "at /observations/requests: rows must be compounds"},
        {number_notes, "at /notes: elements must be texts"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(cases[i].edit, cases[i].words);
}

/* The link is made before the library is told to forget such links. */
Test(runfile_hostile, never_follows_a_link_to_another_file)
{
    hid_t f = H5Fcreate(folder_file("x.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), s = H5Screate(H5S_SCALAR), t, a;
    const char *format = "tare-run";
    struct error err = {0};
    AUTO(run) r = {0};

    cr_assert(H5Lcreate_external(folder_file("y.h5"), "/provenance", f, "provenance", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    t = H5Tcopy(H5T_C_S1);
    H5Tset_size(t, H5T_VARIABLE);
    a = H5Acreate2(f, "format", t, s, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, t, &format);
    H5Aclose(a);
    put_i64(f, "/", "schema", 1);
    H5Sclose(s);
    H5Tclose(t);
    H5Fclose(f);
    write_to(folder_file("y.h5"));
    cr_assert(runfile_read(&r, folder_file("x.h5"), &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "links to other files are not followed") != NULL, "%s", err.message);
}

Test(runfile_hostile, tolerates_what_it_does_not_know)
{
    AUTO(run) r = {0};
    struct error err = {0};
    hid_t f;

    write_to(folder_file("x.h5"));
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    put_i64(f, "/", "mood", 1);
    put_i64(f, "/cubes/attn.entropy", "colour", 1);
    H5Gclose(H5Gcreate2(f, "profiles", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Adelete_by_name(f, "/provenance", "tool_build", H5P_DEFAULT);
    H5Fclose(f);
    MUST(runfile_read(&r, folder_file("x.h5"), &err));
    cr_assert(eq(str, r.provenance.tool_build, ""));
}

Test(runfile_hostile, refuses_files_that_are_not_hdf5)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum status st;
        const char *words;
    } cases[] = {
        {"", 0, ERR_FORMAT, "is empty"},
        {"hello", 5, ERR_FORMAT, "not an HDF5 file"},
        {"\x89HDF\r\n\x1a\n", 8, ERR_FORMAT, "truncated or damaged"},
    };
    AUTO(run) r = {0};
    struct error err = {0};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        MUST(file_write(folder_file("x.h5"), cases[i].bytes, cases[i].len, &err));
        cr_assert(runfile_read(&r, folder_file("x.h5"), &err) == cases[i].st);
        cr_assert(strstr(err.message, cases[i].words) != NULL, "%s", err.message);
        cr_assert(not(runfile_is(folder_file("x.h5"))));
        error_clear(&err);
    }
    cr_assert(runfile_read(&r, folder_file("none.h5"), &err) == ERR_IO);
    error_clear(&err);
    cr_assert(runfile_read(&r, folder_path(), &err) == ERR_IO);
}

Test(runfile_hostile, every_truncation_is_refused)
{
    AUTO(buf) whole = {0};
    struct error err = {0};
    size_t len;

    write_to(folder_file("x.h5"));
    MUST(file_read(folder_file("x.h5"), 1 << 24, &whole, &err));
    for (len = 0; len < whole.len; len += 1 + whole.len / 97) {
        AUTO(run) r = {0};

        error_clear(&err);
        MUST(file_write(folder_file("y.h5"), whole.data, len, &err));
        cr_assert(runfile_read(&r, folder_file("y.h5"), &err) == ERR_FORMAT, "%zu of %zu bytes were taken", len,
                  whole.len);
    }
}
