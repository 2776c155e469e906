#include "core/base/num.h"
#include "core/base/scope.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

Test(num, takes_whole_strings_only)
{
    static const char *const bad[] = {"", "-", "+1", " 1", "1 ", "1x", "0x10", "18446744073709551616", "١"};
    uint64_t u = 7;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(num_u64(bad[i], &u)), "'%s' was taken", bad[i]);
    cr_assert(eq(u64, u, 7), "a failure leaves the output alone");
    cr_assert(num_u64("18446744073709551615", &u));
    cr_assert(eq(u64, u, UINT64_MAX));
}

Test(num, reads_the_ends_of_int64)
{
    int64_t i;

    cr_assert(num_i64("-9223372036854775808", &i));
    cr_assert(eq(i64, i, INT64_MIN));
    cr_assert(num_i64("9223372036854775807", &i));
    cr_assert(eq(i64, i, INT64_MAX));
    cr_assert(not(num_i64("9223372036854775808", &i)));
    cr_assert(not(num_i64("-9223372036854775809", &i)));
}

Test(num, refuses_what_is_no_finite_decimal)
{
    static const char *const bad[] = {"", "nan", "inf", "0x1p3", "1e999", "1,5", "1.2.3", "e5"};
    double d = 1;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(num_double(bad[i], &d)), "'%s' was taken", bad[i]);
    cr_assert(num_double("-1.5e-3", &d));
    cr_assert(d == -1.5e-3);
}

Test(num, shortest_text_reads_back_as_the_same_number)
{
    static const double values[] = {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -0.0};
    size_t i;

    for (i = 0; i < sizeof values / sizeof *values; i++) {
        AUTO(buf) b = {0};
        double back = 0;

        num_append(&b, values[i]);
        cr_assert(num_double(buf_text(&b), &back));
        cr_assert(back == values[i] && !signbit(back) == !signbit(values[i]), "%s", buf_text(&b));
    }
}

Test(num, what_is_no_number_has_a_name)
{
    AUTO(buf) b = {0};

    num_append17(&b, NAN);
    buf_putc(&b, ' ');
    num_append(&b, -INFINITY);
    cr_assert(eq(str, (char *)buf_text(&b), "nan -inf"));
}
