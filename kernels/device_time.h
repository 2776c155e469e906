/* device_time.h - the kernels timed alone, on tensors that are in device memory already; for tests/gpu.sh. */
#ifndef KERNELS_DEVICE_TIME_H
#define KERNELS_DEVICE_TIME_H

#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of the fastest of `n_runs` passes over args->weights, a device pointer. `has_counts`: with k90, and the
 * profile where args->profile is not NULL; else the sums alone: entropy, S, maximum, sum p^2, distance. */
MUST_CHECK enum status row_entropy_time(const struct row_entropy_args *args, bool has_counts, int n_runs,
                                        double *ret_seconds, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
