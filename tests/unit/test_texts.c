#include "core/io/texts.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <string.h>

Test(texts, knows_utf8)
{
    static const char *const good[] = {"", "abc", "\xc3\xa9", "\xe4\xbd\xa0\xe5\xa5\xbd", "\xf0\x9f\x98\x80"};
    static const char *const bad[] = {"\xff",     "\xc3",
                                      "\xc0\x80", "\xed\xa0\x80", /* a surrogate */
                                      "\xe4\xbd", "\xf4\x90\x80\x80",
                                      "a\x80"};
    size_t i;

    for (i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(texts_is_utf8(good[i], strlen(good[i])));
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(texts_is_utf8(bad[i], strlen(bad[i]))), "case %zu", i);
}

Test(texts, finds_the_first_that_repeats)
{
    char *none[] = {"b", "a", "c"};
    char *some[] = {"b", "a", "c", "a", "b"};
    size_t at = 0;

    cr_assert(texts_find_repeated(none, 3, &at, NULL) == 0);
    cr_assert(at == SIZE_MAX);
    cr_assert(texts_find_repeated(some, 5, &at, NULL) == 0);
    cr_assert(eq(sz, at, 3));
    cr_assert(texts_find_repeated(NULL, 0, &at, NULL) == 0);
    cr_assert(at == SIZE_MAX);
}
