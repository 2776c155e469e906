/* qk_rows.h - what the Q/K backends share: checks, which keys are seen, and how a row begins and ends. */
#ifndef KERNELS_QK_ROWS_H
#define KERNELS_QK_ROWS_H

#include "kernels/qk_entropy.h"
#include "kernels/qk_pack.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SINK_KEYS = 4 };

/* One row so far, with e = 2^(y-m): m = max y, l = sum e, t = sum e (y-m); squares = sum e^2; distance = sum e |i-j|;
 * bucket = sum e by distance; sink = y of the sample's first keys, -inf where the row does not see them. `shift` is
 * what taking off the mean key took off every y. */
struct qk_state {
    double m, l, t, squares, distance, shift, sink[SINK_KEYS], bucket[PROFILE_BUCKETS];
};

/* The status of a row that qk_row_begin() left to the kernel. */
enum { QK_PENDING = N_ROW_STATUSES };

MUST_CHECK enum status qk_check(const struct qk_entropy_args *args, struct error *err);

/* The keys [lo, hi) that any row sees; lo = hi when there are none. */
struct row_span qk_seen(const struct qk_entropy_args *args);

/* Queries are multiplied by this: their products with keys are y, or with softcap the argument of tanh. */
double qk_query_factor(const struct qk_entropy_args *args);

/* c log2 e, by which tanh is multiplied to be y. */
double qk_softcap_factor(const struct qk_entropy_args *args);

/* Before the first key. */
void qk_state_init(struct qk_state *s);

/* Brings the sums to a new, larger m. */
void qk_state_raise(struct qk_state *s, double m);

/* What a row gives besides its statistics; both may be NULL. */
struct qk_extra {
    uint64_t *profile; /* the head's: added to */
    double *lse;       /* the row's            */
};

/* Pending with `state` begun, or final where that is known before any score: no key, a NaN or infinity in sight,
 * vectors too long for float. `norm`: of the query after its factor. `scratch`: 2 x dim, the query after its factor
 * comes first. */
struct row_stat qk_row_begin(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row, double norm,
                             double *scratch, struct qk_state *state, struct qk_extra extra);

/* The statistics of a row whose keys have all been seen. */
struct row_stat qk_row_finish(const struct qk_state *s, uint32_t n_keys, struct qk_extra extra);

#ifdef __cplusplus
}
#endif
#endif
