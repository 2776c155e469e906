#include "core/client/lag.h"
#include "core/client/transfer.h"
#include "tests/support/must.h"

#include <string.h>

Test(transfer, knows_content_at_a_glance)
{
    static const struct {
        const char *bytes;
        bool want;
    } cases[] = {
        {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", true},
        {"data: {\"choices\": [{\"delta\": {\"content\" : \"a\"}}]}", true},
        {"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}", false},
        {"data: {\"choices\":[{\"delta\":{\"content\":null}}]}", false},
        {"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}", false},
        {"data: {\"choices\":[{\"text\":\"\"}]}\n\ndata: {\"choices\":[{\"text\":\"x\"}]}", true},
        {"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}", true},
        {": ping - 2026\n\n", false},
        {"\"content\"", false},
        {"\"content\":", false},
        {"\"content\": \"", false},
        {"", false},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert(transfer_has_content(cases[i].bytes, strlen(cases[i].bytes)) == cases[i].want, "%s", cases[i].bytes);
}

Test(lag, quantiles_are_upper_bounds_within_an_eighth)
{
    static struct lag l;
    int64_t i;

    cr_assert(eq(i64, lag_quantile(&l, 0.5), 0));
    for (i = 1; i <= 100000; i++)
        lag_add(&l, i);
    lag_add(&l, -5);
    /* the buckets are 1/8 octave wide: at most 1/8 above the value */
    cr_assert(lag_quantile(&l, 0.5) >= 50000 && lag_quantile(&l, 0.5) <= 56250);
    cr_assert(lag_quantile(&l, 0.99) >= 99000 && lag_quantile(&l, 0.99) <= 100000);
    cr_assert(eq(i64, lag_quantile(&l, 1), 100000));
    cr_assert(eq(i64, l.max_ns, 100000));
    lag_add(&l, INT64_MAX);
    cr_assert(eq(i64, lag_quantile(&l, 1), INT64_MAX));
}
