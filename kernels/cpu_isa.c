#include "kernels/cpu_isa.h"

#include "core/base/similar.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { ISA_AUTO = -1 };

static const char *const names[N_ISAS] = {
    [ISA_PORTABLE] = "portable",
    [ISA_AVX2] = "avx2",
    [ISA_AVX512] = "avx512",
};

/* What the user chose, once, at start. */
static int chosen_isa = ISA_AUTO;
static int chosen_threads;

const char *isa_name(enum isa isa)
{
    return names[isa];
}

#ifdef __x86_64__
/* clang 14 does not know the word "f16c" in __builtin_cpu_supports(): the bit is read instead, once, since a virtual
 * machine leaves the processor for it, which takes longer than a band of rows. */
static bool has_f16c(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    unsigned eax, ebx, ecx, edx;

    if (atomic_load(&known) == UNKNOWN)
        atomic_store(&known, __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) ? YES : NO);
    return atomic_load(&known) == YES;
}
#endif

bool isa_has(enum isa isa)
{
#ifdef __x86_64__
    bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();

    if (isa == ISA_AVX2)
        return has_avx2;
    if (isa == ISA_AVX512)
        return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return isa == ISA_PORTABLE;
}

enum isa isa_current(void)
{
    if (chosen_isa != ISA_AUTO)
        return (enum isa)chosen_isa;
    if (isa_has(ISA_AVX512))
        return ISA_AVX512;
    return isa_has(ISA_AVX2) ? ISA_AVX2 : ISA_PORTABLE;
}

static enum status refuse(const char *name, struct error *err)
{
    static const char *const words[] = {"auto", "avx512", "avx2", "portable"};
    const char *near = similar_find(name, words, sizeof words / sizeof *words);

    return error_set(err, ERR_USAGE, "unknown instruction set '%.60s'%s%s%s: use auto, avx512, avx2 or portable", name,
                     near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

enum status isa_set(const char *name, struct error *err)
{
    int isa;

    if (strcmp(name, "auto") == 0) {
        chosen_isa = ISA_AUTO;
        return OK;
    }
    for (isa = 0; isa < N_ISAS; isa++)
        if (strcmp(name, names[isa]) == 0)
            break;
    if (isa == N_ISAS)
        return refuse(name, err);
    if (!isa_has((enum isa)isa))
        return error_set(err, ERR_USAGE, "this CPU does not have '%s': use auto, which takes %s here", name,
                         names[isa_has(ISA_AVX512) ? ISA_AVX512
                               : isa_has(ISA_AVX2) ? ISA_AVX2
                                                   : ISA_PORTABLE]);
    chosen_isa = isa;
    return OK;
}

int cpu_threads(void)
{
    cpu_set_t usable;

    if (chosen_threads > 0)
        return chosen_threads;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
}

void cpu_set_threads(int n)
{
    chosen_threads = n > 0 ? n : 0;
}
