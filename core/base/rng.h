/* rng.h - random numbers as a pure function of (seed, stream, index): Philox4x32-10 (Salmon et al., SC 2011). */
#ifndef CORE_BASE_RNG_H
#define CORE_BASE_RNG_H

#include <stdint.h>

/* 128 random bits. The same arguments give the same bits on every machine, in any order, on CPU and GPU. */
struct rng_block {
    uint32_t word[4];
};

struct rng_block rng_at(uint64_t seed, uint64_t stream, uint64_t index);

/* A stream number for a name, so that numbers follow a task's id and not its place in a list (FNV-1a, 64 bit). */
uint64_t rng_stream(const char *name);

#endif
