/* declined.h - whether a text begins like a refusal. */
#ifndef CORE_METRICS_DECLINED_H
#define CORE_METRICS_DECLINED_H

#include <stdbool.h>
#include <stddef.h>

/* By a list of the usual sentences: it neither finds every refusal nor knows whether one was due. */
bool declined_begins(const char *text, size_t len);

#endif
