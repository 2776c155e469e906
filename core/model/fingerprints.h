/* fingerprints.h - what a run keeps of each head's attention beside its metrics: over which distances its weight lies,
 * and a digest of the bits that it is stored in. Both are for comparing two runs. */
#ifndef CORE_MODEL_FINGERPRINTS_H
#define CORE_MODEL_FINGERPRINTS_H

#include "core/base/error.h"
#include "core/model/axes.h"

#include <stdbool.h>
#include <stddef.h>

/* Bin 0 of a profile: the query's own key; bin b: 2^(b-1) to 2^b - 1 keys away. */
enum { PROFILE_BINS = 32, DIGEST_BYTES = 16 };

/* Cells over task, turn, layer and head, row-major in this order. */
struct fingerprints {
    size_t dim[N_AXES];    /* 1 along repeat; dim[AXIS_TASK] = 0: there are none               */
    double *profile;       /* owned: cells x PROFILE_BINS, shares of the weight; NaN: not known */
    unsigned char *digest; /* owned: cells x DIGEST_BYTES; all zero: not known                  */
};

void fingerprints_done(struct fingerprints *f);

/* Nothing known, over the axes. */
MUST_CHECK enum status fingerprints_init(struct fingerprints *f, const struct axes *over, struct error *err);

size_t fingerprints_len(const struct fingerprints *f); /* cells */

/* at[axis] is an index along that axis; that of repeat is ignored. */
size_t fingerprints_index(const struct fingerprints *f, const size_t at[N_AXES]);

/* Of one cell; NULL where it is not known. */
const double *fingerprints_profile(const struct fingerprints *f, size_t cell);
const unsigned char *fingerprints_digest(const struct fingerprints *f, size_t cell);

bool fingerprints_have_profiles(const struct fingerprints *f);
bool fingerprints_have_digests(const struct fingerprints *f);

/* Copies what `from` knows to the cells of the same labels. *ret_clash: a cell that both know differently, which then
 * keeps what it has; SIZE_MAX none. */
void fingerprints_pour(struct fingerprints *to, const struct axes *to_axes, const struct fingerprints *from,
                       const struct axes *from_axes, size_t *ret_clash);

#endif
