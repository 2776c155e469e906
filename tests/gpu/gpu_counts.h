/* gpu_counts.h - the counts of the sign-flip test on the device beside those of the CPU; for gpu_check. */
#ifndef TESTS_GPU_GPU_COUNTS_H
#define TESTS_GPU_GPU_COUNTS_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct counts_result {
    bool is_same;           /* every count */
    double cpu_s, device_s; /* the fastest of n_runs, from the host and back to it */
    size_t n_tasks, n_cells, n_draws;
};

/* Random differences, multiples of a third where `is_tied`: then nearly every sum ties with others. */
MUST_CHECK enum status gpu_counts(size_t n_tasks, size_t n_cells, size_t n_draws, bool is_tied, int n_runs,
                                  struct counts_result *ret, struct error *err);

#endif
