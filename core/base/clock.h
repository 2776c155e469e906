/* clock.h - the monotonic clock that deadlines and latencies are on, and the time of day for people. */
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC; never steps. */
int64_t clock_ns(void);

/* Since 1970, as this machine believes. */
int64_t clock_wall_ns(void);

/* Processor time of this process, all threads. */
int64_t clock_cpu_ns(void);

#endif
