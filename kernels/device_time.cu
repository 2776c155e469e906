/* How fast the device copies: what the kernels' speed is measured against. */
#include "kernels/cuda_check.cuh"
#include "kernels/device_time.h"

#include <math.h>

namespace
{

enum status time_copies(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int n_runs, double *ret_seconds,
                        struct error *err)
{
    AUTO(devtimer) timer = {};
    double best = INFINITY;

    TRY(devtimer_init(&timer, err));
    for (int i = 0; i < n_runs; i++) {
        double seconds = 0;

        TRY(devtimer_begin(&timer, err));
        CUDA_TRY(cudaMemcpyAsync(to, from, bytes, kind, NULL));
        TRY(devtimer_end(&timer, &seconds, err));
        best = seconds < best ? seconds : best;
    }
    *ret_seconds = best;
    return OK;
}

} /* namespace */

enum status device_copy_time(size_t bytes, int n_runs, double *ret_seconds, struct error *err)
{
    AUTO(devbuf) from = {};
    AUTO(devbuf) to = {};

    TRY(devbuf_init(&from, bytes, err));
    TRY(devbuf_init(&to, bytes, err));
    CUDA_TRY(cudaMemset(from.data, 0x5a, bytes));
    return time_copies(to.data, from.data, bytes, cudaMemcpyDeviceToDevice, n_runs, ret_seconds, err);
}

enum status device_upload_time(const void *host, size_t bytes, int n_runs, double *ret_seconds, struct error *err)
{
    AUTO(devbuf) to = {};

    TRY(devbuf_init(&to, bytes, err));
    return time_copies(to.data, host, bytes, cudaMemcpyHostToDevice, n_runs, ret_seconds, err);
}
