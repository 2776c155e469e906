/* The metrics of time, against NumPy on recorded streams and against hand-made ones. */
#include "core/base/scope.h"
#include "core/metrics/goals.h"
#include "core/metrics/registry.h"
#include "tests/support/close.h"
#include "tests/support/stream.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS ((int64_t)1000000)

/* Times are whole microseconds below 1e7 ms, and NumPy's interpolation takes a handful of operations. */
static const struct tol few_ulp = {.abs = 0, .rel = 16 * 2.2e-16};

static double value_of(const char *name, const struct reply *r)
{
    const struct metric *m = metric_find(name);
    struct reply_view view = {.reply = r};

    cr_assert(ne(ptr, (void *)m, NULL), "%s", name);
    return m->of_reply(&view);
}

static void read_reply(struct reply *r, const struct stream *s)
{
    cr_assert(eq(int, reply_read(r, &s->exchange, s->events, (const unsigned char *)buf_text(&s->bytes), NULL), OK));
}

struct recorded {
    const char *name;
    int64_t tokens; /* as a plain request of the same text counts them */
    double ttfb, ttft, e2e, gap, gap_p99, tpot, per_s;
};

/* python3 with numpy: arrivals of the reads that completed an event with text, numpy.diff, numpy.percentile(…, 50 |
 * 99); e2e is the arrival of [DONE]. */
static const struct recorded recordings[] = {
    {"fact-capital-t1", 64, 0.027, 232.08, 3372.365, 49.495, 67.89962000000003, 49.81471428571429, 18.97777968873476},
    {"plain-completion", 64, 3.025, 138.201, 3254.33, 51.097, 55.046240000000004, 49.44144444444445,
     19.666106387489897},
    {"plain-utf8", 64, 4.164, 82.724, 3290.971, 52.125, 55.03588, 50.891888888888886, 19.4471479693987},
    {"fs-json", 15, 2.153, 888.763, 1595.573, 47.1735, 53.56714, 47.26242857142857, 9.401011423482348},
};

Test(latency, equals_numpy_on_recorded_streams)
{
    size_t i;

    for (i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        const struct recorded *w = &recordings[i];
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        stream_load(&s, w->name);
        s.exchange.completion_tokens = w->tokens;
        read_reply(&r, &s);
        cr_assert(close_to(value_of("latency.ttfb", &r), w->ttfb, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.ttft", &r), w->ttft, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.ttfo", &r), w->ttft, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.e2e", &r), w->e2e, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.gap", &r), w->gap, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.gap_p99", &r), w->gap_p99, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.itl", &r), w->gap, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.itl_p99", &r), w->gap_p99, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("latency.tpot", &r), w->tpot, few_ulp), "%s", w->name);
        cr_assert(close_to(value_of("throughput.request", &r), w->per_s, few_ulp), "%s", w->name);
        cr_assert(isnan(value_of("latency.ttft_scheduled", &r)));
    }
}

#define HEAD       "data: {\"choices\":[{\"index\":0,\"delta\":{"
#define TEXT(t)    HEAD "\"content\":\"" t "\"}}]}\n\n"
#define THINK(t)   HEAD "\"reasoning_content\":\"" t "\"}}]}\n\n"
#define USED(t, n) HEAD "\"content\":\"" t "\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" #n "}}\n\n"
#define IDS(t, l)  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" t "\"},\"token_ids\":[" l "]}]}\n\n"
#define LOGS(t)                                                                                                        \
    "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"},\"logprobs\":{\"content\":[{\"token\":\"x\"},{\"token\":"  \
    "\"y\"}]}}]}\n\n"
#define FINISH      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define USAGE(p, c) "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" #p ",\"completion_tokens\":" #c "}}\n\n"

struct read {
    int ms;
    const char *bytes;
};

struct made {
    const char *title;
    struct read reads[8];
    double ttft, ttfo, tpot, itl, itl_p99, gap;
    int64_t tokens;
};

