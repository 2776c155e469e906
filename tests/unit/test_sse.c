#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/sse.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* Every event as "name|id|data\n", with the time of its read where asked for. */
struct log {
    struct buf text;
    bool has_times;
};

static enum status write_event(void *ctx, const struct sse_event *e, struct error *err)
{
    struct log *log = ctx;

    (void)err;
    if (log->has_times)
        buf_printf(&log->text, "%lld:", (long long)e->t_ns);
    buf_printf(&log->text, "%s|%s|", e->name, e->id);
    buf_append(&log->text, e->data, e->len);
    buf_putc(&log->text, '\n');
    return OK;
}

static void parse(struct log *log, const char *bytes, size_t len, size_t split)
{
    AUTO(sse) s = {0};

    sse_init(&s, (struct sse_sink){.on_event = write_event, .ctx = log}, 0);
    cr_assert(eq(int, sse_feed(&s, (const unsigned char *)bytes, split, 1, NULL), OK));
    cr_assert(eq(int, sse_feed(&s, (const unsigned char *)bytes + split, len - split, 2, NULL), OK));
    cr_assert(eq(int, sse_end(&s, 3, NULL), OK));
}

struct one {
    const char *stream, *events;
};

static const struct one streams[] = {
    {"", ""},
    {"\n\n\r\n\r\r", ""},
    {"data: a\n\n", "||a\n"},
    {"data:a\n\n", "||a\n"},
    {"data:  a\n\n", "|| a\n"},
    {"data: a\r\n\r\n", "||a\n"},
    {"data: a\r\r", "||a\n"},
    {"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", "||a\n||b\n||c\n"},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "||a\n"},
    {"\xEF\xBB"
     "data: a\n\n",
     ""},
    {"data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     "||a\n"},
    {": ping - 2026\n\ndata: a\n\n:\n\n", "||a\n"},
    {"data: a\ndata: b\ndata\ndata:\n\n", "||a\nb\n\n\n"},
    {"event: error\ndata: a\n\ndata: b\n\n", "error||a\n||b\n"},
    {"event: x\n\ndata: b\n\n", "||b\n"},
    {"id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "|7|a\n|7|b\n||c\n"},
    {"retry: 100\nretry: x\nunknown: y\nDATA: z\n\n", ""},
    {"data: a", "||a\n"},
    {"data: a\n", "||a\n"},
    {"data: a\n\ndata: [DONE]", "||a\n||[DONE]\n"},
    {"data: \xE2\x80\xA8x\xC2\x85y\x0Bz\n\n", "||\xE2\x80\xA8x\xC2\x85y\x0Bz\n"}, /* U+2028, NEL, VT end no line */
    {"data: \xE4\xB8\xAD\n\n", "||\xE4\xB8\xAD\n"},
    {"data\n\n", "||\n"},
};

Test(sse, every_split_of_every_stream_gives_the_same_events)
{
    size_t i, split;

    for (i = 0; i < sizeof streams / sizeof *streams; i++) {
        for (split = 0; split <= strlen(streams[i].stream); split++) {
            struct log log = {0};

            parse(&log, streams[i].stream, strlen(streams[i].stream), split);
            cr_assert(eq(str, (char *)buf_text(&log.text), (char *)streams[i].events), "stream %zu split at %zu", i,
                      split);
            buf_done(&log.text);
        }
    }
}

Test(sse, an_event_has_the_time_of_the_read_that_completed_it)
{
    static const char bytes[] = "data: a\n\ndata: b\n\n";
    struct log log = {.has_times = true};

    parse(&log, bytes, strlen(bytes), 8); /* the blank line comes with the second read */
    cr_assert(eq(str, (char *)buf_text(&log.text), "2:||a\n2:||b\n"));
    buf_clear(&log.text);
    parse(&log, bytes, strlen(bytes), 9);
    cr_assert(eq(str, (char *)buf_text(&log.text), "1:||a\n2:||b\n"));
    buf_clear(&log.text);
    parse(&log, "data: a\r\n\r\n", 11, 10); /* the event is complete with the CR */
    cr_assert(eq(str, (char *)buf_text(&log.text), "1:||a\n"));
    buf_done(&log.text);
}

Test(sse, keeps_nul_bytes_of_data_and_drops_ids_that_have_one)
{
    static const char bytes[] = "id: a\0b\ndata: x\0y\n\n";
    struct log log = {0};

    parse(&log, bytes, sizeof bytes - 1, 3);
    cr_assert(eq(sz, log.text.len, 6));
    cr_assert(eq(int, memcmp(log.text.data, "||x\0y\n", 6), 0));
    buf_done(&log.text);
}

Test(sse, counts_comments_and_reads_retry)
{
    struct log log = {0};
    AUTO(sse) s = {0};

    sse_init(&s, (struct sse_sink){.on_event = write_event, .ctx = &log}, 0);
    cr_assert(eq(int, sse_feed(&s, (const unsigned char *)":\n: b\nretry: 250\nretry: 1x\n", 26, 1, NULL), OK));
    cr_assert(eq(u64, s.n_comments, 2));
    cr_assert(eq(i64, s.retry_ms, 250));
    buf_done(&log.text);
}

Test(sse, an_event_over_the_limit_is_refused)
{
    static const char *const streams_over[] = {"data: 123456789\n\n", "data: 1234\ndata: 5678\ndata: 9\n\n",
                                               "xxxxxxxxxxxxxxxxxx"};
    size_t i;

    for (i = 0; i < 3; i++) {
        struct log log = {0};
        struct error err = {0};
        AUTO(sse) s = {0};

        sse_init(&s, (struct sse_sink){.on_event = write_event, .ctx = &log}, i == 1 ? 10 : 12);
        cr_assert(
            eq(int, sse_feed(&s, (const unsigned char *)streams_over[i], strlen(streams_over[i]), 1, &err), ERR_LIMIT),
            "stream %zu", i);
        cr_assert(ne(ptr, strstr(err.message, "longer than"), NULL));
        buf_done(&log.text);
    }
}

static enum status refuse(void *ctx, const struct sse_event *e, struct error *err)
{
    (void)ctx;
    (void)e;
    return error_set(err, ERR_INTERNAL, "no");
}

Test(sse, a_failure_of_the_sink_stops_the_stream)
{
    AUTO(sse) s = {0};

    sse_init(&s, (struct sse_sink){.on_event = refuse}, 0);
    cr_assert(eq(int, sse_feed(&s, (const unsigned char *)"data: a\n\ndata: b\n\n", 18, 1, NULL), ERR_INTERNAL));
}

/* Random bytes from the alphabet that matters, in random reads, against the same bytes in one read. */
Test(sse, long_lines_end_where_short_ones_do)
{
    static const char *const ends[] = {"\n", "\r", "\r\n"};
    size_t len, e;

    for (len = 500; len < 1540; len++)
        for (e = 0; e < 3; e++) {
            struct log log = {0};
            AUTO(buf) bytes = {0};
            AUTO(buf) events = {0};
            size_t i;

            buf_puts(&bytes, "data:");
            buf_puts(&events, "||");
            for (i = 0; i < len; i++) {
                buf_putc(&bytes, 'x');
                buf_putc(&events, 'x');
            }
            buf_printf(&bytes, "%s%sdata:y%s%s", ends[e], ends[e], ends[(e + 1) % 3], ends[(e + 1) % 3]);
            buf_puts(&events, "\n||y\n");
            parse(&log, bytes.data, bytes.len, len % 2 ? 0 : len);
            cr_assert(eq(str, (char *)buf_text(&log.text), events.data), "length %zu, end %zu", len, e);
            buf_done(&log.text);
        }
}

Test(sse, random_streams_do_not_depend_on_the_reads)
{
    static const char alphabet[] = "\r\n\r\n::  data\xEF\xBB\xBFidevnt{}1\0";
    uint64_t round;

    for (round = 0; round < 3000; round++) {
        unsigned char bytes[96];
        struct log whole = {0}, parts = {0};
        AUTO(sse) s = {0};
        size_t at = 0, i;

        for (i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)alphabet[rng_at(7, round, i).word[0] % sizeof alphabet];
        if (round % 2)
            memcpy(bytes + round % 60, "data:", 5);
        parse(&whole, (const char *)bytes, sizeof bytes, 0);
        sse_init(&s, (struct sse_sink){.on_event = write_event, .ctx = &parts}, 0);
        while (at < sizeof bytes) {
            size_t n = 1 + rng_at(8, round, at).word[0] % 7;

            n = n < sizeof bytes - at ? n : sizeof bytes - at;
            cr_assert(eq(int, sse_feed(&s, bytes + at, n, 1, NULL), OK));
            at += n;
        }
        cr_assert(eq(int, sse_end(&s, 1, NULL), OK));
        cr_assert(eq(sz, parts.text.len, whole.text.len), "round %llu", (unsigned long long)round);
        cr_assert(eq(int, memcmp(buf_text(&parts.text), buf_text(&whole.text), whole.text.len), 0));
        buf_done(&whole.text);
        buf_done(&parts.text);
    }
}
