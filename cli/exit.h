/* exit.h - the exit codes of the contract. */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include "core/base/error.h"

enum {
    EXIT_PASS = 0,
    EXIT_REGRESSION = 1, /* gate only                                              */
    EXIT_USAGE = 2,      /* usage or configuration                                 */
    EXIT_NO_VERDICT = 3, /* not comparable, no baseline, partial, nothing measured */
    EXIT_SOURCE = 4,     /* a source or file failed                                */
    EXIT_INTERNAL = 5
};

static inline int exit_from_status(enum status st)
{
    switch (st) {
    case OK:
        return EXIT_PASS;
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_NO_VERDICT:
        return EXIT_NO_VERDICT;
    case ERR_INTERNAL:
        return EXIT_INTERNAL;
    default:
        return EXIT_SOURCE;
    }
}

#endif
