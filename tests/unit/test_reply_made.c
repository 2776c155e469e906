#include "core/base/scope.h"
#include "core/client/reply.h"
#include "tests/support/stream.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define MS         ((int64_t)1000000)
#define HEAD(type) "HTTP/1.1 200 OK\r\nContent-Type: " type "\r\nTransfer-Encoding: chunked\r\n\r\n"

static void read_stream(struct reply *r, const struct stream *s)
{
    struct error err = {0};

    cr_assert(eq(int, reply_read(r, &s->exchange, s->events, (const unsigned char *)buf_text(&s->bytes), &err), OK),
              "%s", err.message);
}

/* A made-up stream: bodies of reads at 1 ms, 2 ms, …, without a head unless the first begins with HTTP. */
struct made {
    const char *title;
    const char *reads[8];
    enum reply_state state;
    const char *text, *error;
    int first_ms, visible_ms, last_ms; /* 0: never */
    int n_chunks, completion;
};

#define D(members) "data: {\"choices\":[{\"delta\":{" members "}}]}\n\n"
#define FINISH     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE       "data: [DONE]\n\n"
#define A          D("\"content\":\"a\"")

static const struct made mades[] = {
    {"role chunks are no first token",
     {D("\"role\":\"assistant\",\"content\":\"\""), A, A FINISH DONE},
     REPLY_OK,
     "aa",
     "",
     2,
     2,
     3,
     2,
     2},
    {"reasoning starts the clock", {D("\"reasoning_content\":\"hm\""), A, FINISH}, REPLY_OK, "a", "", 1, 2, 2, 2, 2},
    {"tool calls alone are content",
     {D("\"tool_calls\":[{\"index\":0,\"id\":\"c\"}]"), FINISH},
     REPLY_OK,
     "",
     "",
     1,
     0,
     1,
     1,
     1},
    {"a usage chunk does not move the last token",
     {A, FINISH, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5}}\n\n", DONE},
     REPLY_OK,
     "a",
     "",
     1,
     1,
     1,
     1,
     5},
    {"usage of no tokens beside text is not believed",
     {A, FINISH, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":0}}\n\n"},
     REPLY_OK,
     "a",
     "",
     1,
     1,
     1,
     1,
     1},
    {"continuous usage: the last counts",
     {"data: "
      "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
      "data: "
      "{\"choices\":[{\"delta\":{\"content\":\"b\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
      FINISH},
     REPLY_OK,
     "ab",
     "",
     1,
     1,
     2,
     2,
     4},
    {"an error after tokens",
     {A, "data: {\"error\":{\"message\":\"engine died\",\"code\":500}}\n\n", DONE},
     REPLY_ERROR,
     "a",
     "engine died",
     1,
     1,
     1,
     1,
     1},
    {"an error by the event's name",
     {A, "event: error\ndata: {\"code\":5}\n\n"},
     REPLY_ERROR,
     "a",
     "{\"code\":5}",
     1,
     1,
     1,
     1,
     1},
    {"an error in plain words",
     {A, "event: error\ndata: out of memory\n\n"},
     REPLY_ERROR,
     "a",
     "out of memory",
     1,
     1,
     1,
     1,
     1},
    {"a finish reason that says error",
     {A, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n"},
     REPLY_ERROR,
     "a",
     "",
     1,
     1,
     1,
     1,
     1},
    {"[DONE] proves nothing", {A, DONE}, REPLY_BROKEN, "a", "", 1, 1, 1, 1, 1},
    {"an end without finish reason", {A, ""}, REPLY_BROKEN, "a", "", 1, 1, 1, 1, 1},
    {"only [DONE]", {DONE}, REPLY_EMPTY, "", "", 0, 0, 0, 0, -1},
    {"an empty stream that ended", {": ping\n\n", ""}, REPLY_EMPTY, "", "", 0, 0, 0, 0, -1},
    {"a stream that never ended", {": ping\n\n"}, REPLY_BROKEN, "", "", 0, 0, 0, 0, -1},
    {"finish reason without content", {FINISH, DONE}, REPLY_EMPTY, "", "", 0, 0, 0, 0, -1},
    {"a damaged event", {A, "data: {\"choices\":[{\"del\n\n", A, FINISH}, REPLY_BROKEN, "aa", "", 1, 1, 3, 2, 2},
    {"keep-alives that are no JSON",
     {"event: ping\ndata: ping\n\n", A, "data: \n\n" FINISH},
     REPLY_OK,
     "a",
     "",
     2,
     2,
     2,
     1,
     1},
    {"one event over three reads",
     {"data: {\"choices\":[{\"delta\":", "{\"content\":\"\xE4\xB8", "\xAD\"}}]}\n\n", FINISH},
     REPLY_OK,
     "中",
     "",
     3,
     3,
     3,
     1,
     1},
    {"two objects in one event",
     {"data: {\"choices\":[{\"text\":\"a\"}]}{\"choices\":[{\"text\":\"b\",\"finish_reason\":\"stop\"}]}"},
     REPLY_OK,
     "ab",
     "",
     1,
     1,
     1,
     2,
     2},
    {"a half character at the end",
     {D("\"content\":\"a\\ud83d\""), FINISH},
     REPLY_OK,
     "a\xEF\xBF\xBD",
     "",
     1,
     1,
     1,
     1,
     1},
    {"a JSON reply instead of a stream",
     {"{\"choices\":[{\"message\":{\"content\":\"hi\"},", "\"finish_reason\":\"stop\"}]}", ""},
     REPLY_OK,
     "hi",
     "",
     2,
     2,
     2,
     1,
     -1},
    {"a JSON error with status 200", {"{\"error\":{\"message\":\"no\"}}", ""}, REPLY_ERROR, "", "no", 0, 0, 0, 0, -1},
    {"a page with status 200", {"<html>login</html>", ""}, REPLY_ERROR, "", "<html>login</html>", 0, 0, 0, 0, -1},
    {"half a JSON reply", {"{\"choices\":[{\"message\":{\"cont", ""}, REPLY_BROKEN, "", "", 0, 0, 0, 0, -1},
    {"chunked, cut before the last chunk",
     {HEAD("text/event-stream") "1\r\n\n\r\n", "2f\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\r\n",
      ""},
     REPLY_BROKEN,
     "a",
     "",
     2,
     2,
     2,
     1,
     1},
    {"bad framing",
     {HEAD("text/event-stream") "zz\r\n"},
     REPLY_BROKEN,
     "",
     "a chunk size is not hexadecimal",
     0,
     0,
     0,
     0,
     -1},
    {"no HTTP at all",
     {"HTTP\r\n\r\n"},
     REPLY_HTTP_ERROR,
     "",
     "the reply does not begin with an HTTP status line",
     0,
     0,
     0,
     0,
     -1},
    {"a gateway's page",
     {"HTTP/1.1 502 Bad Gateway\r\n\r\n<h1>502</h1>", ""},
     REPLY_HTTP_ERROR,
     "",
     "<h1>502</h1>",
     0,
     0,
     0,
     0,
     -1},
    {"a whole reply after a byte order mark",
     {"HTTP/1.1 200 OK\r\nContent-Length: 67\r\n\r\n\xEF\xBB\xBF"
      "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}"},
     REPLY_OK,
     "a",
     "",
     1,
     1,
     1,
     1,
     -1},
    {"a redirect",
     {"HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n\r\n"},
     REPLY_HTTP_ERROR,
     "",
     "",
     0,
     0,
     0,
     0,
     -1},
    {"HTTP/1.0 until close",
     {"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" A, FINISH, ""},
     REPLY_OK,
     "a",
     "",
     1,
     1,
     1,
     1,
     1},
    {"a compressed body",
     {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"},
     REPLY_BROKEN,
     "",
     "the body is compressed ('gzip'): record it without Accept-Encoding",
     0,
     0,
     0,
     0,
     -1},
};

static void make(struct stream *s, const struct made *m)
{
    int i;

    stream_init(s);
    s->exchange.has_http_head = strncmp(m->reads[0], "HTTP", 4) == 0;
    s->exchange.status = s->exchange.has_http_head ? 0 : 200;
    for (i = 0; i < 8 && m->reads[i]; i++)
        stream_add(s, (i + 1) * MS, m->reads[i], strlen(m->reads[i]));
}

static int64_t at_ms(int ms)
{
    return ms ? ms * MS : NS_UNKNOWN;
}

Test(reply_made, judges_made_up_replies)
{
    size_t i;

    for (i = 0; i < sizeof mades / sizeof *mades; i++) {
        const struct made *m = &mades[i];
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        make(&s, m);
        read_stream(&r, &s);
        cr_assert(eq(int, r.state, m->state), "%s: %s", m->title, reply_state_name(r.state));
        cr_assert(eq(str, (char *)buf_text(&r.text), (char *)m->text), "%s", m->title);
        cr_assert(eq(str, (char *)buf_text(&r.error), (char *)m->error), "%s", m->title);
        cr_assert(eq(i64, r.first_content_ns, at_ms(m->first_ms)), "%s", m->title);
        cr_assert(eq(i64, r.first_visible_ns, at_ms(m->visible_ms)), "%s", m->title);
        cr_assert(eq(i64, r.last_content_ns, at_ms(m->last_ms)), "%s", m->title);
        cr_assert(eq(int, (int)r.n_content_chunks, m->n_chunks), "%s", m->title);
        cr_assert(eq(i64, r.completion_tokens, m->completion), "%s", m->title);
    }
}

Test(reply_made, no_event_at_all_is_an_http_error)
{
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};

    stream_init(&s);
    read_stream(&r, &s);
    cr_assert(eq(int, r.state, REPLY_HTTP_ERROR));
    cr_assert(eq(i64, r.first_content_ns, NS_UNKNOWN));
}

