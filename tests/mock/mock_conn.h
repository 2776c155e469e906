/* mock_conn.h - one connection to the mock server, and the queue of those that wait for their time. */
#ifndef TESTS_MOCK_MOCK_CONN_H
#define TESTS_MOCK_MOCK_CONN_H

#include "core/base/buf.h"
#include "tests/mock/mock_reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEVER     INT64_MAX
#define NO_RECORD SIZE_MAX

struct mock_conn {
    int fd;
    struct buf in, out; /* owned */
    size_t out_at;      /* bytes of out that are sent           */
    struct mock_reply reply;
    bool has_reply, is_polling_out, is_queued;
    enum mock_then then; /* when out is sent                     */
    int64_t received_ns;
    int64_t wake_ns; /* NEVER: only the socket wakes it      */
    size_t heap_at;  /* place in the heap                    */
    size_t place;    /* in the server's list of connections  */
    size_t record;   /* in the log                           */
};

/* Those that have a time to wake at, the earliest first. */
struct mock_heap {
    struct mock_conn **conns; /* owned list of borrowed connections */
    size_t n, cap;
};

void mock_heap_done(struct mock_heap *h);

/* Puts the connection where its new time belongs; NEVER takes it out. */
void mock_heap_set(struct mock_heap *h, struct mock_conn *c, int64_t wake_ns);

#endif
