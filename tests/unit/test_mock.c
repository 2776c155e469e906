/* What the mock server sends, read by the client's own parser: both are tested by the other. */
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/reply.h"
#include "tests/support/endpoint.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define CHAT "/v1/chat/completions"

struct want {
    const char *spec;
    enum reply_state state;
    int n_chunks;
    int64_t completion; /* tokens */
    const char *finish;
};

static const struct want wants[] = {
    {"n=5", REPLY_OK, 5, 5, "stop"},
    {"n=5 usage=last", REPLY_OK, 5, 5, "stop"},
    {"n=5 usage=finish nulls=yes", REPLY_OK, 5, 5, "stop"},
    {"n=6 k=3 usage=each", REPLY_OK, 2, 6, "stop"},
    {"n=6 k=3 usage=none", REPLY_OK, 2, 2, "stop"},
    {"n=4 reason=3 usage=last", REPLY_OK, 7, 7, "stop"},
    {"n=4 reason=3 reason_key=reasoning", REPLY_OK, 7, 7, "stop"},
    {"n=2 tools=4", REPLY_OK, 6, 6, "tool_calls"},
    {"n=3 eol=crlf", REPLY_OK, 3, 3, "stop"},
    {"n=3 eol=cr", REPLY_OK, 3, 3, "stop"},
    {"n=9 eol=mixed", REPLY_OK, 9, 9, "stop"},
    {"n=3 lines=4", REPLY_OK, 3, 3, "stop"},
    {"n=3 lines=3 eol=crlf space=no", REPLY_OK, 3, 3, "stop"},
    {"n=3 done=no", REPLY_OK, 3, 3, "stop"},
    {"n=3 final_newline=no", REPLY_OK, 3, 3, "stop"},
    {"n=3 done=no final_newline=no", REPLY_OK, 3, 3, "stop"},
    {"n=3 done=no final_newline=no eol=crlf", REPLY_OK, 3, 3, "stop"},
    {"n=3 role=none", REPLY_OK, 3, 3, "stop"},
    {"n=3 role=null", REPLY_OK, 3, 3, "stop"},
    {"n=3 role=bare head_ms=1 role_ms=2 first_ms=4 ping_ms=1", REPLY_OK, 3, 3, "stop"},
    {"n=16 text=utf8 split=7 split_us=1", REPLY_OK, 16, 16, "stop"},
    {"n=3 finish=content_filter", REPLY_OK, 3, 3, "content_filter"},
    {"n=3 finish=none", REPLY_BROKEN, 3, 3, ""},
    {"n=0", REPLY_EMPTY, 0, -1, "stop"},
    {"n=3 do=two", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=big size=100000", REPLY_OK, 4, 4, "stop"},
    {"n=3 do=bad_utf8", REPLY_OK, 4, 4, "stop"},
    {"n=3 do=half", REPLY_OK, 5, 5, "stop"},
    {"n=3 do=trailers", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=http10", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=json", REPLY_OK, 1, 3, "stop"},
    {"n=3 do=wrong_type", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=loris_body split_us=1", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=loris split_us=1", REPLY_OK, 3, 3, "stop"},
    {"n=3 do=redirect_once", REPLY_HTTP_ERROR, 0, -1, ""},
    {"n=3 do=error after=2", REPLY_ERROR, 2, 2, ""},
    {"n=3 do=error_event after=2", REPLY_ERROR, 2, 2, ""},
    {"n=3 do=error_flat after=1", REPLY_ERROR, 1, 1, ""},
    {"n=3 do=end after=2", REPLY_BROKEN, 2, 2, ""},
    {"n=3 do=done_only", REPLY_EMPTY, 0, -1, ""},
    {"n=3 do=drop after=2", REPLY_BROKEN, 2, 2, ""},
    {"n=3 do=cut after=2", REPLY_BROKEN, 2, 2, ""},
    {"n=3 do=stall after=2", REPLY_BROKEN, 2, 2, ""},
    {"n=3 do=bad_json", REPLY_BROKEN, 3, 3, "stop"},
    {"n=3 do=empty", REPLY_EMPTY, 0, -1, ""},
    {"n=3 do=gzip", REPLY_BROKEN, 0, -1, ""},
    {"n=3 do=length", REPLY_BROKEN, 1, 3, "stop"},
    {"n=3 do=garbage", REPLY_HTTP_ERROR, 0, -1, ""},
    {"n=3 do=hangup", REPLY_HTTP_ERROR, 0, -1, ""},
    {"n=3 do=reset", REPLY_HTTP_ERROR, 0, -1, ""},
    {"status=500 body=html", REPLY_HTTP_ERROR, 0, -1, ""},
    {"status=429 retry_after=3 body=flat", REPLY_HTTP_ERROR, 0, -1, ""},
    {"status=200 body=html", REPLY_ERROR, 0, -1, ""},
    {"status=200 body=nothing", REPLY_EMPTY, 0, -1, ""},
    {"status=400 body=too_long", REPLY_HTTP_ERROR, 0, -1, ""},
};

static void read_reply(struct reply *r, const struct stream *s)
{
    cr_assert(eq(int, reply_read(r, &s->exchange, s->events, (const unsigned char *)s->bytes.data, NULL), OK));
}

/* The same bytes in other reads. */
static void split(struct stream *to, const struct stream *from, uint64_t seed)
{
    size_t at = 0;

    stream_init(to);
    while (at < from->bytes.len) {
        size_t n = 1 + rng_at(seed, 1, at).word[0] % 23;

        n = n < from->bytes.len - at ? n : from->bytes.len - at;
        stream_add(to, (int64_t)at, from->bytes.data + at, n);
        at += n;
    }
    if (from->exchange.n_events && from->events[from->exchange.n_events - 1].len == 0)
        stream_add(to, (int64_t)at, "", 0);
}

static void check_splits(const struct stream *whole, const struct reply *want, const char *title)
{
    uint64_t seed;

    for (seed = 0; seed < 20; seed++) {
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        split(&s, whole, seed);
        read_reply(&r, &s);
        cr_assert(eq(int, r.state, want->state), "%s", title);
        cr_assert(eq(str, (char *)buf_text(&r.text), (char *)buf_text(&want->text)), "%s", title);
        cr_assert(eq(str, (char *)buf_text(&r.error), (char *)buf_text(&want->error)), "%s", title);
        cr_assert(eq(u64, r.n_content_chunks, want->n_content_chunks), "%s", title);
        cr_assert(eq(i64, r.completion_tokens, want->completion_tokens), "%s", title);
        cr_assert(eq(i64, r.prompt_tokens, want->prompt_tokens), "%s", title);
    }
}

Test(mock, every_behaviour_is_read_as_what_it_is_however_it_is_split, .timeout = 120)
{
    struct endpoint e;
    size_t i;

    endpoint_start(&e, NULL);
    for (i = 0; i < sizeof wants / sizeof *wants; i++) {
        const struct want *w = &wants[i];
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        endpoint_ask(&e, CHAT, w->spec, "which \\\"lamp\\\" is on?", &s);
        read_reply(&r, &s);
        cr_assert(eq(int, r.state, w->state), "%s: %s", w->spec, reply_state_name(r.state));
        cr_assert(eq(int, (int)r.n_content_chunks, w->n_chunks), "%s", w->spec);
        cr_assert(eq(i64, r.completion_tokens, w->completion), "%s", w->spec);
        cr_assert(eq(str, (char *)buf_text(&r.finish_reason), (char *)w->finish), "%s", w->spec);
        check_splits(&s, &r, w->spec);
    }
    endpoint_stop(&e);
    cr_assert(eq(u64, mock_n_requests(e.mock), sizeof wants / sizeof *wants));
    endpoint_done(&e);
}

Test(mock, the_schedule_is_absolute_and_tokens_are_never_early)
{
    struct endpoint e;
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};

    endpoint_start(&e, NULL);
    endpoint_ask(&e, CHAT, "n=11 first_ms=20 gap_ms=5", "hi", &s);
    endpoint_stop(&e);
    endpoint_done(&e);
    read_reply(&r, &s);
    cr_assert(ge(i64, r.first_content_ns - r.sent_ns, 19000000)); /* its clock starts when it has read the request */
    cr_assert(ge(i64, r.last_content_ns - r.first_content_ns, 45000000));
}

