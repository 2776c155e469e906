/* http.h - one HTTP/1.x response from its bytes as received: status, headers, and the body without its framing. */
#ifndef CORE_CLIENT_HTTP_H
#define CORE_CLIENT_HTTP_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_framing {
    HTTP_UNFRAMED, /* head not complete, or a response that has no body */
    HTTP_CHUNKED,
    HTTP_LENGTH,
    HTTP_UNTIL_CLOSE, /* HTTP/1.0, or a recording of HTTP/2: nothing says where the body ends */
    HTTP_BODY_ONLY    /* no head in the bytes, framing already taken off */
};

/* Gets each piece of the body with the time of the read that brought it; `bytes` lie inside what was fed. */
struct http_sink {
    enum status (*on_body)(void *ctx, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err);
    void *ctx; /* borrowed */
};

struct http {
    struct http_sink sink;
    struct buf line;   /* owned: the head or trailer read so far                        */
    struct buf fields; /* owned: "name\0value\0…", names in lower case                   */
    enum http_framing framing;
    int state;         /* of the decoder, see http.c                                    */
    int64_t status;    /* of the last head; 0 before it                                 */
    uint64_t left;     /* bytes that the current chunk or the body still has            */
    uint64_t body_len; /* bytes handed to the sink                                      */
    bool has_digits;   /* of the chunk size that is being read                           */
    bool is_bad;       /* no HTTP, or framing that cannot be read: `why` says what       */
    const char *why;
};

/* Release with http_done(). */
void http_init(struct http *h, struct http_sink sink);

/* For an exchange whose bytes are the bare body; `headers` has a header a line, may be NULL. */
MUST_CHECK enum status http_init_body(struct http *h, struct http_sink sink, int64_t status, const char *headers,
                                      struct error *err);
void http_done(struct http *h);

/* Bytes of one read. Bytes after the end of the response are ignored. Bad framing is a state, not an error. */
MUST_CHECK enum status http_feed(struct http *h, const unsigned char *bytes, size_t len, int64_t t_ns,
                                 struct error *err);

/* True when the framing says that the body is whole: last chunk and trailer, or all of content-length. */
bool http_is_whole(const struct http *h);

/* Value of the first header of that name (lower case), or NULL. */
const char *http_header(const struct http *h, const char *name);

#endif
