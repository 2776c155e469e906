#include "kernels/backend.h"

#include "core/base/similar.h"
#include "kernels/backend_cuda.h"
#include "kernels/cpu_isa.h"
#include "kernels/device_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static void *cpu_host_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT);
}

static enum status cpu_row_begin(const struct row_entropy_args *args, struct row_stat *ret, struct row_work **ret_work,
                                 struct error *err)
{
    TRY(row_entropy_cpu(args, ret, err));
    *ret_work = NULL;
    return OK;
}

static enum status cpu_row_end(struct row_work *work, struct error *err)
{
    (void)work;
    (void)err;
    return OK;
}

static const struct backend cpu = {
    .name = "cpu",
    .works_in_bands = true,
    .row_entropy = row_entropy_cpu,
    .row_begin = cpu_row_begin,
    .row_end = cpu_row_end,
    .qk_entropy = qk_entropy_cpu,
    .maxt_count = maxt_count_cpu,
    .host_alloc = cpu_host_alloc,
    .host_free = free,
};

#ifdef TARE_HAVE_CUDA
static const struct backend cuda = {
    .name = "cuda",
    .row_entropy = row_entropy_cuda,
    .row_begin = row_entropy_cuda_begin,
    .row_end = row_entropy_cuda_end,
    .qk_entropy = qk_entropy_cuda,
    .maxt_count = maxt_count_cuda,
    .host_alloc = backend_cuda_host_alloc,
    .host_free = backend_cuda_host_free,
};
static const struct backend *const built_in_cuda = &cuda;

bool backend_describe_cuda(char *text, size_t size)
{
    return backend_cuda_describe(text, size);
}
#else
static const struct backend *const built_in_cuda;

bool backend_describe_cuda(char *text, size_t size)
{
    snprintf(text, size, "this build has no CUDA: build where nvcc is found, with -DTARE_CUDA=ON");
    return false;
}
#endif

bool backend_has_cuda(void)
{
    return built_in_cuda != NULL;
}

static enum status refuse(const char *device, struct error *err)
{
    static const char *const words[] = {"auto", "cpu", "cuda"};
    const char *near = similar_find(device, words, sizeof words / sizeof *words);

    return error_set(err, ERR_USAGE, "unknown device '%.60s'%s%s%s: use auto, cpu or cuda", device,
                     near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

enum status backend_choose(const char *device, const struct backend **ret, struct error *err)
{
    bool wants_cuda = strcmp(device, "cuda") == 0;
    bool is_auto = strcmp(device, "auto") == 0;
    char text[256];

    if (!wants_cuda && !is_auto && strcmp(device, "cpu") != 0)
        return refuse(device, err);
    if (wants_cuda || is_auto) {
        if (backend_describe_cuda(text, sizeof text) && built_in_cuda) {
            *ret = built_in_cuda;
            return OK;
        }
        if (wants_cuda)
            return error_set(err, ERR_DEVICE, "device 'cuda': %s; use auto or cpu to run without it", text);
    }
    *ret = &cpu;
    return OK;
}

/* Where permutation tests count; NULL: "auto". */
static const struct backend *test_device;

enum status backend_set_test_device(const char *device, struct error *err)
{
    const struct backend *chosen = NULL;

    if (strcmp(device, "auto") != 0)
        TRY(backend_choose(device, &chosen, err));
    test_device = chosen;
    return OK;
}

/* Additions that the CPU makes in some seconds: a device that was never asked takes one to begin. */
static bool is_worth_a_device(const struct maxt_count_args *args)
{
    static const double worth = 1e11;

    return (double)args->n_draws * (double)args->n_cells * (double)args->n_tasks >= worth * cpu_threads();
}

enum status backend_maxt_count(const struct maxt_count_args *args, int64_t *ret_hits, int64_t *ret_hits_max,
                               struct error *err)
{
    const struct backend *device = test_device ? test_device : &cpu;

    if (!test_device && is_worth_a_device(args)) {
        struct error ignored = {0};

        TRY(backend_choose("auto", &device, err));
        if (device != &cpu && device->maxt_count(args, ret_hits, ret_hits_max, &ignored) == OK)
            return OK;
        device = &cpu;
    }
    return device->maxt_count(args, ret_hits, ret_hits_max, err);
}

enum status backend_set_isa(const char *isa, struct error *err)
{
    return isa_set(isa, err);
}

const char *backend_isa(void)
{
    return isa_name(isa_current());
}

void backend_set_threads(int n)
{
    cpu_set_threads(n);
}

void backend_set_memory(size_t bytes)
{
    device_memory_set(bytes);
}
