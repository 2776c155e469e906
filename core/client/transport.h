/* transport.h - many HTTP requests at once in one thread: libcurl's multi interface on epoll and one timer. */
#ifndef CORE_CLIENT_TRANSPORT_H
#define CORE_CLIENT_TRANSPORT_H

#include "core/base/error.h"
#include "core/client/lag.h"
#include "core/client/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are borrowed. Times are ns, 0 = without limit. */
struct transport_options {
    int64_t connect_ns; /* until the connection stands                          */
    int64_t first_ns;   /* from there to the first content                      */
    int64_t idle_ns;    /* between two reads once something has come            */
    int64_t total_ns;   /* for the whole                                        */
    size_t max_reply_bytes;
    size_t max_streams; /* connections that are kept                            */
    const char *cacert; /* file of certificates; NULL: the system's             */
    bool is_insecure;   /* certificates are not checked                         */
};

/* Called from transport_wait() when a transfer is over; it may be started again at once. */
struct transport_sink {
    void (*on_end)(void *ctx, struct transfer *t);
    void *ctx; /* borrowed */
};

struct stream_slot;

struct transport {
    struct transport_options options;
    struct transport_sink sink;
    void *multi; /* libcurl's */
    int epoll_fd, timer_fd, wake_fd;
    struct transfer **active; /* owned list; transfers borrowed */
    size_t n_active, cap_active;
    struct stream_slot **spare; /* owned: handles at rest */
    size_t n_spare, cap_spare;
    int64_t curl_due_ns;        /* when libcurl wants to be called          */
    int64_t armed_ns;           /* what the timer is set to                 */
    int64_t check_due_ns;       /* when limits are looked at next           */
    uint64_t round;             /* of waiting                               */
    int64_t ready_ns;           /* since when this round's reads may have waited */
    int64_t returned_ns;        /* from the last wait                       */
    int64_t busy_ns, waited_ns; /* outside and inside of waiting      */
    struct lag lag;             /* from "may have been readable" to "taken" */
    struct lag timer_lag;       /* from "due" to "called"                   */
};

/* Release with transport_done(), after which no transfer may be active. */
MUST_CHECK enum status transport_init(struct transport *t, const struct transport_options *o,
                                      struct transport_sink sink, struct error *err);
void transport_done(struct transport *t);

/* Sends; the transfer stays where it is until on_end. */
MUST_CHECK enum status transport_start(struct transport *t, struct transfer *x, struct error *err);

/* Ends it now, on_end included. */
void transport_stop(struct transport *t, struct transfer *x, const char *why);

/* Waits for the network, for transport_wake(), or until `until_ns`, and handles what there is. */
MUST_CHECK enum status transport_wait(struct transport *t, int64_t until_ns, struct error *err);

/* From another thread, or from a signal handler: the present or next wait returns. */
void transport_wake(const struct transport *t);

/* Raises this process's limit of open files to what `n` streams need; ERR_LIMIT when the system forbids it. */
MUST_CHECK enum status transport_make_room(size_t n, struct error *err);

#endif
