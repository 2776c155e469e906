/* builtin.h - the policies that ship, inside the program, so that they are there wherever it runs. */
#ifndef CLI_BUILTIN_H
#define CLI_BUILTIN_H

#include "core/base/error.h"
#include "core/gate/policy.h"

#include <stdbool.h>

/* A policy file of baselines/, by name: "default" is policy_default.json. */
struct builtin {
    const char *name;
    const unsigned char *text; /* [len] */
    unsigned long len;
};
extern const struct builtin builtins[]; /* written by the build; ends in a NULL name */

bool builtin_has_policy(const char *name);

/* ERR_USAGE when there is none of that name. */
MUST_CHECK enum status builtin_policy(struct policy *ret, const char *name, struct error *err);

#endif