static const struct made mades[] = {
    {"1, 3 and 1 tokens, told by usage in every chunk",
     {{100, USED("a", 1)}, {140, USED("bcd", 4)}, {180, USED("e", 5)}, {181, FINISH}},
     100,
     100,
     20,
     40.0 / 3,
     39.2,
     40,
     5},
    {"the same told by token ids", /* P99 of 40/3 three times and 40: 40/3 + 0.97 * 80/3 */
     {{100, IDS("a", "5")}, {140, IDS("bcd", "6,7,8")}, {180, IDS("e", "9")}, {181, FINISH USAGE(9, 5)}},
     100,
     100,
     20,
     40.0 / 3,
     39.2,
     40,
     5},
    {"the same without any telling: the gaps stand, the tokens do not",
     {{100, TEXT("a")}, {140, TEXT("bcd")}, {180, TEXT("e")}, {181, FINISH USAGE(9, 5)}},
     100,
     100,
     20,
     NAN,
     NAN,
     40,
     5},
    {"two log-probabilities a chunk",
     {{100, LOGS("ab")}, {110, LOGS("cd")}, {130, LOGS("ef")}, {131, FINISH USAGE(9, 6)}},
     100,
     100,
     6,
     7.5,
     10,
     15,
     6},
    {"the final count proves one token a chunk",
     {{10, TEXT("a")}, {20, TEXT("b")}, {40, TEXT("c")}, {41, FINISH USAGE(9, 3)}},
     10,
     10,
     15,
     15,
     19.9,
     15,
     3},
    {"or one more for the end token",
     {{10, TEXT("a")}, {20, TEXT("b")}, {40, TEXT("c")}, {41, FINISH USAGE(9, 4)}},
     10,
     10,
     10,
     15,
     19.9,
     15,
     4},
    {"two chunks in one read share its gap",
     {{10, TEXT("a")}, {30, TEXT("b") TEXT("c")}, {31, FINISH USAGE(9, 3)}},
     10,
     10,
     10,
     10,
     10,
     20,
     3},
    {"reasoning starts the clock of tokens, not that of output",
     {{10, THINK("hm")}, {20, THINK("so")}, {50, TEXT("c")}, {51, FINISH USAGE(9, 3)}},
     10,
     50,
     20,
     20,
     29.8,
     20,
     3},
    {"one token has no time per token", {{10, TEXT("a")}, {11, FINISH USAGE(9, 1)}}, 10, 10, NAN, NAN, NAN, NAN, 1},
    {"all in one read", {{10, TEXT("a") TEXT("b") FINISH USAGE(9, 2)}}, 10, 10, NAN, NAN, NAN, NAN, 2},
};

Test(latency, made_up_streams_have_the_values_that_the_definitions_say)
{
    size_t i, k;

    for (i = 0; i < sizeof mades / sizeof *mades; i++) {
        const struct made *w = &mades[i];
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};

        stream_init(&s);
        s.exchange.has_http_head = false;
        s.exchange.status = 200;
        for (k = 0; k < 8 && w->reads[k].bytes; k++)
            stream_add(&s, w->reads[k].ms * MS, w->reads[k].bytes, strlen(w->reads[k].bytes));
        read_reply(&r, &s);
        cr_assert(close_to(value_of("latency.ttft", &r), w->ttft, few_ulp), "%s", w->title);
        cr_assert(close_to(value_of("latency.ttfo", &r), w->ttfo, few_ulp), "%s", w->title);
        cr_assert(close_to(value_of("latency.tpot", &r), w->tpot, few_ulp), "%s", w->title);
        cr_assert(close_to(value_of("latency.itl", &r), w->itl, few_ulp), "%s", w->title);
        cr_assert(close_to(value_of("latency.itl_p99", &r), w->itl_p99, few_ulp), "%s", w->title);
        cr_assert(close_to(value_of("latency.gap", &r), w->gap, few_ulp), "%s", w->title);
        cr_assert(eq(i64, r.completion_tokens, w->tokens), "%s", w->title);
    }
}

