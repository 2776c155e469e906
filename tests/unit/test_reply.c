#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/reply.h"
#include "tests/support/stream.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_stream(struct reply *r, const struct stream *s)
{
    struct error err = {0};

    cr_assert(eq(int, reply_read(r, &s->exchange, s->events, (const unsigned char *)buf_text(&s->bytes), &err), OK),
              "%s", err.message);
}

struct recorded {
    const char *name;
    enum reply_state state;
    const char *finish;
    int64_t first_us, last_us;
    int n_chunks, status;
    int64_t prompt, completion;
    enum token_source from;
    int is_stream, done, clean;
};

/* Times and counts as read off the recordings: t_us of the first and last event with text. */
static const struct recorded recordings[] = {
    {"plain-completion", REPLY_OK, "length", 138201, 3253012, 64, 200, -1, 64, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"plain-utf8", REPLY_OK, "length", 0, 0, 64, 200, -1, 64, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"fact-capital-t1", REPLY_OK, "length", 0, 0, 64, 200, -1, 64, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"fs-utf8", REPLY_OK, "stop", 275182, 275182, 1, 200, -1, 1, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"fs-capital", REPLY_OK, "stop", 0, 0, 1, 200, -1, 1, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"fs-json", REPLY_OK, "stop", 0, 0, 0, 200, -1, -2, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"queued-ping", REPLY_OK, "length", 22752898, 22892134, 4, 200, -1, 4, TOKENS_FROM_CHUNKS, 1, 1, 1},
    {"interrupted", REPLY_BROKEN, "", 116764, 1389339, 27, 200, -1, 27, TOKENS_FROM_CHUNKS, 1, 1, 0},
    {"err-toolong", REPLY_EMPTY, "", -1, -1, 0, 200, -1, -1, TOKENS_UNKNOWN, 1, 0, 1},
    {"err-route", REPLY_HTTP_ERROR, "", -1, -1, 0, 404, -1, -1, TOKENS_UNKNOWN, 0, 0, 1},
    {"nostream-chat", REPLY_OK, "length", 1704937, 1704937, 1, 200, 14, 24, TOKENS_FROM_STREAM, 0, 0, 1},
    {"nostream-completion", REPLY_OK, "length", 1392759, 1392759, 1, 200, 6, 24, TOKENS_FROM_STREAM, 0, 0, 1},
};

static void check_times(const struct recorded *w, const struct reply *r)
{
    if (w->first_us < 0) {
        cr_assert(eq(i64, r->first_content_ns, NS_UNKNOWN), "%s", w->name);
        cr_assert(eq(i64, r->last_content_ns, NS_UNKNOWN), "%s", w->name);
    } else if (w->first_us > 0) {
        cr_assert(eq(i64, r->first_content_ns, w->first_us * 1000), "%s", w->name);
        cr_assert(eq(i64, r->last_content_ns, w->last_us * 1000), "%s", w->name);
        cr_assert(eq(i64, r->first_visible_ns, w->first_us * 1000), "%s", w->name);
    }
}

Test(reply, reads_recorded_replies_of_a_real_server)
{
    size_t i;

    for (i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        const struct recorded *w = &recordings[i];
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};
        char file[64], *text;

        stream_load(&s, w->name);
        read_stream(&r, &s);
        snprintf(file, sizeof file, "%s.txt", w->name);
        text = stream_text(file);
        cr_assert(eq(str, (char *)buf_text(&r.text), text), "%s", w->name);
        free(text);
        cr_assert(eq(int, r.state, w->state), "%s", w->name);
        cr_assert(eq(str, (char *)buf_text(&r.finish_reason), (char *)w->finish), "%s", w->name);
        cr_assert(eq(i64, r.status, w->status), "%s", w->name);
        cr_assert(eq(i64, r.prompt_tokens, w->prompt), "%s", w->name);
        if (w->completion >= -1) {
            cr_assert(eq(i64, r.completion_tokens, w->completion), "%s", w->name);
            cr_assert(eq(int, (int)r.n_content_chunks, w->n_chunks), "%s", w->name);
        }
        cr_assert(eq(int, r.completion_tokens_from, w->from), "%s", w->name);
        cr_assert(eq(int, r.is_stream, w->is_stream), "%s", w->name);
        cr_assert(eq(int, r.done_seen, w->done), "%s", w->name);
        cr_assert(eq(int, r.is_clean_end, w->clean), "%s", w->name);
        check_times(w, &r);
    }
}

