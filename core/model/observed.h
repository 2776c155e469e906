/* observed.h - whether two runs tell of the same replies. */
#ifndef CORE_MODEL_OBSERVED_H
#define CORE_MODEL_OBSERVED_H

#include "core/model/run.h"

#include <stdbool.h>

/* True when every request that stands in both runs was received in the same bytes at the same nanoseconds, and there
 * is one with at least two reads: two runs over one recording, which counted as repeats would look like a system
 * without noise. Tasks and turns are matched, repeats are not: the second of `b` may be the first of `a`. */
bool observed_twice(const struct run *a, const struct run *b);

#endif
