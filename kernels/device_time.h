/* device_time.h - the kernels timed alone, on tensors that are in device memory already; for tests/gpu.sh. */
#ifndef KERNELS_DEVICE_TIME_H
#define KERNELS_DEVICE_TIME_H

#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All write the seconds of the fastest of `n_runs`. */

/* One pass over the tensor, with k90, and the profile where args->profile is not NULL, if `has_counts`; else the sums
 * alone: entropy, S, maximum, sum p^2, distance. */
MUST_CHECK enum status row_entropy_time(const struct row_entropy_args *args, bool has_counts, int n_runs,
                                        double *ret_seconds, struct error *err);

/* Score products and sums, with queries and keys packed. ERR_LIMIT where they are not on the device all together. */
MUST_CHECK enum status qk_entropy_time(const struct qk_entropy_args *args, int n_runs, double *ret_seconds,
                                       struct error *err);

/* A copy of `bytes` within device memory, which moves twice as many; and one from host memory, pinned or not. */
MUST_CHECK enum status device_copy_time(size_t bytes, int n_runs, double *ret_seconds, struct error *err);
MUST_CHECK enum status device_upload_time(const void *host, size_t bytes, int n_runs, double *ret_seconds,
                                          struct error *err);

#ifdef __cplusplus
}
#endif
#endif
