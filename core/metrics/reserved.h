/* reserved.h - names of metrics that policies may speak of before the program can measure them: they are known, and
 * stand as "not measured". A name leaves the list when its metric comes; until then both may be there. */
#ifndef CORE_METRICS_RESERVED_H
#define CORE_METRICS_RESERVED_H

#include <stdbool.h>
#include <stddef.h>

struct reserved {
    const char *name, *unit, *help;
};

/* All of them; *ret_n many. */
const struct reserved *reserved_all(size_t *ret_n);

/* NULL when there is none of that name, or a metric has it by now. */
const struct reserved *reserved_find(const char *name);

/* Whether the glob names at least one. */
bool reserved_glob_known(const char *glob);

#endif
