#include "core/gate/judgement.h"

#include <stdio.h>
#include <string.h>

void judgement_done(struct judgement *j)
{
    arena_done(&j->arena);
    memset(j, 0, sizeof *j);
}

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {"none", "pass", "improved", "changed", "inconclusive", "regressed"};

    return names[v];
}

void where_text(const struct where *w, char *text, size_t size)
{
    struct {
        const char *name;
        int64_t number;
    } parts[] = {{"turn", w->turn}, {"layer", w->layer}, {"head", w->head}};
    size_t i, used = 0;
    int n;

    if (!size)
        return;
    text[0] = '\0';
    if (w->task) {
        n = snprintf(text, size, "task '%s'", w->task);
        used = n < 0 ? 0 : (size_t)n;
    }
    for (i = 0; i < sizeof parts / sizeof *parts && used < size; i++) {
        if (parts[i].number < 0)
            continue;
        n = snprintf(text + used, size - used, "%s%s %lld", used ? ", " : "", parts[i].name,
                     (long long)parts[i].number);
        used += n < 0 ? 0 : (size_t)n;
    }
    if (!used)
        snprintf(text, size, "over all");
}
