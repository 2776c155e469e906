/* cuda_harness_control.h - the C side of cuda_harness.h, for tests. */
#ifndef TESTS_SUPPORT_CUDA_HARNESS_CONTROL_H
#define TESTS_SUPPORT_CUDA_HARNESS_CONTROL_H

#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

void harness_seed(uint64_t seed);   /* the order of fibers and blocks from now on                  */
void harness_fail_call(int n);      /* the n-th call of the runtime from now on fails; 0: none does */
int harness_calls(void);            /* calls of the runtime since harness_fail_call()              */
int harness_live_allocations(void); /* device memory and streams that were not given back          */

/* row_entropy.cu and qk_entropy.cu, compiled for the harness. */
enum status row_entropy_harness(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);
enum status qk_entropy_harness(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
