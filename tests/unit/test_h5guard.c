#include "core/io/h5guard.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void well(const char *path)
{
    (void)path;
}

static void killed(const char *path)
{
    (void)path;
    raise(SIGKILL);
}

static void ends(const char *path)
{
    (void)path;
    _exit(1);
}

static void loops(const char *path)
{
    (void)path;
    for (;;) {
        static volatile int turns;

        turns = turns + 1;
    }
}

Test(h5guard, an_attempt_that_returns_is_fine)
{
    struct error err = {0};

    cr_assert(h5guard_try("x.h5", well, &err) == OK);
}

Test(h5guard, one_that_does_not_is_the_fault_of_the_file)
{
    static void (*const attempts[])(const char *) = {killed, ends, loops};
    size_t i;

    for (i = 0; i < 3; i++) {
        struct error err = {0};

        cr_assert(h5guard_try("x.h5", attempts[i], &err) == ERR_FORMAT);
        cr_assert(strstr(err.message, "'x.h5'") != NULL && strstr(err.message, "damaged") != NULL, "%s", err.message);
    }
}
