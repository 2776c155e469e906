/* interrupt.h - Ctrl-C while requests are on their way: once to begin nothing more, twice to stop at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>

/* 0, 1 after a first SIGINT, 2 after a second one or after SIGTERM or SIGHUP. */
extern volatile sig_atomic_t interrupt_level;

/* Between the two calls, signals only raise the level. */
void interrupt_begin(void);
void interrupt_end(void);

#endif
