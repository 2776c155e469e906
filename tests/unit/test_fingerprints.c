/* Profiles and digests: in memory, between axes, and through the run file. */
#include "core/base/scope.h"
#include "core/io/runfile.h"
#include "core/model/fingerprints.h"
#include "core/model/merge.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

TestSuite(fingerprints, .init = folder_make, .fini = folder_drop);

/* One cell: all weight in two bins, and a digest of one repeated byte. */
static void set(struct run *r, size_t task, size_t layer, size_t head, size_t bin, unsigned char byte)
{
    size_t at[N_AXES] = {[AXIS_TASK] = task, [AXIS_LAYER] = layer, [AXIS_HEAD] = head};
    size_t cell = fingerprints_index(&r->fingerprints, at), i;

    for (i = 0; i < PROFILE_BINS; i++)
        r->fingerprints.profile[cell * PROFILE_BINS + i] = i == 0 ? 0.25 : i == bin ? 0.75 : 0;
    memset(r->fingerprints.digest + cell * DIGEST_BYTES, byte, DIGEST_BYTES);
}

static void make(struct run *r, size_t n_layers)
{
    struct error err = {0};

    fake_run(r, 2, 1, n_layers, 2);
    MUST(fingerprints_init(&r->fingerprints, &r->axes, &err));
    set(r, 0, 0, 1, 3, 7);
    set(r, 1, n_layers - 1, 0, 31, 9);
}

Test(fingerprints, come_back_from_the_run_file_as_they_were)
{
    AUTO(run) want = {0};
    AUTO(run) got = {0};
    size_t len;
    struct error err = {0};

    make(&want, 3);
    len = fingerprints_len(&want.fingerprints);
    cr_assert(eq(sz, len, 2 * 1 * 3 * 2));
    MUST(runfile_write(&want, folder_file("a.h5"), &err));
    MUST(runfile_read(&got, folder_file("a.h5"), &err));
    cr_assert(memcmp(got.fingerprints.dim, want.fingerprints.dim, sizeof want.fingerprints.dim) == 0);
    cr_assert(memcmp(got.fingerprints.digest, want.fingerprints.digest, len * DIGEST_BYTES) == 0);
    cr_assert(memcmp(got.fingerprints.profile, want.fingerprints.profile, len * PROFILE_BINS * sizeof(double)) == 0);
    cr_assert(fingerprints_profile(&got.fingerprints, 0) == NULL && fingerprints_digest(&got.fingerprints, 0) == NULL);
}

Test(fingerprints, are_left_out_of_a_run_without_attention)
{
    AUTO(run) want = {0};
    AUTO(run) got = {0};
    struct error err = {0};

    fake_run(&want, 2, 1, 0, 0);
    MUST(runfile_write(&want, folder_file("a.h5"), &err));
    MUST(runfile_read(&got, folder_file("a.h5"), &err));
    cr_assert(eq(sz, fingerprints_len(&got.fingerprints), 0));
}

Test(fingerprints, go_where_the_labels_say)
{
    AUTO(run) from = {0};
    AUTO(run) to = {0};
    size_t clash = 0, at[N_AXES] = {[AXIS_LAYER] = 0, [AXIS_HEAD] = 1};
    struct error err = {0};

    make(&from, 2);
    fake_run(&to, 1, 1, 1, 2);
    MUST(fingerprints_init(&to.fingerprints, &to.axes, &err));
    fingerprints_pour(&to.fingerprints, &to.axes, &from.fingerprints, &from.axes, &clash);
    cr_assert(clash == SIZE_MAX);
    cr_assert(eq(sz, fingerprints_len(&to.fingerprints), 2));
    cr_assert(fingerprints_digest(&to.fingerprints, fingerprints_index(&to.fingerprints, at))[0] == 7);
    cr_assert(fingerprints_digest(&to.fingerprints, 0) == NULL);
}

Test(fingerprints, of_shards_are_joined_and_must_agree)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};
    AUTO(run) other = {0};
    size_t at[N_AXES] = {[AXIS_TASK] = 0, [AXIS_LAYER] = 1, [AXIS_HEAD] = 0};
    struct error err = {0};

    make(&a, 2);
    make(&b, 2);
    make(&other, 2);
    set(&b, 0, 1, 0, 2, 5);
    set(&other, 0, 0, 1, 3, 8); /* not the bits that `a` has there */
    MUST(run_merge(&a, &b, &err));
    cr_assert(fingerprints_digest(&a.fingerprints, fingerprints_index(&a.fingerprints, at))[15] == 5);
    cr_assert(run_merge(&a, &other, &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "'t00'") != NULL, "%s", err.message);
}

/* Puts one value over a whole dataset, or gives it another type. */
static void spoil(const char *path, const char *object, double value, hid_t type)
{
    hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), d = H5Dopen2(f, object, H5P_DEFAULT), s = H5Dget_space(d);
    static double values[2 * 3 * 2 * PROFILE_BINS];
    size_t i;

    for (i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = value;
    cr_assert(f > 0 && d > 0);
    if (type == 0) {
        cr_assert(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    } else {
        hid_t list = H5Pcreate(H5P_DATASET_CREATE), fresh;

        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        H5Ldelete(f, object, H5P_DEFAULT);
        fresh = H5Dcreate2(f, object, type, s, H5P_DEFAULT, list, H5P_DEFAULT);
        cr_assert(fresh > 0);
        H5Dclose(fresh);
        H5Pclose(list);
    }
    H5Sclose(s);
    H5Dclose(d);
    H5Fclose(f);
}

Test(fingerprints, of_a_damaged_file_are_refused)
{
    const struct {
        const char *object, *words;
        double value;
        hid_t type;
    } rows[] = {
        {"profiles/attn.distance", "no profile", -0.1, 0},     {"profiles/attn.distance", "no profile", 0.5, 0},
        {"profiles/attn.distance", "no profile", INFINITY, 0}, {"profiles/attn.distance", "float64", 0, H5T_IEEE_F32LE},
        {"digests/attention", "uint8", 0, H5T_STD_I64LE},      {"digests/attention", "uint8", 0, H5T_STD_I8LE},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) r = {0};
        AUTO(run) got = {0};
        struct error err = {0};

        make(&r, 3);
        MUST(runfile_write(&r, folder_file("a.h5"), &err));
        spoil(folder_file("a.h5"), rows[i].object, rows[i].value, rows[i].type);
        cr_assert(runfile_read(&got, folder_file("a.h5"), &err) == ERR_FORMAT, "row %zu", i);
        cr_assert(strstr(err.message, rows[i].words) != NULL && strstr(err.message, rows[i].object) != NULL, "%s",
                  err.message);
    }
}

Test(fingerprints, that_fit_not_the_axes_are_refused)
{
    AUTO(run) r = {0};
    AUTO(run) got = {0};
    size_t i;

    make(&r, 3);
    for (i = 0; i < 2; i++) {
        struct fingerprints *f = &r.fingerprints;
        struct error err = {0};

        /* One layer of two tasks less is six cells, which there are. */
        f->dim[AXIS_LAYER] = i ? 3 : 2;
        f->dim[AXIS_HEAD] = i ? 1 : 2;
        MUST(runfile_write(&r, folder_file("a.h5"), &err));
        cr_assert(runfile_read(&got, folder_file("a.h5"), &err) == ERR_FORMAT);
        cr_assert(strstr(err.message, i ? "'head'" : "'layer'") != NULL, "%s", err.message);
    }
}
