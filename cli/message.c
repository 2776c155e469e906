#include "cli/message.h"

#include "core/base/scope.h"
#include "reports/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool quiet;
static bool has_status; /* a status line stands on the terminal */

static void wipe(void)
{
    if (has_status)
        fputs("\r\033[K", stderr);
    has_status = false;
}

/* Nobody is left to tell when standard error itself fails. */
static void say(const char *head, const char *text, const char *tail)
{
    AUTO(buf) safe = {0};

    escape_terminal(&safe, text);
    wipe();
    fprintf(stderr, "%s%s%s", head, buf_text(&safe), tail);
}

static void say_hint(enum status code, const char *command)
{
    if (code == ERR_USAGE && command)
        fprintf(stderr, "  see: tare %s --help\n", command);
    else if (code == ERR_USAGE)
        fputs("  see: tare --help\n", stderr);
    else if (code == ERR_DEVICE)
        fputs("  try: --device cpu, which computes the same\n", stderr);
    else if (code == ERR_MEMORY)
        fputs("  try: a smaller --memory, or a machine with more\n", stderr);
    else if (code == ERR_INTERNAL)
        fputs("  this is a mistake in tare: please report it with the command line and 'tare --version'\n", stderr);
}

void message_error(const struct error *err, const char *command)
{
    say("tare: ", err->message, "\n");
    if (err->context[0])
        say("  in: ", err->context, "\n");
    say_hint(err->code, command);
}

void message_warn(const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    say("tare: warning: ", text, "\n");
}

void message_say(const char *fmt, ...)
{
    char text[1024];
    va_list args;

    if (quiet)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    say("", text, "\n");
}

void message_quiet(bool is_quiet)
{
    quiet = is_quiet;
}

void message_progress(const char *fmt, ...)
{
    char text[200];
    va_list args;

    if (quiet || !isatty(STDERR_FILENO))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    say("", text, "");
    fflush(stderr);
    has_status = true;
}

void message_progress_end(void)
{
    wipe();
}
