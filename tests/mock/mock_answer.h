/* mock_answer.h - which reply a request to the mock server gets. */
#ifndef TESTS_MOCK_MOCK_ANSWER_H
#define TESTS_MOCK_MOCK_ANSWER_H

#include "tests/mock/mock.h"
#include "tests/mock/mock_request.h"
#include "tests/mock/mock_spec.h"

enum { MOCK_SEEN = 1 << 16 };

/* How often each prompt was seen, by its hash. */
struct mock_seen {
    uint64_t hash[MOCK_SEEN];
    uint32_t count[MOCK_SEEN];
};

/* A completion's spec, from all that speaks of it: the server's options, the script, the model's name after a colon,
 * "[mock: …]" in the last message, the header X-Mock; the later wins. `nth`: the request's number from 1. */
MUST_CHECK enum status mock_answer_spec(struct mock_spec *spec, const struct mock_opts *opts,
                                        const struct mock_request *request, uint64_t nth, struct error *err);

/* What follows from this prompt having come before; returns the cached tokens that usage tells, -1 for none. */
int64_t mock_answer_seen(struct mock_seen *seen, struct mock_spec *spec, const struct mock_request *request);

/* Answers all that is no completion, and completions that are refused; false when the request is to be streamed. */
bool mock_answer_simple(struct buf *out, const struct mock_opts *opts, const struct mock_request *request);

#endif
