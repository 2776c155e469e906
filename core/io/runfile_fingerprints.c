#include "core/base/checked.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"
#include "core/io/h5data.h"
#include "core/io/runfile_fields.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* More than a file may claim before memory is asked for; gzip gives at most 1032 bytes for one. */
#define MAX_ELEMENTS ((size_t)1 << 32)
enum { GZIP_RATIO = 1100 };

/* The axes of a fingerprint, and its own last one. */
enum { RANK = 5 };
static const enum axis along[RANK - 1] = {AXIS_TASK, AXIS_TURN, AXIS_LAYER, AXIS_HEAD};

static const char *const help_profiles =
    "How each head's weight lies over distances.\n"
    "attn.distance: shares of the weight of a sample's valid rows, each row normalised, by the distance between query "
    "and key; the edges of the bins stand in /axes/bin. They sum to 1; NaN where there was nothing to measure.";
static const char *const help_digests =
    "Digests of the bits that attention was stored in: equal digests, equal bits.\n"
    "attention: 16 bytes a head, XXH3-128 over the XXH3-128 of each valid row's visible bytes in row order, in "
    "canonical"
    " form; from queries and keys, rows of the query head, then of its key head. All zero where there was nothing.";
static const char *const help_bin = "Least distance in keys of each bin of a profile: 0, 1, 2, 4, … up to the next.";

static void lay(const struct fingerprints *f, struct h5data *what, size_t last)
{
    size_t i;

    for (i = 0; i + 1 < RANK; i++)
        what->dims[i] = f->dim[along[i]];
    what->dims[RANK - 1] = last;
    what->rank = RANK;
    what->chunk = 1;
}

static enum status put(const struct h5 *root, const char *group, const char *help, const struct h5data *what,
                       const void *values, struct h5scale *const *scales, struct error *err)
{
    AUTO(h5) at = {0};
    AUTO(h5) ds = {0};

    TRY(h5_make_group(root, group, help, &at, err));
    TRY(h5data_put(&at, what, values, &ds, err));
    return h5scale_attach(&ds, scales, what->rank, err);
}

static enum status put_bins(const struct h5 *root, struct h5scale *bins, struct error *err)
{
    struct h5data what = {.name = "bin",
                          .help = help_bin,
                          .file_type = H5T_STD_I64LE,
                          .mem_type = H5T_NATIVE_INT64,
                          .rank = 1,
                          .dims = {PROFILE_BINS}};
    int64_t edge[PROFILE_BINS];
    AUTO(h5) axes = {0};
    AUTO(h5) ds = {0};
    size_t i;

    for (i = 0; i < PROFILE_BINS; i++)
        edge[i] = i ? (int64_t)1 << (i - 1) : 0;
    TRY(h5_group(root, "axes", &axes, err));
    TRY(h5data_put(&axes, &what, edge, &ds, err));
    return h5scale_init(bins, &ds, "bin", err);
}

static enum status put_profiles(const struct h5 *root, const struct fingerprints *f, struct h5scale *const *scales,
                                struct error *err)
{
    struct h5data what = {.name = "attn.distance",
                          .help = "shares of a head's weight by distance",
                          .file_type = H5T_IEEE_F64LE,
                          .mem_type = H5T_NATIVE_DOUBLE};
    struct h5scale *all[RANK];
    AUTO(h5scale) bins = {0};

    if (!fingerprints_have_profiles(f))
        return OK;
    TRY(put_bins(root, &bins, err));
    memcpy(all, scales, (RANK - 1) * sizeof *all);
    all[RANK - 1] = &bins;
    lay(f, &what, PROFILE_BINS);
    TRY(put(root, "profiles", help_profiles, &what, f->profile, all, err));
    return h5scale_finish(&bins, err);
}

enum status runfile_put_fingerprints(const struct h5 *root, const struct fingerprints *f, struct h5scale *scales,
                                     struct error *err)
{
    struct h5data what = {.name = "attention",
                          .help = "a digest of a head's stored attention",
                          .file_type = H5T_STD_U8LE,
                          .mem_type = H5T_NATIVE_UINT8};
    struct h5scale *all[RANK] = {NULL};
    size_t i;

    if (!fingerprints_len(f))
        return OK;
    for (i = 0; i + 1 < RANK; i++)
        all[i] = &scales[along[i]];
    TRY(put_profiles(root, f, all, err));
    if (!fingerprints_have_digests(f))
        return OK;
    lay(f, &what, DIGEST_BYTES);
    return put(root, "digests", help_digests, &what, f->digest, all, err);
}

