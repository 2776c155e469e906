/* endpoint.h - the mock server in a thread of the test, and plain requests to it. */
#ifndef TESTS_SUPPORT_ENDPOINT_H
#define TESTS_SUPPORT_ENDPOINT_H

#include "tests/mock/mock.h"
#include "tests/support/stream.h"

#include <pthread.h>

struct endpoint {
    struct mock *mock;
    pthread_t thread;
    char url[64]; /* "http://127.0.0.1:PORT/v1" */
};

/* Aborts the test program when it cannot be started. */
void endpoint_start(struct endpoint *e, const struct mock_opts *opts);

/* Stops it; its numbers may be read until endpoint_done(). */
void endpoint_stop(struct endpoint *e);
void endpoint_done(struct endpoint *e);

/* Sends a request for that spec and keeps every read; the times are those of the reads. Ends with the connection, or
 * after two seconds without a byte. */
void endpoint_ask(const struct endpoint *e, const char *path, const char *spec, const char *words, struct stream *ret);

#endif
