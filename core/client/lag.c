#include "core/client/lag.h"

#include <stddef.h>

/* 8 buckets an octave, by the three bits below the highest; below 8 ns a bucket for each. */
static size_t bucket(uint64_t ns)
{
    unsigned high;

    if (ns < 8)
        return (size_t)ns;
    high = 63 - (unsigned)__builtin_clzll(ns);
    return (size_t)(high - 2) * 8 + (size_t)((ns >> (high - 3)) & 7);
}

static int64_t upper_end(size_t at)
{
    unsigned high = (unsigned)(at / 8) + 2;

    if (at < 8)
        return (int64_t)at;
    return (int64_t)(((uint64_t)(9 + at % 8) << (high - 3)) - 1);
}

void lag_add(struct lag *l, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    l->count[bucket((uint64_t)ns)]++;
    l->n++;
    if (ns > l->max_ns)
        l->max_ns = ns;
}

int64_t lag_quantile(const struct lag *l, double q)
{
    uint64_t rank = (uint64_t)(q * (double)l->n), seen = 0;
    size_t i;

    for (i = 0; i < LAG_BUCKETS; i++) {
        seen += l->count[i];
        if (seen > rank)
            return upper_end(i) < l->max_ns ? upper_end(i) : l->max_ns;
    }
    return l->max_ns;
}
