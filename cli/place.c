#include "cli/place.h"

#include "core/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum status place_check(const char *output, const char *input, struct error *err)
{
    struct stat a, b;

    if (strcmp(output, "-") == 0 || output[0] == '\0')
        return error_set(err, ERR_USAGE, "a run file needs a name: HDF5 cannot be written to standard output");
    if (file_is_dir(output))
        return error_set(err, ERR_USAGE, "'%s' is a folder: name a file in it", output);
    if (stat(output, &a) == 0 && !S_ISREG(a.st_mode))
        return error_set(err, ERR_USAGE, "'%s' is no regular file: a run file would take its place", output);
    if (input && stat(output, &a) == 0 && stat(input, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return error_set(err, ERR_USAGE, "-o '%s' is one of the inputs and would be lost: name another file", output);
    return OK;
}

enum status place_make(const char *output, struct error *err)
{
    const char *slash = strrchr(output, '/');
    enum status st;
    char *dir;

    if (!slash || slash == output)
        return OK;
    dir = strndup(output, (size_t)(slash - output));
    if (!dir)
        return error_set(err, ERR_MEMORY, "no memory for the name of a folder");
    st = dir_make(dir, err);
    free(dir);
    return st;
}
