#include "cli/cmd.h"

#include "core/base/similar.h"

#include <string.h>

/* The one list of commands, in the order of the help. */
#define COMMANDS(C)                                                                                                    \
    C(run) C(diff) C(gate) C(report) C(merge) C(inspect) C(baseline) C(calibrate) C(explain) C(doctor) C(init) C(help)

#define DECLARE(name) extern const struct command cmd_##name;
#define ADDRESS(name) &cmd_##name,

COMMANDS(DECLARE)

static const struct command *const table[] = {COMMANDS(ADDRESS)};

enum { N_COMMANDS = sizeof table / sizeof *table };

const struct command *const *commands_all(size_t *ret_n)
{
    *ret_n = N_COMMANDS;
    return table;
}

const struct command *command_find(const char *name)
{
    size_t i;

    for (i = 0; i < N_COMMANDS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

const char *command_similar(const char *name)
{
    const char *names[N_COMMANDS];
    size_t i;

    for (i = 0; i < N_COMMANDS; i++)
        names[i] = table[i]->name;
    return similar_find(name, names, N_COMMANDS);
}

void call_done(struct call *c)
{
    opts_done(&c->opts);
    project_done(&c->project);
    buf_done(&c->out);
}
