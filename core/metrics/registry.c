#include "core/metrics/registry.h"

#include "core/base/similar.h"

#include <string.h>

#define METRIC(name) extern const struct metric metric_##name;
#include "metric_list.h"
#undef METRIC

static const struct metric *const table[] = {
#define METRIC(name) &metric_##name,
#include "metric_list.h"
#undef METRIC
};

enum { N_METRICS = sizeof table / sizeof *table };

const struct metric *const *metrics_all(size_t *ret_n)
{
    *ret_n = N_METRICS;
    return table;
}

const struct metric *metric_find(const char *name)
{
    size_t i;

    for (i = 0; i < N_METRICS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

const char *metric_similar(const char *name)
{
    const char *names[N_METRICS];
    size_t i;

    for (i = 0; i < N_METRICS; i++)
        names[i] = table[i]->name;
    return similar_find(name, names, N_METRICS);
}

/* Greedy with one step back: on a mismatch the last * takes one character more. Linear in practice, never exponential.
 */
bool metric_glob_matches(const char *glob, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name) {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == '?' || *glob == *name) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

bool metric_glob_known(const char *glob)
{
    size_t i;

    for (i = 0; i < N_METRICS; i++)
        if (metric_glob_matches(glob, table[i]->name))
            return true;
    return false;
}
