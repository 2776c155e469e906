/* backend.h - the kernels of one device behind one table; the only place that knows which backends are built in. */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include "core/base/error.h"
#include "kernels/maxt_count.h"
#include "kernels/qk_entropy.h"
#include "kernels/row_entropy.h"

#include <stdbool.h>
#include <stddef.h>

struct backend {
    const char *name;    /* "cpu" or "cuda" */
    bool works_in_bands; /* best given few rows at a time, on each thread of the caller's own loop */
    enum status (*row_entropy)(const struct row_entropy_args *args, struct row_stat *ret, struct error *err);
    /* The same in two steps: what `args` points to, and `ret`, must stay as they are until row_end(), which waits,
     * writes, and releases *ret_work whether or not all went well. On the CPU row_begin() does it all. */
    enum status (*row_begin)(const struct row_entropy_args *args, struct row_stat *ret, struct row_work **ret_work,
                             struct error *err);
    enum status (*row_end)(struct row_work *work, struct error *err);
    enum status (*qk_entropy)(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err);
    enum status (*maxt_count)(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                              struct error *err);
    void *(*host_alloc)(
        size_t bytes); /* buffers that kernels read: aligned to 64, pinned under CUDA; NULL on failure */
    void (*host_free)(void *p);
};

/* "auto" (CUDA where a device answers, else CPU), "cpu" or "cuda". ERR_USAGE for another word, ERR_DEVICE when "cuda"
 * is asked for and is not built in or has no device. The table is static. */
MUST_CHECK enum status backend_choose(const char *device, const struct backend **ret, struct error *err);

/* Chooses the CPU's instruction set: "auto", "avx512", "avx2" or "portable"; ERR_USAGE when this CPU has it not. */
MUST_CHECK enum status backend_set_isa(const char *isa, struct error *err);
const char *backend_isa(void);

/* Worker threads of the CPU backend; 0 = one for each core that the process may use. */
void backend_set_threads(int n);

/* Device memory that one call of a CUDA kernel may take; 0: 1 GiB. */
void backend_set_memory(size_t bytes);

/* Where permutation tests count from now on, in words as backend_choose() has them. "auto" takes CUDA for what would
 * keep the CPU for seconds, and the CPU wherever that fails: the counts are the same. */
MUST_CHECK enum status backend_set_test_device(const char *device, struct error *err);
MUST_CHECK enum status backend_maxt_count(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                                          struct error *err);

bool backend_has_cuda(void); /* compiled in */

/* Name and memory of the CUDA device, driver version; false, and a reason in `text`, when there is none. */
bool backend_describe_cuda(char *text, size_t size);

#endif