Test(mock, prompts_that_are_dropped_get_the_same_reply_and_others_do_not)
{
    static const struct {
        const char *spec;
        bool is_same;
    } cases[] = {{"n=12 text=varied", false}, {"n=12 text=same", true}};
    struct endpoint e;
    size_t i;

    endpoint_start(&e, NULL);
    for (i = 0; i < 2; i++) {
        AUTO(stream) a = {0}, b = {0};
        AUTO(reply) one = {0}, two = {0};

        endpoint_ask(&e, CHAT, cases[i].spec, "first prompt", &a);
        endpoint_ask(&e, CHAT, cases[i].spec, "second prompt", &b);
        read_reply(&one, &a);
        read_reply(&two, &b);
        cr_assert(eq(int, strcmp(buf_text(&one.text), buf_text(&two.text)) == 0, cases[i].is_same));
    }
    endpoint_stop(&e);
    endpoint_done(&e);
}

Test(mock, a_script_says_what_each_request_gets_and_the_request_has_the_last_word)
{
    struct mock_opts opts = {.script = "status=503\nn=2\n\n", .spec = "n=4"};
    const struct {
        const char *spec;
        int64_t status, completion;
    } cases[] = {{"", 503, -1}, {"", 200, 2}, {"", 200, 4}, {"n=3", 200, 3}};
    struct endpoint e;
    size_t i;

    endpoint_start(&e, &opts);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        endpoint_ask(&e, CHAT, cases[i].spec, "hi", &s);
        read_reply(&r, &s);
        cr_assert(eq(i64, r.status, cases[i].status), "request %zu", i);
        cr_assert(eq(i64, r.completion_tokens, cases[i].completion), "request %zu", i);
    }
    endpoint_stop(&e);
    endpoint_done(&e);
}

Test(mock, a_word_that_it_does_not_know_is_refused)
{
    struct mock_opts opts = {.spec = "n=3 do=sing"};
    struct mock *m = NULL;
    struct error err = {0};

    cr_assert(eq(int, mock_new(&m, &opts, &err), ERR_FORMAT));
    cr_assert(ne(ptr, strstr(err.message, "'do=sing'"), NULL));
}
