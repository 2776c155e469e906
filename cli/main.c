/* main.c - finds the command in the table, runs it, prints the error, returns the exit code. */
#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/message.h"
#include "cli/opt_help.h"
#include "cli/version.h"
#include "core/base/file.h"
#include "core/base/pending.h"
#include "core/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A standard stream that is closed would hand its number to the next file that is opened. A placeholder that can be
 * neither read nor written keeps the number, so that writing to it fails as it should. */
static bool hold_standard_streams(void)
{
    int fd;

    for (fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
            return false;
    return true;
}

/* What is half written goes; then the signal does what it does to a program that knows nothing of it, so that the
 * shell sees why it ended. */
static void on_end_signal(int number)
{
    static const char text[] = "tare: interrupted: nothing more is written\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

    (void)ignored;
    pending_unlink_all();
    signal(number, SIG_DFL);
    raise(number); /* comes when the handler returns: the signal is blocked until then */
}

/* A journal is read out of mapped pages: a page that is gone means that somebody cut the file short meanwhile. */
static void on_lost_page(int number)
{
    static const char text[] = "tare: an input file became shorter while it was read: leave it alone, and run again\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

    (void)ignored;
    (void)number;
    pending_unlink_all();
    _exit(EXIT_SOURCE);
}

static void watch_end_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction ours = {.sa_handler = on_end_signal}, lost = {.sa_handler = on_lost_page}, before;
    size_t i;

    sigfillset(&ours.sa_mask);
    lost.sa_mask = ours.sa_mask;
    sigaction(SIGBUS, &lost, NULL);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &ours, NULL);
}

static enum status find_command(const char *name, const struct command **ret, struct error *err)
{
    const char *near = command_similar(name);

    *ret = command_find(name);
    if (*ret)
        return OK;
    if (name[0] == '-')
        return error_set(err, ERR_USAGE, "unknown option '%s' before a command", name);
    if (near)
        return error_set(err, ERR_USAGE, "unknown command '%s', did you mean '%s'?", name, near);
    return error_set(err, ERR_USAGE, "unknown command '%s'", name);
}

static enum status check_words(const struct call *c, struct error *err)
{
    const struct command *cmd = c->command;

    if (c->opts.n_words < cmd->min_words)
        return error_set(err, ERR_USAGE, "%s needs %s", cmd->name, cmd->operands);
    if (c->opts.n_words > cmd->max_words)
        return error_set(err, ERR_USAGE, "%s: unexpected word '%s'", cmd->name, c->opts.words[cmd->max_words]);
    return OK;
}

static bool has_option(const struct command *cmd, const char *name)
{
    size_t i;

    for (i = 0; i < cmd->n_options; i++)
        if (strcmp(cmd->options[i].name, name) == 0)
            return true;
    return false;
}

static enum status run_command(struct call *c, char **argv, struct error *err)
{
    const struct command *cmd = c->command;

    TRY(opts_parse(&c->opts, cmd->options, cmd->n_options, argv, err));
    if (opts_flag(&c->opts, "help")) {
        help_command(cmd, &c->out);
        return OK;
    }
    TRY(check_words(c, err));
    if (!has_option(cmd, "project"))
        return cmd->run(c, err);
    TRY(project_read(&c->project, opts_text(&c->opts, "project", NULL), err));
    TRY(project_apply(&c->project, &c->opts, err));
    return cmd->run(c, err);
}

static enum status dispatch(struct call *c, char **argv, struct error *err)
{
    const char *name = argv[0];

    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        version_text(&c->out);
        return OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    TRY(find_command(name, &c->command, err));
    return run_command(c, argv + 1, err);
}

/* Exit code of the whole; a reader that has gone away needs no message. */
static int finish(struct call *c, enum status st, struct error *err)
{
    if (st == OK)
        st = buf_check(&c->out, err);
    if (st == OK && c->out.len) {
        st = file_write("-", c->out.data, c->out.len, err);
        if (st != OK && errno == EPIPE)
            return EXIT_SOURCE;
    }
    if (st == OK)
        return c->exit_code;
    message_error(err, c->command ? c->command->name : NULL);
    return exit_from_status(st);
}

int main(int argc, char **argv)
{
    AUTO(call) call = {0};
    struct error err = {0};

    if (!hold_standard_streams())
        return EXIT_SOURCE;
    signal(SIGPIPE, SIG_IGN); /* a reader that went away, a file that grew too large: writing fails and is reported */
    signal(SIGXFSZ, SIG_IGN);
    watch_end_signals();
    if (argc < 2) {
        AUTO(buf) usage = {0};

        help_usage(&usage);
        fputs(buf_text(&usage), stderr);
        return EXIT_USAGE;
    }
    return finish(&call, dispatch(&call, argv + 1, &err), &err);
}
