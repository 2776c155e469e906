#include "core/base/rng.h"

#include <Random123/philox.h>

struct rng_block rng_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    philox4x32_ctr_t ctr = {{(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t r = philox4x32(ctr, key);
    struct rng_block out = {{r.v[0], r.v[1], r.v[2], r.v[3]}};

    return out;
}

uint64_t rng_stream(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}
