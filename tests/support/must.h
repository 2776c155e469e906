/* must.h - a call that has to succeed, with its message when it does not. Needs a `struct error err` in scope. */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        enum status must_st = (call);                                                                                  \
        cr_assert(must_st == OK, "%s: %s", #call, err.message);                                                        \
    } while (0)

#endif
