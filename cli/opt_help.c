#include "cli/opt_help.h"

#include "cli/exit.h"

#include <string.h>

enum { WIDTH = 80, NAME_COLUMN = 30 };

const struct exit_meaning exit_meanings[6] = {
    {EXIT_PASS, "pass, or done"},
    {EXIT_REGRESSION, "regression (gate only)"},
    {EXIT_USAGE, "wrong usage or configuration"},
    {EXIT_NO_VERDICT, "no verdict: not comparable, no baseline, partial run, nothing measured, or inconclusive where "
                      "the policy demands a decision"},
    {EXIT_SOURCE, "a source or file failed: endpoint, recording, dump, disk"},
    {EXIT_INTERNAL, "internal error"},
};

static void spaces(struct buf *out, size_t n)
{
    while (n--)
        buf_putc(out, ' ');
}

void help_wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
    while (*text) {
        size_t len = strcspn(text, " \n");

        if (column > indent && column + 1 + len > WIDTH) {
            buf_putc(out, '\n');
            spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            buf_putc(out, ' ');
            column++;
        }
        buf_append(out, text, len);
        column += len;
        text += len;
        if (*text == '\n') {
            buf_puts(out, "\n\n");
            spaces(out, indent);
            column = indent;
        }
        text += *text != '\0';
    }
    buf_putc(out, '\n');
}

static void two_columns(struct buf *out, const char *left, size_t left_len, const char *right, size_t column)
{
    buf_append(out, left, left_len);
    if (left_len + 2 > column) {
        buf_putc(out, '\n');
        left_len = 0;
    }
    spaces(out, column - left_len);
    help_wrapped(out, right, column, column);
}

static void option_line(struct buf *out, const struct opt *opt)
{
    struct buf left = {0};

    if (opt->letter)
        buf_printf(&left, "  -%c, --%s", opt->letter, opt->name);
    else
        buf_printf(&left, "      --%s", opt->name);
    if (opt->value)
        buf_printf(&left, " %s%s", opt->value, opt->takes_many ? "..." : "");
    two_columns(out, buf_text(&left), left.len, opt->help, NAME_COLUMN);
    buf_done(&left);
}

static void list_commands(struct buf *out)
{
    size_t n, i;
    const struct command *const *all = commands_all(&n);

    for (i = 0; i < n; i++) {
        struct buf left = {0};

        buf_printf(&left, "  %s", all[i]->name);
        two_columns(out, buf_text(&left), left.len, all[i]->brief, 13);
        buf_done(&left);
    }
}

void help_usage(struct buf *out)
{
    buf_puts(out, "usage: tare COMMAND [OPTIONS]\n\n");
    list_commands(out);
    buf_puts(out, "\n'tare help COMMAND' tells more; 'tare --version' says which tare this is.\n");
}

void help_overview(struct buf *out)
{
    size_t i;

    buf_puts(out, "tare weighs a model or prompt release against the last accepted one, before\nrollout.\n\n");
    help_usage(out);
    buf_puts(out, "\nexit codes:\n");
    for (i = 0; i < sizeof exit_meanings / sizeof *exit_meanings; i++) {
        buf_printf(out, "  %d  ", exit_meanings[i].code);
        help_wrapped(out, exit_meanings[i].means, 5, 5);
    }
    buf_puts(out, "\nData goes to standard output or to files, messages to standard error.\n"
                  "A tare.json in the folder gives defaults: see 'tare help init'.\n");
}

void help_command(const struct command *c, struct buf *out)
{
    size_t i;

    buf_printf(out, "usage: tare %s%s%s%s\n\n", c->name, c->n_options ? " [OPTIONS]" : "", c->operands[0] ? " " : "",
               c->operands);
    help_wrapped(out, c->about, 0, 0);
    if (c->n_options)
        buf_puts(out, "\noptions:\n");
    for (i = 0; i < c->n_options; i++)
        option_line(out, &c->options[i]);
    if (c->examples) {
        const char *line = c->examples;

        buf_puts(out, "\nexamples:\n");
        while (*line) {
            size_t len = strcspn(line, "\n");

            buf_printf(out, "  %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
}
