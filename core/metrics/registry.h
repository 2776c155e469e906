/* registry.h - the one table of metrics. */
#ifndef CORE_METRICS_REGISTRY_H
#define CORE_METRICS_REGISTRY_H

#include "core/metrics/metric.h"

#include <stdbool.h>
#include <stddef.h>

/* All metrics in the order of the list; *ret_n of them. */
const struct metric *const *metrics_all(size_t *ret_n);

/* NULL when there is none of that name. */
const struct metric *metric_find(const char *name);

/* The nearest name for a message, or NULL. */
const char *metric_similar(const char *name);

/* Whether a glob ("attn.*": * any run, ? one character) names at least one metric. */
bool metric_glob_matches(const char *glob, const char *name);
bool metric_glob_known(const char *glob);

#endif
