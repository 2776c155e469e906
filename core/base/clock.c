#include "core/base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t = {0};

    clock_gettime(id, &t); /* cannot fail for these three */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