Test(latency, counts_from_the_plan_what_a_late_client_hid)
{
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};

    stream_init(&s);
    s.exchange.has_http_head = false;
    s.exchange.status = 200;
    s.exchange.scheduled_ns = -30 * MS;
    stream_add(&s, 190 * MS, TEXT("a") FINISH, strlen(TEXT("a") FINISH));
    read_reply(&r, &s);
    cr_assert(close_to(value_of("latency.ttft", &r), 190, few_ulp));
    cr_assert(close_to(value_of("latency.ttft_scheduled", &r), 220, few_ulp));
    cr_assert(close_to(value_of("latency.ttfb_scheduled", &r), 220, few_ulp));
    cr_assert(close_to(value_of("latency.ttfo_scheduled", &r), 220, few_ulp));
    cr_assert(close_to(value_of("latency.e2e_scheduled", &r), 220, few_ulp));
}

Test(latency, reasoning_tokens_are_counted_once_wherever_the_server_counts_them)
{
    static const struct {
        const char *usage;
        int64_t completion;
    } cases[] = {
        {"\"prompt_tokens\":10,\"completion_tokens\":8,\"total_tokens\":18,\"completion_tokens_details\":"
         "{\"reasoning_tokens\":5}",
         8},
        {"\"prompt_tokens\":10,\"completion_tokens\":3,\"total_tokens\":18,\"completion_tokens_details\":"
         "{\"reasoning_tokens\":5}",
         8},
        {"\"prompt_tokens\":10,\"completion_tokens\":8,\"reasoning_tokens\":5", 8},
        {"\"prompt_tokens\":10,\"completion_tokens\":8,\"total_tokens\":18", 8},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(stream) s = {0};
        AUTO(reply) r = {0};
        char usage[512];

        stream_init(&s);
        s.exchange.has_http_head = false;
        s.exchange.status = 200;
        snprintf(usage, sizeof usage, "data: {\"choices\":[],\"usage\":{%s}}\n\n", cases[i].usage);
        stream_add(&s, 1, THINK("hm") TEXT("a") FINISH, strlen(THINK("hm") TEXT("a") FINISH));
        stream_add(&s, 2, usage, strlen(usage));
        read_reply(&r, &s);
        cr_assert(eq(i64, r.completion_tokens, cases[i].completion), "%s", cases[i].usage);
    }
}

Test(latency, limits_are_read_and_kept)
{
    static const struct {
        const char *limits;
        double met;
    } cases[] = {{"ttft:100 tpot:20", 1},  {"ttft:99.9", 0}, {"tpot:19,e2e:1000", 0},
                 {"itl:13.4 ttft:100", 1}, {"", NAN},        {"ttft_scheduled:5", NAN}};
    const struct made *m = &mades[0];
    AUTO(stream) s = {0};
    AUTO(reply) r = {0};
    struct reply_view view = {.reply = &r};
    size_t i;

    stream_init(&s);
    s.exchange.has_http_head = false;
    s.exchange.status = 200;
    for (i = 0; m->reads[i].bytes; i++)
        stream_add(&s, m->reads[i].ms * MS, m->reads[i].bytes, strlen(m->reads[i].bytes));
    read_reply(&r, &s);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct goals g;

        cr_assert(eq(int, goals_read(&g, cases[i].limits, NULL), OK));
        cr_assert(close_to(goals_met(&g, &view), cases[i].met, (struct tol){0}), "%s", cases[i].limits);
    }
}

Test(latency, limits_that_say_nothing_are_refused)
{
    static const char *const bad[] = {"ttft", "ttft:", "ttft:0", "ttft:-1", "ttft:x", "tttf:5", "reply.empty:1", ":5"};
    struct error err = {0};
    struct goals g;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        error_clear(&err);
        cr_assert(eq(int, goals_read(&g, bad[i], &err), ERR_USAGE), "%s", bad[i]);
        cr_assert(ne(ptr, strstr(err.message, "goodput"), NULL));
    }
}
