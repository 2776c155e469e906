#include "core/client/retry.h"

#include "core/base/num.h"
#include "core/base/rng.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#define FIRST_WAIT_NS ((int64_t)500000000)

/* A day: what is asked beyond it is a mistake, and safe to multiply. */
#define MAX_SECONDS 86400.0

static int64_t wait_of(const char *text, double unit_ns, int64_t wall_ns)
{
    double number;
    time_t date;

    if (num_double(text, &number)) {
        number *= unit_ns;
    } else {
        date = unit_ns < 1e9 ? -1 : curl_getdate(text, NULL);
        if (date < 0 || date > (time_t)1 << 40)
            return -1;
        number = (double)date * 1e9 - (double)wall_ns;
        number = number < 0 ? 0 : number;
    }
    if (number < 0)
        return -1;
    return (int64_t)(number < MAX_SECONDS * 1e9 ? number : MAX_SECONDS * 1e9);
}

int64_t retry_after(const char *line, size_t len, int64_t wall_ns, int64_t before)
{
    const char *colon = memchr(line, ':', len);
    char text[64] = "";
    size_t name, n;
    bool is_ms;
    int64_t wait;

    if (!colon)
        return before;
    name = (size_t)(colon - line);
    is_ms = name == 14 && strncasecmp(line, "retry-after-ms", 14) == 0;
    for (colon++; colon < line + len && (*colon == ' ' || *colon == '\t'); colon++)
        continue;
    n = (size_t)(line + len - colon);
    while (n && (colon[n - 1] == ' ' || colon[n - 1] == '\t'))
        n--;
    if (n == 0 || n >= sizeof text)
        return before;
    memcpy(text, colon, n);
    wait = wait_of(text, is_ms ? 1e6 : 1e9, wall_ns);
    return wait < 0 || (before >= 0 && !is_ms) ? before : wait;
}

bool retry_may_help(const struct transfer *t)
{
    static const int64_t states[] = {408, 425, 429, 500, 502, 503, 504, 529};
    size_t i;

    if (t->end == TRANSFER_UNREACHED)
        return true;
    if (t->end == TRANSFER_TIMED_OUT)
        return t->sent_ns == NS_UNKNOWN; /* the connection */
    for (i = 0; t->end == TRANSFER_WHOLE && i < sizeof states / sizeof *states; i++)
        if (t->status == states[i])
            return true;
    return false;
}

int64_t retry_wait(const struct transfer *t, size_t n, int64_t max_ns, uint64_t seed, uint64_t stream)
{
    int64_t wait = FIRST_WAIT_NS << (n < 20 ? n - 1 : 19);
    struct rng_block b = rng_at(seed, stream, n);
    int64_t half;

    if (wait > max_ns)
        wait = max_ns;
    half = wait / 2;
    wait = half + (int64_t)((double)half * ((double)b.word[0] / 4294967296.0));
    if (t->retry_after_ns >= 0) /* a little apart, so that not all come back at the same moment */
        wait = t->retry_after_ns + (int64_t)((double)b.word[0] / 4294967296.0 * 5e7);
    return wait < max_ns ? wait : max_ns;
}
