#include "cli/opt_help.h"

#include <string.h>

#ifndef TARE_VERSION
#error "TARE_VERSION comes from the build"
#endif

/* Text for roff: hyphens that may be copied, no line that begins as a request, backslashes kept. */
static void roff(struct buf *out, const char *text)
{
    bool at_start = true;

    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            buf_puts(out, "\\&");
        at_start = *text == '\n';
        if (*text == '\\')
            buf_puts(out, "\\e");
        else if (*text == '-')
            buf_puts(out, "\\-");
        else
            buf_putc(out, *text);
    }
}

static void paragraphs(struct buf *out, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        struct buf one = {0};

        buf_append(&one, text, len);
        buf_puts(out, ".PP\n");
        roff(out, buf_text(&one));
        buf_putc(out, '\n');
        buf_done(&one);
        text += len + (text[len] == '\n');
    }
}

static void option(struct buf *out, const struct opt *opt)
{
    buf_puts(out, ".TP\n");
    if (opt->letter)
        buf_printf(out, "\\fB\\-%c\\fR, ", opt->letter);
    buf_puts(out, "\\fB\\-\\-");
    roff(out, opt->name);
    buf_puts(out, "\\fR");
    if (opt->value) {
        buf_puts(out, " \\fI");
        roff(out, opt->value);
        buf_printf(out, "\\fR%s", opt->takes_many ? "..." : "");
    }
    buf_putc(out, '\n');
    roff(out, opt->help);
    buf_putc(out, '\n');
}

static void command(struct buf *out, const struct command *c)
{
    size_t i;

    buf_printf(out, ".SS tare %s", c->name);
    buf_puts(out, c->n_options ? " [OPTIONS] " : " ");
    roff(out, c->operands);
    buf_putc(out, '\n');
    paragraphs(out, c->about);
    for (i = 0; i < c->n_options; i++)
        option(out, &c->options[i]);
    if (c->examples) {
        buf_puts(out, ".PP\nExamples:\n.PP\n.nf\n.RS\n");
        roff(out, c->examples);
        buf_puts(out, "\n.RE\n.fi\n");
    }
}

void help_man(struct buf *out)
{
    size_t n, i;
    const struct command *const *all = commands_all(&n);

    buf_printf(out, ".TH TARE 1 \"\" \"tare %s\" \"User Commands\"\n", TARE_VERSION);
    buf_puts(out,
             ".SH NAME\ntare \\- weighs a model or prompt release against the last accepted one\n"
             ".SH SYNOPSIS\n\\fBtare\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n"
             "tare reads recorded replies of a model and dumps of its attention for a fixed set of tasks, computes\n"
             "metrics that a plain APM cannot see, compares the run with an accepted one, and says whether anything\n"
             "drifted, where, and by how much. Data goes to standard output or to files, messages to standard error.\n"
             ".SH COMMANDS\n");
    for (i = 0; i < n; i++)
        command(out, all[i]);
    buf_puts(out, ".SH EXIT STATUS\n");
    for (i = 0; i < sizeof exit_meanings / sizeof *exit_meanings; i++)
        buf_printf(out, ".TP\n\\fB%d\\fR\n%s\n", exit_meanings[i].code, exit_meanings[i].means);
    buf_puts(out,
             ".SH FILES\n.TP\n\\fBtare.json\\fR\nDefaults for options that the command line leaves out; paths in\n"
             "it are relative to its folder.\n"
             ".SH ENVIRONMENT\n.TP\n\\fBSOURCE_DATE_EPOCH\\fR\nSeconds since 1970 that stand for the present time.\n"
             ".TP\n\\fBNO_COLOR\\fR\nWhen set and not empty, the terminal gets no colours.\n");
}
