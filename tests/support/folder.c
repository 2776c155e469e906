#include "tests/support/folder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[64];

void folder_make(void)
{
    snprintf(folder, sizeof folder, "/tmp/tare-test-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

void folder_drop(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert(system(command) == 0);
}

const char *folder_path(void)
{
    return folder;
}

const char *folder_file(const char *name)
{
    static char path[8][256];
    static int turn;

    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

size_t folder_count(void)
{
    DIR *d = opendir(folder);
    size_t n = 0;

    cr_assert(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* "." and ".." */
}
