/* message.h - what the program says to people: errors, warnings and progress, all on standard error. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "core/base/error.h"

#include <stdbool.h>

/* "tare: message", the context, and a line that helps on; foreign text cannot steer the terminal. `command` may be
 * NULL. */
void message_error(const struct error *err, const char *command);

/* "tare: warning: …" */
void message_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* One line of what was done; nothing with --quiet. */
void message_say(const char *fmt, ...) PRINTF_LIKE(1, 2);
void message_quiet(bool is_quiet);

/* One status line that the next message wipes out; only on a terminal. */
void message_progress(const char *fmt, ...) PRINTF_LIKE(1, 2);
void message_progress_end(void);

#endif
