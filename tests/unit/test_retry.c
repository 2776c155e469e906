#include "core/client/retry.h"
#include "tests/support/must.h"

#include <string.h>

#define S  ((int64_t)1000000000)
#define MS ((int64_t)1000000)

static int64_t said(const char *line, int64_t before)
{
    /* 2015-10-21 07:28:00 UTC is 1445412480 */
    return retry_after(line, strlen(line), 1445412480 * S - 3 * S, before);
}

Test(retry, reads_what_servers_ask_for)
{
    static const struct {
        const char *line;
        int64_t before, want;
    } cases[] = {
        {"Retry-After: 2", -1, 2 * S},
        {"retry-after:0.5", -1, S / 2},
        {"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", -1, 3 * S},
        {"Retry-After: Wed, 21 Oct 2015 07:27:00 GMT", -1, 0},
        {"retry-after-ms: 1500", -1, 1500 * MS},
        {"retry-after-ms: 1500", 2 * S, 1500 * MS},
        {"Retry-After: 2", 1500 * MS, 1500 * MS},
        {"Retry-After: soon", -1, -1},
        {"Retry-After: -4", -1, -1},
        {"Retry-After:", -1, -1},
        {"Retry-After: 1e300", -1, 86400 * S},
        {"Retry-After: Wed, 21 Oct 2099 07:28:00 GMT", -1, 86400 * S},
        {"Retry-After", 7, 7},
        {"retry-after-ms: Wed, 21 Oct 2015 07:28:00 GMT", -1, -1},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert(eq(i64, said(cases[i].line, cases[i].before), cases[i].want), "%s", cases[i].line);
}

Test(retry, helps_where_the_server_is_away_or_busy_and_nothing_came)
{
    static const struct {
        enum transfer_end end;
        int64_t status, sent_ns;
        bool want;
    } cases[] = {
        {TRANSFER_UNREACHED, 0, NS_UNKNOWN, true},
        {TRANSFER_TIMED_OUT, 0, NS_UNKNOWN, true},
        {TRANSFER_TIMED_OUT, 0, 5, false},
        {TRANSFER_WHOLE, 429, 5, true},
        {TRANSFER_WHOLE, 503, 5, true},
        {TRANSFER_WHOLE, 400, 5, false},
        {TRANSFER_WHOLE, 200, 5, false},
        {TRANSFER_CUT, 200, 5, false},
        {TRANSFER_CUT, 503, 5, false},
        {TRANSFER_REFUSED, 0, NS_UNKNOWN, false},
        {TRANSFER_STOPPED, 0, 5, false},
        {TRANSFER_TOO_LONG, 200, 5, false},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transfer t = {.end = cases[i].end, .status = cases[i].status, .sent_ns = cases[i].sent_ns};

        cr_assert(retry_may_help(&t) == cases[i].want, "case %zu", i);
    }
}

Test(retry, waits_longer_each_time_within_bounds_and_differs_by_task)
{
    struct transfer t = {.retry_after_ns = -1};
    size_t n;

    for (n = 1; n <= 100; n++) {
        int64_t full = n < 8 ? S / 2 << (n - 1) : 60 * S, wait = retry_wait(&t, n, 60 * S, 1, 2);

        if (full > 60 * S)
            full = 60 * S;
        cr_assert(wait >= full / 2 && wait <= full, "attempt %zu: %lld", n, (long long)wait);
        cr_assert(eq(i64, wait, retry_wait(&t, n, 60 * S, 1, 2)));
    }
    cr_assert(retry_wait(&t, 1, 60 * S, 1, 2) != retry_wait(&t, 1, 60 * S, 1, 3));
}

Test(retry, does_what_the_server_asks_up_to_the_limit)
{
    struct transfer t = {.retry_after_ns = 2 * S};
    int64_t wait = retry_wait(&t, 1, 60 * S, 1, 2);

    cr_assert(wait >= 2 * S && wait <= 2 * S + 50 * MS);
    t.retry_after_ns = 3600 * S;
    cr_assert(eq(i64, retry_wait(&t, 1, 60 * S, 1, 2), 60 * S));
}
