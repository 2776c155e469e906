#include "core/base/buf.h"
#include "core/base/scope.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(buf, grows_and_stays_terminated)
{
    AUTO(buf) b = {0};
    struct error err = {0};
    int i;

    cr_assert(eq(str, (char *)buf_text(&b), ""));
    for (i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i % 10);
    cr_assert(eq(sz, b.len, 2000));
    cr_assert(eq(int, b.data[2000], 0));
    cr_assert(eq(int, buf_check(&b, &err), OK));
}

Test(buf, says_that_the_limit_was_passed)
{
    AUTO(buf) b = {.limit = 10};
    struct error err = {0};

    buf_puts(&b, "12345");
    buf_puts(&b, "1234567");
    buf_puts(&b, "x");
    cr_assert(eq(str, b.data, "12345"), "nothing goes in after a failure");
    cr_assert(eq(int, buf_check(&b, &err), ERR_LIMIT));
    buf_clear(&b);
    buf_puts(&b, "1234567890");
    cr_assert(eq(int, buf_check(&b, &err), OK), "exactly the limit fits");
}
