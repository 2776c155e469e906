/* mock.h - an OpenAI-compatible server for tests: loopback only, one thread, scripted behaviour, a log of what it
 * really sent. What a request can ask for stands in tests/mock/README.md. */
#ifndef TESTS_MOCK_MOCK_H
#define TESTS_MOCK_MOCK_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_opts {
    uint16_t port;         /* 0: any free one                                                         */
    const char *spec;      /* what every request asks for before it says more itself; may be NULL     */
    const char *script;    /* text: a spec a line, for the first, second, … request; may be NULL      */
    const char *log_path;  /* JSON Lines, written when the server stops; may be NULL                  */
    uint64_t dead_after;   /* after so many requests every connection is reset and no more taken; 0: never */
    size_t slots;          /* replies at once, the rest queue; 0: all                                 */
    int64_t context_limit; /* tokens, told by /v1/models and /props; 0: not told                      */
    const char *api_key;   /* demanded as "Authorization: Bearer KEY" when not NULL                   */
    bool is_bare;          /* no /tokenize, no /props, and /v1/models tells no limit                  */
};

struct mock;

/* Binds and listens on 127.0.0.1. Texts of `opts` are borrowed and must outlive the server. */
MUST_CHECK enum status mock_new(struct mock **ret, const struct mock_opts *opts, struct error *err);

uint16_t mock_port(const struct mock *m);

/* Serves until mock_stop(), which any thread or signal handler may call. Then writes the log. */
MUST_CHECK enum status mock_serve(struct mock *m, struct error *err);
void mock_stop(struct mock *m);
void mock_free(struct mock *m);

/* Numbers for tests; safe after mock_serve() came back. */
uint64_t mock_n_requests(const struct mock *m); /* chat and completion requests */
size_t mock_peak_streams(const struct mock *m); /* most replies under way at once */

#endif