/* Opens a dataset whose shape is that of the run's axes and `last`; the root has the group. */
static enum status open_dataset(const struct h5 *root, const char *group, const char *name, const struct axes *axes,
                                size_t last, struct h5 *ret, struct error *err)
{
    size_t dims[RANK], total = last, i;
    AUTO(h5) at = {0};
    AUTO(h5) ds = {0};

    TRY(h5_group(root, group, &at, err));
    TRY(h5_dataset(&at, name, &ds, err));
    TRY(h5data_shape(&ds, RANK, dims, err));
    for (i = 0; i + 1 < RANK; i++) {
        const char *axis = axis_names[along[i]];

        if (dims[i] != axes->n[along[i]])
            return h5_bad(&ds, err, "dimension '%s' has %zu elements, /axes/%s has %zu", axis, dims[i], axis,
                          axes->n[along[i]]);
        if (!size_mul(total, dims[i], &total) || total > MAX_ELEMENTS)
            return h5_bad(&ds, err, "more than %zu elements", MAX_ELEMENTS);
    }
    if (dims[RANK - 1] != last)
        return h5_bad(&ds, err, "the last dimension has %zu elements, it must have %zu", dims[RANK - 1], last);
    TRY(h5data_check(&ds, GZIP_RATIO, err));
    *ret = h5_take(&ds);
    return OK;
}

/* Shares of one: all of them numbers from 0 to 1 that sum to 1, or all NaN. */
static bool is_profile(const double *p)
{
    size_t i, n = 0;
    double sum = 0;

    for (i = 0; i < PROFILE_BINS; i++) {
        if (isnan(p[i]))
            continue;
        if (!(p[i] >= 0 && p[i] <= 1))
            return false;
        sum += p[i];
        n++;
    }
    return n == 0 || (n == PROFILE_BINS && fabs(sum - 1) < 1e-6);
}

static enum status get_profiles(struct fingerprints *f, const struct h5 *root, const struct axes *axes,
                                struct error *err)
{
    size_t len = fingerprints_len(f), i;
    AUTO(h5) ds = {0};

    TRY(open_dataset(root, "profiles", "attn.distance", axes, PROFILE_BINS, &ds, err));
    TRY(h5data_is_double(&ds, err));
    if (len)
        TRY(h5data_read(&ds, H5T_NATIVE_DOUBLE, f->profile, err));
    for (i = 0; i < len; i++)
        if (!is_profile(f->profile + i * PROFILE_BINS))
            return h5_bad(&ds, err, "cell %zu is no profile: shares of 0 to 1 that sum to 1; the file may be damaged",
                          i);
    return OK;
}

static enum status get_digests(struct fingerprints *f, const struct h5 *root, const struct axes *axes,
                               struct error *err)
{
    AUTO(h5) ds = {0};

    TRY(open_dataset(root, "digests", "attention", axes, DIGEST_BYTES, &ds, err));
    {
        AUTO(h5id) type = {.id = H5Dget_type(ds.id)};

        if (type.id < 0 || H5Tequal(type.id, H5T_STD_U8LE) <= 0)
            return h5_bad(&ds, err, "elements must be single bytes, uint8");
    }
    return fingerprints_len(f) ? h5data_read(&ds, H5T_NATIVE_UINT8, f->digest, err) : OK;
}

static bool has_dataset(const struct h5 *root, const char *group, const char *name)
{
    AUTO(h5) at = {0};
    struct error err = {0};

    return h5_has(root, group) && h5_group(root, group, &at, &err) == OK && h5_has(&at, name);
}

enum status runfile_get_fingerprints(struct run *run, const struct h5 *root, struct error *err)
{
    bool profiles = has_dataset(root, "profiles", "attn.distance");
    bool digests = has_dataset(root, "digests", "attention");
    AUTO(fingerprints) f = {0};

    if (!profiles && !digests)
        return OK;
    /* The shapes are looked at before memory is asked for. */
    if (profiles) {
        AUTO(h5) ds = {0};

        TRY(open_dataset(root, "profiles", "attn.distance", &run->axes, PROFILE_BINS, &ds, err));
    }
    if (digests) {
        AUTO(h5) ds = {0};

        TRY(open_dataset(root, "digests", "attention", &run->axes, DIGEST_BYTES, &ds, err));
    }
    TRY(fingerprints_init(&f, &run->axes, err));
    if (profiles)
        TRY(get_profiles(&f, root, &run->axes, err));
    if (digests)
        TRY(get_digests(&f, root, &run->axes, err));
    run->fingerprints = f;
    memset(&f, 0, sizeof f);
    return OK;
}
