/* mock_event.h - the events of the mock server's streams: JSON, lines, HTTP chunks. */
#ifndef TESTS_MOCK_MOCK_EVENT_H
#define TESTS_MOCK_MOCK_EVENT_H

#include "tests/mock/mock_reply.h"

/* JSON up to the members of the delta (or of the completion's choice). */
void mock_event_start(struct mock_reply *r);

/* The next tokens: as many as the spec puts into one event. */
void mock_event_tokens(struct mock_reply *r, struct buf *out);

/* The role without content, where the spec has one. */
void mock_event_role(struct mock_reply *r, struct buf *out);

/* Finish reason, usage, [DONE] and the end of the body, as the spec has them. */
void mock_event_tail(struct mock_reply *r, struct buf *out);

/* One event of that data; `name` may be NULL. */
void mock_event_put(struct mock_reply *r, struct buf *out, const char *name, const char *data, size_t len);

/* Bytes of the body as they are. */
void mock_event_raw(struct mock_reply *r, struct buf *out, const char *bytes, size_t len);

/* The last chunk, where the body is chunked. */
void mock_event_close(struct mock_reply *r, struct buf *out);

/* What the spec does in the middle of a stream, into `out`; false when the stream goes on as if nothing was. */
bool mock_event_strike(struct mock_reply *r, struct buf *out, enum mock_then *ret_then);

/* {"choices": …} of the whole reply, as for a request without stream. */
void mock_event_whole(struct mock_reply *r, struct buf *json);

#endif
