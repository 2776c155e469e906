#include "cli/builtin.h"

#include <string.h>

static const struct builtin *find(const char *name)
{
    const struct builtin *b = builtins;

    while (b->name && strcmp(b->name, name) != 0)
        b++;
    return b->name ? b : NULL;
}

bool builtin_has_policy(const char *name)
{
    return find(name) != NULL;
}

enum status builtin_policy(struct policy *ret, const char *name, struct error *err)
{
    const struct builtin *b = find(name);

    if (!b)
        return error_set(err, ERR_USAGE, "no policy '%s' ships with tare: name a file", name);
    return policy_parse(ret, name, (const char *)b->text, b->len, err);
}
