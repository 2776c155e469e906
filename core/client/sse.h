/* sse.h - bytes of an event stream to events (WHATWG HTML, 9.2), whatever the reads split. */
#ifndef CORE_CLIENT_SSE_H
#define CORE_CLIENT_SSE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are borrowed for the call and end in a NUL; data may hold NULs of its own. */
struct sse_event {
    const char *name; /* "" when the stream gave none */
    const char *id;   /* the last id of the stream    */
    const char *data; /* its lines joined by LF       */
    size_t len;
    int64_t t_ns; /* of the read that completed the event */
};

struct sse_sink {
    enum status (*on_event)(void *ctx, const struct sse_event *event, struct error *err);
    void *ctx; /* borrowed */
};

struct sse {
    struct sse_sink sink;
    struct buf line, name, id, data; /* owned */
    int64_t retry_ms;                /* as the stream asked; -1 when it did not */
    uint64_t n_comments;             /* lines that begin with a colon: keep-alives */
    int n_bom;                       /* bytes of a byte order mark seen; 3 once past the beginning */
    bool has_data, after_cr;
};

#define SSE_EVENT_LIMIT ((size_t)64 << 20)

/* An event of more than `limit` bytes (0 = SSE_EVENT_LIMIT) is ERR_LIMIT. Release with sse_done(). */
void sse_init(struct sse *s, struct sse_sink sink, size_t limit);
void sse_done(struct sse *s);

/* Bytes of one read. */
MUST_CHECK enum status sse_feed(struct sse *s, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err);

/* The stream is over: an event that lacks its blank line, or even its line end, is handed on all the same, since
 * servers leave both out after the last one. */
MUST_CHECK enum status sse_end(struct sse *s, int64_t t_ns, struct error *err);

#endif