Test(reply_made, a_bare_body_shorter_than_its_content_length_is_broken)
{
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};

    make(&s, &mades[0]);
    s.exchange.headers = "Content-Length: 9999";
    read_stream(&r, &s);
    cr_assert(eq(int, r.state, REPLY_BROKEN));
}

Test(reply_made, error_words_are_cut_at_500_bytes)
{
    static char body[2000] = "HTTP/1.1 500 Oops\r\n\r\n";
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};
    size_t n = strlen(body);

    memset(body + n, 'x', sizeof body - 1 - n);
    stream_init(&s);
    stream_add(&s, 1, body, strlen(body));
    read_stream(&r, &s);
    cr_assert(eq(sz, r.error.len, 500));
}

Test(reply_made, tells_a_fault_in_one_line)
{
    static const struct {
        const char *reply, *want;
    } cases[] = {
        {"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nbusy\nnow\n", "HTTP status 503: busy now "},
        {"HTTP/1.1 304 Not Modified\r\n\r\n", "HTTP status 304: no words with it"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP status 200: an empty answer: no text, no finish reason"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"id\": 1",
         "HTTP status 200: the answer holds JSON that cannot be read"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};
        AUTO(buf) words = {0};

        stream_init(&s);
        s.exchange.has_http_head = true;
        s.exchange.status = 0;
        stream_add(&s, MS, cases[i].reply, strlen(cases[i].reply));
        read_stream(&r, &s);
        reply_put_fault(&words, &r);
        cr_assert(eq(str, words.data, (char *)cases[i].want));
    }
}
