#include "core/metrics/registry.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(registry, every_metric_is_whole)
{
    size_t n, i, j;
    const struct metric *const *all = metrics_all(&n);

    cr_assert(ge(sz, n, 14));
    for (i = 0; i < n; i++) {
        const struct metric *m = all[i];
        int computes = (m->of_reply != NULL) + (m->of_workload != NULL) + (m->of_head != NULL) +
                       (m->of_head_by != NULL) + m->is_of_pair + (m->of_layer != NULL) + (m->of_turns != NULL);

        cr_assert(strchr(m->name, '.') != NULL, "%s: a name is dotted", m->name);
        cr_assert(m->unit && m->unit[0] && m->help && m->help[0], "%s: unit and help", m->name);
        cr_assert(strlen(m->definition) > 40 && strlen(m->example) > 10, "%s: definition and example", m->name);
        cr_assert(m->version >= 1 && (m->axes & AXIS_BIT(AXIS_TASK)), "%s: version and axes", m->name);
        cr_assert(computes == 1, "%s: exactly one way to compute it", m->name);
        cr_assert(metric_find(m->name) == m);
        for (j = 0; j < i; j++)
            cr_assert(strcmp(all[j]->name, m->name) != 0, "%s: names are unique", m->name);
    }
}

Test(registry, globs_match_whole_names)
{
    static const struct {
        const char *glob, *name;
        bool matches;
    } rows[] = {
        {"attn.*", "attn.entropy", true},
        {"attn.*", "battn.entropy", false},
        {"*", "latency.ttft", true},
        {"*.ttft", "latency.ttft", true},
        {"latency.t?f?", "latency.ttft", true},
        {"latency", "latency.ttft", false},
        {"", "latency.ttft", false},
        {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert(metric_glob_matches(rows[i].glob, rows[i].name) == rows[i].matches, "%s on %s", rows[i].glob,
                  rows[i].name);
    cr_assert(metric_glob_known("intent.*"));
    cr_assert(not(metric_glob_known("intent.entites")));
    cr_assert(eq(str, (char *)metric_similar("intent.entites"), "intent.entities"));
}
