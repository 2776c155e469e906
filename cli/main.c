#include "cli/exit.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("tare 0.1.0");
        return EXIT_PASS;
    }
    fputs("tare: only --version is known yet\n", stderr);
    return EXIT_USAGE;
}
