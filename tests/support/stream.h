/* stream.h - exchanges for tests: recorded ones from a JSON Lines file, and made-up ones from reads in the test. */
#ifndef TESTS_SUPPORT_STREAM_H
#define TESTS_SUPPORT_STREAM_H

#include "core/base/buf.h"
#include "core/model/exchange.h"

#include <stddef.h>
#include <stdint.h>

struct stream {
    struct exchange exchange;
    struct read_event *events; /* owned */
    struct buf bytes;          /* owned */
    size_t cap;
};

/* An exchange without events: sent at 0, status unknown, head in the bytes. */
void stream_init(struct stream *s);
void stream_done(struct stream *s);

/* A read of `len` bytes; 0 is the end of the connection. */
void stream_add(struct stream *s, int64_t t_ns, const void *bytes, size_t len);

/* tests/fixtures/streams/<name>.jsonl; aborts the test program when it cannot be read. */
void stream_load(struct stream *s, const char *name);

/* tests/fixtures/streams/<name> as a text owned by the caller. */
char *stream_text(const char *name);

#endif
