/* qk_rows.h - what the Q/K backends share: checks, which keys are seen, and how a row begins and ends. */
#ifndef KERNELS_QK_ROWS_H
#define KERNELS_QK_ROWS_H

#include "kernels/qk_entropy.h"
#include "kernels/qk_pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One row so far, with e = 2^(y-m): m = max y, l = sum e, t = sum e (y-m); squares = sum e^2; distance = sum e |i-j|;
 * sink = y of the sample's first key. QK_NO_KEY before the first key. */
struct qk_state {
    double m, l, t, squares, sink, distance;
};
#define QK_NO_KEY                                                                                                      \
    {                                                                                                                  \
        -INFINITY, 0, 0, 0, -INFINITY, 0                                                                               \
    }

/* The status of a row that qk_row_begin() left to the kernel; the other members hold its qk_state. */
enum { QK_PENDING = N_ROW_STATUSES };

MUST_CHECK enum status qk_check(const struct qk_entropy_args *args, struct error *err);

/* The keys [lo, hi) that any row sees; lo = hi when there are none. */
struct row_span qk_seen(const struct qk_entropy_args *args);

/* Queries are multiplied by this: their products with keys are y, or with softcap the argument of tanh. */
double qk_query_factor(const struct qk_entropy_args *args);

/* c log2 e, by which tanh is multiplied to be y. */
double qk_softcap_factor(const struct qk_entropy_args *args);

/* Pending, or final where that is known before any score: no key, a NaN or infinity in sight, vectors too long for
 * float. `norm`: of the query after its factor. `scratch`: 2 x dim, the query after its factor comes first. */
struct row_stat qk_row_begin(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row, double norm,
                             double *scratch);

struct qk_state qk_row_state(const struct row_stat *row);
void qk_row_hold(struct row_stat *row, struct qk_state state);

/* The statistics of a row whose keys have all been seen; a row that is not pending stays as it is. */
struct row_stat qk_row_finish(const struct row_stat *row);

#ifdef __cplusplus
}
#endif
#endif
