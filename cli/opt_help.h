/* opt_help.h - the commands' tables as text: usage, help, man page, completion. */
#ifndef CLI_OPT_HELP_H
#define CLI_OPT_HELP_H

#include "cli/cmd.h"
#include "core/base/buf.h"

/* What an exit code means; the same words in help, man page and README. */
struct exit_meaning {
    int code;
    const char *means;
};
extern const struct exit_meaning exit_meanings[6];

void help_usage(struct buf *out);    /* a few lines, for a call without arguments */
void help_overview(struct buf *out); /* tare --help */
void help_command(const struct command *c, struct buf *out);

/* Text broken at spaces so that lines fit 80 columns; the cursor stands at `column`, further lines begin at `indent`.
 * A newline in it ends a paragraph. */
void help_wrapped(struct buf *out, const char *text, size_t column, size_t indent);

void help_man(struct buf *out);        /* roff, opt_man.c           */
void help_completion(struct buf *out); /* bash, opt_complete.c      */

#endif
