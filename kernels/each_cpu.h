/* each_cpu.h - loops that the compiler makes anew for each instruction set, chosen when the program starts.
 *
 * Only for additions and comparisons: they give the same bits in vectors of any length. */
#ifndef KERNELS_EACH_CPU_H
#define KERNELS_EACH_CPU_H

#if defined(__x86_64__) && defined(__linux__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

#endif
