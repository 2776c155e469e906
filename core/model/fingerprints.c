#include "core/model/fingerprints.h"

#include "core/base/checked.h"
#include "core/base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void fingerprints_done(struct fingerprints *f)
{
    free(f->profile);
    free(f->digest);
    memset(f, 0, sizeof *f);
}

enum status fingerprints_init(struct fingerprints *f, const struct axes *over, struct error *err)
{
    size_t len = 1, room, i;

    memset(f, 0, sizeof *f);
    for (i = 0; i < N_AXES; i++)
        if (!size_mul(len, i == AXIS_REPEAT ? 1 : over->n[i], &len))
            return error_set(err, ERR_LIMIT, "attention has too many cells");
    if (!size_mul(len, PROFILE_BINS * sizeof *f->profile, &room))
        return error_set(err, ERR_LIMIT, "attention has too many cells");
    TRY(mem_new(len, DIGEST_BYTES, &f->digest, err));
    if (mem_new(len, PROFILE_BINS * sizeof *f->profile, &f->profile, err) != OK) {
        fingerprints_done(f);
        return ERR_MEMORY;
    }
    for (i = 0; i < len * PROFILE_BINS; i++)
        f->profile[i] = NAN;
    for (i = 0; i < N_AXES; i++)
        f->dim[i] = i == AXIS_REPEAT ? 1 : over->n[i];
    return OK;
}

size_t fingerprints_len(const struct fingerprints *f)
{
    size_t len = 1, i;

    for (i = 0; i < N_AXES; i++)
        len *= f->dim[i];
    return len;
}

size_t fingerprints_index(const struct fingerprints *f, const size_t at[N_AXES])
{
    size_t index = 0, i;

    for (i = 0; i < N_AXES; i++)
        index = index * f->dim[i] + (i == AXIS_REPEAT ? 0 : at[i]);
    return index;
}

const double *fingerprints_profile(const struct fingerprints *f, size_t cell)
{
    const double *profile = f->profile + cell * PROFILE_BINS;

    return isnan(profile[0]) ? NULL : profile;
}

const unsigned char *fingerprints_digest(const struct fingerprints *f, size_t cell)
{
    static const unsigned char none[DIGEST_BYTES];
    const unsigned char *digest = f->digest + cell * DIGEST_BYTES;

    return memcmp(digest, none, sizeof none) == 0 ? NULL : digest;
}

bool fingerprints_have_profiles(const struct fingerprints *f)
{
    size_t len = fingerprints_len(f), i;

    for (i = 0; i < len; i++)
        if (fingerprints_profile(f, i))
            return true;
    return false;
}

bool fingerprints_have_digests(const struct fingerprints *f)
{
    size_t len = fingerprints_len(f), i;

    for (i = 0; i < len; i++)
        if (fingerprints_digest(f, i))
            return true;
    return false;
}

/* Where a cell of `from` lies in `to`; false where `to` has not one of its labels. */
static bool find_cell(const struct fingerprints *to, const struct axes *to_axes, const struct fingerprints *from,
                      const struct axes *from_axes, size_t cell, size_t *ret)
{
    size_t at[N_AXES], rest = cell, i;

    for (i = N_AXES; i-- > 0;) {
        at[i] = i == AXIS_REPEAT ? 0 : axes_place(to_axes, from_axes, (enum axis)i, rest % from->dim[i]);
        rest /= from->dim[i];
        if (at[i] == SIZE_MAX)
            return false;
    }
    *ret = fingerprints_index(to, at);
    return true;
}

/* Fills what is not known; false where both are known and differ. */
static bool fill(void *to, const void *have, const void *from, size_t bytes)
{
    if (have && from && memcmp(have, from, bytes) != 0)
        return false;
    if (to && !have && from)
        memcpy(to, from, bytes);
    return true;
}

void fingerprints_pour(struct fingerprints *to, const struct axes *to_axes, const struct fingerprints *from,
                       const struct axes *from_axes, size_t *ret_clash)
{
    size_t len = fingerprints_len(from), i, cell;

    *ret_clash = SIZE_MAX;
    for (i = 0; i < len; i++) {
        if (!find_cell(to, to_axes, from, from_axes, i, &cell))
            continue;
        if (!fill(to->profile + cell * PROFILE_BINS, fingerprints_profile(to, cell), fingerprints_profile(from, i),
                  PROFILE_BINS * sizeof *to->profile) ||
            !fill(to->digest + cell * DIGEST_BYTES, fingerprints_digest(to, cell), fingerprints_digest(from, i),
                  DIGEST_BYTES))
            *ret_clash = cell;
    }
}
