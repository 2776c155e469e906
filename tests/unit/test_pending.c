#include "core/base/pending.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/tare-pending-XXXXXX";
static char first[64], second[64], target[64];

static void make_names(void)
{
    cr_assert(ne(ptr, mkdtemp(dir), NULL));
    snprintf(first, sizeof first, "%s/a.tmp-XXXXXX", dir);
    snprintf(second, sizeof second, "%s/b.tmp-XXXXXX", dir);
    snprintf(target, sizeof target, "%s/a", dir);
}

static void remove_dir(void)
{
    unlink(target);
    unlink(first);
    unlink(second);
    rmdir(dir);
}

TestSuite(pending, .init = make_names, .fini = remove_dir);

static int is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void on_signal(int number)
{
    pending_unlink_all();
    signal(number, SIG_DFL);
    raise(number);
}

Test(pending, a_signal_removes_what_is_pending_and_leaves_what_was_renamed)
{
    int state = 0;
    pid_t child;

    close(pending_create(first));
    close(pending_create(second));
    child = fork();
    if (child == 0) {
        signal(SIGTERM, on_signal);
        if (pending_rename(first, target) == 0)
            raise(SIGTERM);
        _exit(1);
    }
    cr_assert(eq(int, (int)waitpid(child, &state, 0), (int)child));
    cr_assert(eq(int, WIFSIGNALED(state) ? WTERMSIG(state) : 0, SIGTERM));
    cr_assert(eq(int, is_there(target), 1));
    cr_assert(eq(int, is_there(second), 0));
}

Test(pending, a_name_that_was_unlinked_is_forgotten)
{
    FILE *other;

    close(pending_create(first));
    cr_assert(eq(int, pending_unlink(first), 0));
    other = fopen(first, "w");
    cr_assert(ne(ptr, other, NULL));
    fclose(other);
    pending_unlink_all();
    cr_assert(eq(int, is_there(first), 1));
}

Test(pending, a_file_that_cannot_be_renamed_stays_pending)
{
    char nowhere[128];

    snprintf(nowhere, sizeof nowhere, "%s/no/such/folder", dir);
    close(pending_create(first));
    cr_assert(eq(int, pending_rename(first, nowhere), -1));
    pending_unlink_all();
    cr_assert(eq(int, is_there(first), 0));
}

Test(pending, more_files_than_the_list_holds_are_created_all_the_same)
{
    char names[40][64];
    size_t i;

    for (i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu-XXXXXX", dir, i);
        close(pending_create(names[i]));
        cr_assert(eq(int, is_there(names[i]), 1));
    }
    for (i = 0; i < 40; i++)
        cr_assert(eq(int, pending_unlink(names[i]), 0));
}