Test(reply, names_the_model_and_the_servers_words)
{
    AUTO(stream) s = {0};
    AUTO(stream) e = {0};
    AUTO(reply) r = {0};
    AUTO(reply) q = {0};

    stream_load(&s, "plain-completion");
    read_stream(&r, &s);
    cr_assert(eq(str, (char *)buf_text(&r.model), "gemma-3-270m"));
    cr_assert(eq(sz, r.n_arrivals, 64));
    stream_load(&e, "err-route");
    read_stream(&q, &e);
    cr_assert(eq(str, (char *)buf_text(&q.error), "Not Found"));
}

Test(reply, counts_of_a_plain_request_come_before_chunks_and_after_usage)
{
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};
    AUTO(reply) q = {0};
    AUTO(stream) n = {0};

    stream_load(&s, "plain-completion");
    s.exchange.prompt_tokens = 5;
    s.exchange.completion_tokens = 63;
    read_stream(&r, &s);
    cr_assert(eq(i64, r.prompt_tokens, 5));
    cr_assert(eq(i64, r.completion_tokens, 63));
    cr_assert(eq(int, r.prompt_tokens_from, TOKENS_FROM_PLAIN));
    cr_assert(eq(int, r.completion_tokens_from, TOKENS_FROM_PLAIN));
    stream_load(&n, "nostream-chat");
    n.exchange.prompt_tokens = n.exchange.completion_tokens = 99;
    read_stream(&q, &n);
    cr_assert(eq(i64, q.prompt_tokens, 14));
    cr_assert(eq(int, q.prompt_tokens_from, TOKENS_FROM_STREAM));
}

struct refusal {
    int status;
    const char *words;
    int is_for_length;
};

static const struct refusal refusals[] = {
    {400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 1},
    {500, "Requested tokens (2020) exceed context window of 512", 1},
    {422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", 1},
    {400, "the request exceeds the available context size, try increasing it", 1},
    {400, "prompt is too long: 210000 tokens > 200000 maximum", 1},
    {400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 1},
    {413, "<html>Request Entity Too Large</html>", 1},
    {429, "Rate limit: input tokens exceeded", 0},
    {400, "Rate limit exceeded: tokens per minute", 0},
    {400, "max_tokens is too large: 5000. This model supports at most 4096 completion tokens", 0},
    {500, "maximum recursion depth exceeded", 0},
    {500, "upstream deadline exceeded while reading the prompt", 0},
    {400, "temperature must be at most 2", 0},
    {404, "maximum context length", 0},
    {400, "", 0},
};

Test(reply, knows_a_refusal_for_length_by_the_servers_words)
{
    size_t i;

    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};
        AUTO(buf) bytes = {0};

        buf_printf(&bytes, "HTTP/1.1 %d X\r\n\r\n%s%s\"}}", refusals[i].status, "{\"error\":{\"message\":\"",
                   refusals[i].words);
        stream_init(&s);
        stream_add(&s, 1, bytes.data, bytes.len);
        stream_add(&s, 1, "", 0);
        read_stream(&r, &s);
        cr_assert(eq(int, r.state, REPLY_HTTP_ERROR));
        cr_assert(eq(int, r.is_context_overflow, refusals[i].is_for_length), "%s", refusals[i].words);
    }
}

/* The recording's bytes in other reads give the same text and state; damaged ones give some state and no crash. */
Test(reply, does_not_depend_on_the_reads_and_survives_damage)
{
    AUTO(stream) s = {0};
    AUTO(reply) whole = {0};
    uint64_t round;

    stream_load(&s, "fs-json");
    read_stream(&whole, &s);
    for (round = 0; round < 300; round++) {
        AUTO(stream) t = {0};
        AUTO(reply) r = {0};
        size_t at = 0;

        stream_init(&t);
        while (at < s.bytes.len) {
            size_t n = 1 + rng_at(11, round, at).word[0] % (round % 2 ? 7 : 400);

            n = n < s.bytes.len - at ? n : s.bytes.len - at;
            stream_add(&t, (int64_t)at, s.bytes.data + at, n);
            at += n;
        }
        stream_add(&t, (int64_t)at, "", 0);
        if (round < 100) {
            read_stream(&r, &t);
            cr_assert(eq(str, (char *)buf_text(&r.text), (char *)buf_text(&whole.text)));
            cr_assert(eq(int, r.state, REPLY_OK));
            continue;
        }
        for (at = 0; at < 3; at++) {
            struct rng_block b = rng_at(12, round, at);

            t.bytes.data[b.word[0] % t.bytes.len] = (char)b.word[1];
        }
        read_stream(&r, &t);
    }
}
