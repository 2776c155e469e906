/* transfer.h - one request on its way: what is sent, and every read of the answer with its time. */
#ifndef CORE_CLIENT_TRANSFER_H
#define CORE_CLIENT_TRANSFER_H

#include "core/base/buf.h"
#include "core/model/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_slot;

enum transfer_end {
    TRANSFER_WHOLE,     /* the answer came to its end; its HTTP status may still be a failure       */
    TRANSFER_UNREACHED, /* no connection, or it broke before a byte came: asking again is harmless   */
    TRANSFER_TIMED_OUT, /* one of our limits                                                         */
    TRANSFER_CUT,       /* the connection broke in the middle                                        */
    TRANSFER_TOO_LONG,  /* more bytes than allowed                                                   */
    TRANSFER_STOPPED,   /* by us, since the run ends                                                 */
    TRANSFER_REFUSED    /* cannot work however often it is asked: a bad certificate, a bad address   */
};

struct transfer {
    /* set by whoever starts it */
    struct buf body;    /* owned; "" for a GET                                    */
    const char *url;    /* borrowed                                               */
    const void *lines;  /* struct curl_slist of request headers; borrowed         */
    const char *secret; /* never kept in what came back; borrowed, NULL for none */
    bool is_get, is_stream;
    int64_t total_timeout_ns; /* 0: the transport's own */
    void *owner;              /* whose it is; the transport does not look at it */

    /* set on the way, ns on clock_ns(); NS_UNKNOWN until it happens */
    int64_t scheduled_ns; /* NS_UNKNOWN in a closed loop                          */
    int64_t started_ns;   /* handed to the transport: connecting comes after      */
    int64_t sent_ns;      /* request handed over to the connection                */
    int64_t first_ns;     /* the first read with something like content: a glance */
    int64_t last_ns;      /* the last read                                        */
    int64_t ended_ns;
    int64_t connect_ns; /* how long connecting took; 0 on a connection that was there */

    /* what came back */
    struct buf bytes;          /* owned: the body, chunk framing and compression taken off */
    struct read_event *events; /* owned: offsets into `bytes`                              */
    size_t n_events, cap_events;
    struct buf headers; /* owned: a line each                                      */
    int64_t status;
    int64_t retry_after_ns; /* as the server asked; -1: it did not                    */
    enum transfer_end end;
    struct buf failure; /* owned: why it did not come to its end, in words         */

    /* the transport's own */
    struct stream_slot *stream; /* NULL at rest        */
    size_t place;               /* in the list of those on their way */
    uint64_t round;             /* of the loop, in which the last read was seen */
    bool waits_to_write;
};

/* Ready for another attempt: what came back and the times are forgotten, what is sent stays. */
void transfer_reset(struct transfer *t);
void transfer_done(struct transfer *t);

/* Whether these bytes of a body look like content: a text under "content", "text", … that is not empty, or a tool call.
 * A guess for clocks that only inform. */
bool transfer_has_content(const char *bytes, size_t len);

#endif
