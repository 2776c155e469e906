#include "core/client/tokens.h"
#include "tests/support/must.h"

Test(tokens, an_estimate_takes_four_bytes_of_ascii_for_one)
{
    cr_assert(eq(i64, tokens_estimate(""), 0));
    cr_assert(eq(i64, tokens_estimate("abcd"), 1));
    cr_assert(eq(i64, tokens_estimate("abcde"), 2));
    cr_assert(eq(i64, tokens_estimate("世界 ok"), 3));
}
