/* lag.h - how long things waited for this program, in buckets 1/8 octave wide; adding never allocates. */
#ifndef CORE_CLIENT_LAG_H
#define CORE_CLIENT_LAG_H

#include <stdint.h>

enum { LAG_BUCKETS = 64 * 8 };

/* A zeroed struct lag is ready to use. */
struct lag {
    uint64_t count[LAG_BUCKETS];
    uint64_t n;
    int64_t max_ns;
};

void lag_add(struct lag *l, int64_t ns);

/* Upper end of the bucket that holds the quantile, at most 13 % too high; 0 when nothing was added. */
int64_t lag_quantile(const struct lag *l, double q);

#endif
