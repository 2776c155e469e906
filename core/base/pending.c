#include "core/base/pending.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More at a time than any command opens; what comes on top is written all the same, only no signal removes it. */
enum { MAX_PENDING = 16 };

static const char *volatile names[MAX_PENDING];

/* No signal may come between the file's change of state and the list's. */
static void hold_signals(sigset_t *ret_before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, ret_before);
}

static void release_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Puts `now` where `was` stands. */
static void replace(const char *was, const char *now)
{
    size_t i;

    for (i = 0; i < MAX_PENDING; i++)
        if (names[i] == was) {
            names[i] = now;
            return;
        }
}

int pending_create(char *name)
{
    sigset_t before;
    int fd;

    hold_signals(&before);
    fd = mkstemp(name);
    if (fd >= 0)
        replace(NULL, name);
    release_signals(&before);
    return fd;
}

int pending_rename(const char *name, const char *to)
{
    sigset_t before;
    int failed;

    hold_signals(&before);
    failed = rename(name, to);
    if (!failed)
        replace(name, NULL);
    release_signals(&before);
    return failed;
}

int pending_unlink(const char *name)
{
    sigset_t before;
    int failed;

    hold_signals(&before);
    failed = unlink(name);
    replace(name, NULL);
    release_signals(&before);
    return failed;
}

void pending_unlink_all(void)
{
    size_t i;

    for (i = 0; i < MAX_PENDING; i++)
        if (names[i])
            unlink(names[i]);
}
