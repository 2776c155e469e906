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
