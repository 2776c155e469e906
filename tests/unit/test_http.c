#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/http.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static enum status keep(void *ctx, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    (void)t_ns;
    (void)err;
    buf_append(ctx, bytes, len);
    return OK;
}

struct one {
    const char *bytes;
    int64_t status;
    const char *body;
    bool is_whole, is_bad;
};

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct one replies[] = {
    {"", 0, "", false, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 200, "hell", false, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 500", 200, "hello", true, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", true, false},
    {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok", true, false},
    {"\r\nHTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true, false},
    {"HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end", false, false},
    {"HTTP/2 200\r\ncontent-type: text/plain\r\n\r\nx", 200, "x", false, false},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: "
     "1\r\n\r\nn",
     404, "n", true, false},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", true, false},
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", 200, "hello", true, false},
    {CHUNKED "5\r\nhello\r\n0\r\n", 200, "hello", false, false},
    {CHUNKED "5\r\nhel", 200, "hel", false, false},
    {CHUNKED "5\r\nhello\r\n", 200, "hello", false, false},
    {CHUNKED "A;name=value;x=\"y\"\r\n0123456789\r\n1 \r\nx\r\n0;last\r\nTrailer: a\r\nOther: b\r\n\r\n", 200,
     "0123456789x", true, false},
    {CHUNKED "00000000000000000001\r\nx\r\n000\r\n\r\nrest", 200, "x", true, false},
    {CHUNKED "5\nhello\n0\n\n", 200, "hello", true, false},
    {CHUNKED "0\r\n\r\n", 200, "", true, false},
    {CHUNKED "xyz\r\n", 200, "", false, true},
    {CHUNKED "\r\n", 200, "", false, true},
    {CHUNKED "FFFFFFFFFFFFFFFFFF\r\nx", 200, "", false, true},
    {CHUNKED "2\r\nhello\r\n", 200, "he", false, true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 99\r\n\r\n1\r\nx\r\n0\r\n\r\n", 200, "x",
     true, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", 200, "", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok", 200, "", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", 200, "", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok", 200, "", false, true},
    {"<html>502</html>\r\n\r\n", 0, "", false, true},
    {"HTTP/1.1 2xx OK\r\n\r\n", 0, "", false, true},
    {"HTTP/1.1 2000 OK\r\n\r\n", 0, "", false, true},
};

Test(http, every_split_of_every_reply_gives_the_same_body)
{
    size_t i, split;

    for (i = 0; i < sizeof replies / sizeof *replies; i++) {
        const struct one *r = &replies[i];
        size_t len = strlen(r->bytes);

        for (split = 0; split <= len; split++) {
            struct buf body = {0};
            AUTO(http) h = {0};

            http_init(&h, (struct http_sink){.on_body = keep, .ctx = &body});
            cr_assert(eq(int, http_feed(&h, (const unsigned char *)r->bytes, split, 1, NULL), OK));
            cr_assert(eq(int, http_feed(&h, (const unsigned char *)r->bytes + split, len - split, 2, NULL), OK));
            cr_assert(eq(str, (char *)buf_text(&body), (char *)r->body), "reply %zu split at %zu", i, split);
            cr_assert(eq(i64, h.status, r->status), "reply %zu", i);
            cr_assert(eq(int, http_is_whole(&h), r->is_whole), "reply %zu split at %zu", i, split);
            cr_assert(eq(int, h.is_bad, r->is_bad), "reply %zu: %s", i, h.is_bad ? h.why : "good");
            buf_done(&body);
        }
    }
}

Test(http, finds_headers_by_lower_case_name)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type:  text/event-stream; charset=utf-8 \r\nX-Two: a\r\n"
                               "X-Folded: one\r\n  two\r\nX-Two: b\r\nNo colon\r\nEmpty:\r\n\r\n";
    struct buf body = {0};
    AUTO(http) h = {0};

    http_init(&h, (struct http_sink){.on_body = keep, .ctx = &body});
    cr_assert(eq(int, http_feed(&h, (const unsigned char *)head, sizeof head - 1, 1, NULL), OK));
    cr_assert(eq(str, (char *)http_header(&h, "content-type"), "text/event-stream; charset=utf-8"));
    cr_assert(eq(str, (char *)http_header(&h, "x-two"), "a"));
    cr_assert(eq(str, (char *)http_header(&h, "x-folded"), "one  two"));
    cr_assert(eq(str, (char *)http_header(&h, "empty"), ""));
    cr_assert(eq(ptr, (void *)http_header(&h, "text/event-stream"), NULL));
}

Test(http, a_bare_body_passes_with_its_headers_beside_it)
{
    struct buf body = {0};
    AUTO(http) h = {0};

    cr_assert(eq(int,
                 http_init_body(&h, (struct http_sink){.on_body = keep, .ctx = &body}, 200,
                                "Content-Type: application/json\nX-A: b", NULL),
                 OK));
    cr_assert(eq(int, http_feed(&h, (const unsigned char *)"HTTP/1.1 500 no\r\n\r\n", 19, 1, NULL), OK));
    cr_assert(eq(sz, body.len, 19));
    cr_assert(eq(i64, h.status, 200));
    cr_assert(eq(str, (char *)http_header(&h, "content-type"), "application/json"));
    cr_assert(eq(str, (char *)http_header(&h, "x-a"), "b"));
    buf_done(&body);
}

Test(http, an_endless_head_is_bad_and_not_kept)
{
    struct buf body = {0};
    AUTO(http) h = {0};
    unsigned char line[4096];
    int i;

    memset(line, 'a', sizeof line);
    http_init(&h, (struct http_sink){.on_body = keep, .ctx = &body});
    for (i = 0; i < 100; i++)
        cr_assert(eq(int, http_feed(&h, line, sizeof line, 1, NULL), OK));
    cr_assert(h.is_bad);
    cr_assert(eq(i64, h.status, 0));
}

Test(http, random_damage_never_breaks_the_decoder)
{
    static const char good[] = CHUNKED "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n";
    uint64_t round;

    for (round = 0; round < 5000; round++) {
        unsigned char bytes[sizeof good];
        struct buf body = {0};
        AUTO(http) h = {0};
        size_t len = sizeof good - 1, at = 0;
        int i;

        memcpy(bytes, good, sizeof good);
        for (i = 0; i < 3; i++)
            bytes[rng_at(1, round, (uint64_t)i).word[0] % len] = (unsigned char)rng_at(1, round, (uint64_t)i).word[1];
        http_init(&h, (struct http_sink){.on_body = keep, .ctx = &body});
        while (at < len) {
            size_t n = 1 + rng_at(2, round, at).word[0] % 9;

            n = n < len - at ? n : len - at;
            cr_assert(eq(int, http_feed(&h, bytes + at, n, 1, NULL), OK));
            at += n;
        }
        cr_assert(le(sz, body.len, len));
        buf_done(&body);
    }
}
