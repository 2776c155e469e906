#include "cli/cmd.h"
#include "cli/opt_help.h"

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "man", .kind = OPT_FLAG, .help = "the manual page, as roff"},
    {.name = "completion", .kind = OPT_FLAG, .help = "completion for bash: source <(tare help --completion)"},
};

static enum status run(struct call *c, struct error *err)
{
    const char *name = c->opts.n_words ? c->opts.words[0] : NULL;
    const struct command *command = name ? command_find(name) : NULL;
    const char *near = name ? command_similar(name) : NULL;

    if (opts_flag(&c->opts, "man"))
        help_man(&c->out);
    else if (opts_flag(&c->opts, "completion"))
        help_completion(&c->out);
    else if (command)
        help_command(command, &c->out);
    else if (near)
        return error_set(err, ERR_USAGE, "no command '%s', did you mean '%s'?", name, near);
    else if (name)
        return error_set(err, ERR_USAGE, "no command '%s': 'tare help' lists them", name);
    else
        help_overview(&c->out);
    return OK;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_words = 1,
    .brief = "help on a command",
    .about = "Shows all commands, or the options and examples of one.",
    .examples = "tare help gate",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
