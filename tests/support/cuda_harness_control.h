/* cuda_harness_control.h - the C side of cuda_harness.h, for tests. */
#ifndef TESTS_SUPPORT_CUDA_HARNESS_CONTROL_H
#define TESTS_SUPPORT_CUDA_HARNESS_CONTROL_H

#include "kernels/maxt_count.h"
#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

void harness_seed(uint64_t seed);   /* the order of fibers and blocks from now on                  */
void harness_fail_call(int n);      /* the n-th call of the runtime from now on fails; 0: none does */
int harness_calls(void);            /* calls of the runtime since harness_fail_call()              */
int harness_live_allocations(void); /* device memory and streams that were not given back          */

/* Products of floats are added up in double, to be as good as any GPU's, or from now on in float, from the last to the
 * first, to be as bad. */
void harness_coarse_products(int is_coarse);

/* row_entropy.cu, qk_entropy.cu and maxt_count.cu, compiled for the harness. */
enum status row_entropy_harness(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);
enum status qk_entropy_harness(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err);
enum status maxt_count_harness(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                               struct error *err);

#ifdef __cplusplus
}
#endif
#endif
