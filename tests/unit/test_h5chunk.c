#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/h5chunk.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(h5chunk, .init = folder_make, .fini = folder_drop);

enum { SAMPLES = 2, HEADS = 3, ROWS = 10, COLS = 7 };

struct form {
    hsize_t chunk[4];
    bool shuffle, deflate;
};

static float value(size_t s, size_t h, size_t r, size_t c)
{
    return (float)(s * 1000000 + h * 10000 + r * 100 + c);
}

static void write_form(const struct form *form)
{
    static float all[SAMPLES][HEADS][ROWS][COLS];
    hid_t f = H5Fcreate(folder_file("x.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(4, (hsize_t[]){SAMPLES, HEADS, ROWS, COLS}, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t d;
    size_t i;

    for (i = 0; i < SAMPLES * HEADS * ROWS * COLS; i++)
        (&all[0][0][0][0])[i] = value(i / (HEADS * ROWS * COLS), i / (ROWS * COLS) % HEADS, i / COLS % ROWS, i % COLS);
    H5Pset_chunk(list, 4, form->chunk);
    if (form->shuffle)
        H5Pset_shuffle(list);
    if (form->deflate)
        H5Pset_deflate(list, 6);
    d = H5Dcreate2(f, "t", H5T_IEEE_F32LE, s, H5P_DEFAULT, list, H5P_DEFAULT);
    cr_assert(H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(s);
    H5Fclose(f);
}

static void open_form(struct h5 *f, struct h5 *ds)
{
    struct error err = {0};

    MUST(h5_open(f, folder_file("x.h5"), &err));
    MUST(h5_dataset(f, "t", ds, &err));
}

static enum status read_rows(struct h5chunk *c, const struct h5 *ds, size_t sample, size_t head, size_t row, size_t n,
                             void *ret, struct error *err)
{
    size_t start[4] = {sample, head, row, 0}, count[4] = {1, 1, n, COLS};

    return h5chunk_slab(c, ds, start, count, ret, err);
}

/* Chunks that share heads and samples, that do not divide the shape, with each filter and without. */
Test(h5chunk, gives_the_rows_that_were_written)
{
    static const struct form forms[] = {
        {{1, 1, 10, 7}, true, true}, {{1, 1, 4, 7}, false, true},  {{2, 3, 10, 7}, true, true},
        {{1, 2, 3, 4}, true, true},  {{2, 2, 3, 5}, false, false}, {{1, 1, 3, 2}, true, false},
    };
    size_t i, row, s, h, r, c, n;

    for (i = 0; i < sizeof forms / sizeof *forms; i++) {
        AUTO(h5) f = {0};
        AUTO(h5) ds = {0};
        AUTO(h5chunk) chunks = {0};
        struct error err = {0};
        bool usable = false;

        write_form(&forms[i]);
        open_form(&f, &ds);
        MUST(h5chunk_init(&chunks, &ds, &usable, &err));
        cr_assert(usable);
        for (n = 1; n <= ROWS; n += 3)
            for (row = 0; row < ROWS; row += n)
                for (s = 0; s < SAMPLES; s++)
                    for (h = 0; h < HEADS; h++) {
                        float got[ROWS * COLS];
                        size_t rows = ROWS - row < n ? ROWS - row : n;

                        MUST(read_rows(&chunks, &ds, s, h, row, rows, got, &err));
                        for (r = 0; r < rows; r++)
                            for (c = 0; c < COLS; c++)
                                cr_assert(got[r * COLS + c] == value(s, h, row + r, c), "form %zu", i);
                    }
        MUST(h5chunk_verify(&ds, &err));
    }
}

/* Replaces the first chunk by `len` bytes that were not made by the filters that `mask` does not leave out. */
static void damage(const struct form *form, unsigned mask, size_t len)
{
    unsigned char bytes[512];
    hid_t f, d;

    write_form(form);
    memset(bytes, 0x5a, sizeof bytes);
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    d = H5Dopen2(f, "t", H5P_DEFAULT);
    cr_assert(H5Dwrite_chunk(d, H5P_DEFAULT, mask, (hsize_t[]){0, 0, 0, 0}, len, bytes) >= 0);
    H5Dclose(d);
    H5Fclose(f);
}

Test(h5chunk, refuses_chunks_of_another_length)
{
    static const struct form gzip = {{1, 1, 10, 7}, false, true};
    static const struct {
        unsigned mask;
        size_t len;
    } cases[] = {
        {1, 100}, /* not compressed, and shorter than a chunk of 280 bytes */
        {1, 281}, /* and longer */
        {0, 280}, /* said to be compressed, and is not */
        {0, 1},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(h5) f = {0};
        AUTO(h5) ds = {0};
        AUTO(h5chunk) chunks = {0};
        struct error err = {0};
        bool usable = false;
        unsigned char rows[280];

        damage(&gzip, cases[i].mask, cases[i].len);
        open_form(&f, &ds);
        MUST(h5chunk_init(&chunks, &ds, &usable, &err));
        cr_assert(read_rows(&chunks, &ds, 0, 0, 0, 10, rows, &err) == ERR_FORMAT, "case %zu", i);
        cr_assert(strstr(err.message, "is damaged") != NULL, "%s", err.message);
        MUST(read_rows(&chunks, &ds, 1, 0, 0, 10, rows, &(struct error){0}));
        error_clear(&err);
        cr_assert(h5chunk_verify(&ds, &err) == ERR_FORMAT);
    }
}

/* Any part of an array of three or five dimensions: what h5py would cut out of it. */
Test(h5chunk, gives_any_part_of_any_rank)
{
    static const struct {
        size_t rank;
        hsize_t dim[5], chunk[5];
        size_t start[5], count[5];
    } cases[] = {
        {5, {2, 3, 2, 6, 5}, {1, 1, 1, 6, 5}, {1, 2, 0, 1, 0}, {1, 1, 1, 4, 5}},
        {5, {2, 3, 2, 6, 5}, {2, 2, 1, 4, 3}, {0, 0, 0, 0, 0}, {2, 3, 2, 6, 5}},
        {5, {2, 3, 2, 6, 5}, {1, 3, 2, 2, 2}, {1, 1, 1, 3, 2}, {1, 2, 1, 3, 3}},
        {3, {9, 4, 5}, {4, 2, 5}, {2, 3, 0}, {6, 1, 5}},
        {2, {7, 9}, {3, 4}, {1, 2}, {5, 7}},
        {1, {17}, {5}, {3}, {13}},
    };
    size_t i, k, n;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        hid_t f = H5Fcreate(folder_file("x.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t s = H5Screate_simple((int)cases[i].rank, cases[i].dim, NULL), list = H5Pcreate(H5P_DATASET_CREATE), d;
        AUTO(h5) file = {0};
        AUTO(h5) ds = {0};
        AUTO(h5chunk) chunks = {0};
        struct error err = {0};
        int32_t all[400], got[400];
        bool usable = false;

        for (k = 0; k < 400; k++)
            all[k] = (int32_t)k;
        H5Pset_chunk(list, (int)cases[i].rank, cases[i].chunk);
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 3);
        d = H5Dcreate2(f, "t", H5T_STD_I32LE, s, H5P_DEFAULT, list, H5P_DEFAULT);
        cr_assert(H5Dwrite(d, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
        H5Dclose(d);
        H5Pclose(list);
        H5Sclose(s);
        H5Fclose(f);
        open_form(&file, &ds);
        MUST(h5chunk_init(&chunks, &ds, &usable, &err));
        MUST(h5chunk_slab(&chunks, &ds, cases[i].start, cases[i].count, (unsigned char *)got, &err));
        for (n = 1, k = 0; k < cases[i].rank; k++)
            n *= cases[i].count[k];
        for (size_t at = 0; at < n; at++) {
            size_t left = at, want = 0, unit = 1;

            for (k = cases[i].rank; k-- > 0; left /= cases[i].count[k], unit *= cases[i].dim[k])
                want += (cases[i].start[k] + left % cases[i].count[k]) * unit;
            cr_assert(got[at] == (int32_t)want, "case %zu, element %zu: %d", i, at, got[at]);
        }
    }
}
