/* retry.h - whether and when a request is asked again. Pure. */
#ifndef CORE_CLIENT_RETRY_H
#define CORE_CLIENT_RETRY_H

#include "core/client/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The wait that a header line asks for, ns: "Retry-After: 2", "Retry-After: <date>", "retry-after-ms: 1500". The finest
 * one wins; `before` is what an earlier line said, -1 nothing. A line that says nothing sensible changes nothing. */
int64_t retry_after(const char *line, size_t len, int64_t wall_ns, int64_t before);

/* Whether asking again may help and harms nothing: no connection, or a server that says that it is busy or broken. Not
 * once anything of an answer has come. */
bool retry_may_help(const struct transfer *t);

/* How long to wait before attempt n + 1, n >= 1 having failed: what the server asked for, else 0.5 s doubled each time,
 * half of it and up to the other half by chance. At most `max_ns`. */
int64_t retry_wait(const struct transfer *t, size_t n, int64_t max_ns, uint64_t seed, uint64_t stream);

#endif
