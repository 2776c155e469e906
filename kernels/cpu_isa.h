/* cpu_isa.h - the instruction set and the number of threads that the CPU kernels use; set through backend.h. */
#ifndef KERNELS_CPU_ISA_H
#define KERNELS_CPU_ISA_H

#include "core/base/error.h"

#include <stdbool.h>

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512, N_ISAS };

const char *isa_name(enum isa isa); /* "portable", "avx2", "avx512" */
bool isa_has(enum isa isa);         /* this CPU and this build have it */

/* The best that the CPU has, until isa_set() chose another. */
enum isa isa_current(void);

/* "auto" or a name; ERR_USAGE, and nothing changes, when it is no name or the CPU has it not. */
MUST_CHECK enum status isa_set(const char *name, struct error *err);

/* Worker threads, at least 1; `n` = 0 gives one for each core that the process may use. */
int cpu_threads(void);
void cpu_set_threads(int n);

#endif
