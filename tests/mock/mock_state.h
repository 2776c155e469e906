/* mock_state.h - the mock server's insides, shared by its event loop and its connections. */
#ifndef TESTS_MOCK_MOCK_STATE_H
#define TESTS_MOCK_MOCK_STATE_H

#include "tests/mock/mock.h"
#include "tests/mock/mock_answer.h"
#include "tests/mock/mock_conn.h"
#include "tests/mock/mock_log.h"

enum { MOCK_READ_BYTES = 64 * 1024 };

struct mock {
    struct mock_opts opts;
    int listener, poll, stop; /* -1: closed */
    uint16_t port;
    struct mock_conn **conns; /* owned */
    size_t n_conns, cap_conns;
    struct mock_conn **queue; /* owned list of borrowed: those that wait for a slot, first come first served */
    size_t n_queue, cap_queue;
    struct mock_heap heap;
    struct mock_log log;
    struct mock_seen *seen; /* owned */
    uint64_t n_requests;
    size_t n_active;         /* replies that have a slot */
    struct mock_conn **gone; /* owned: dropped in this round; events of them may still stand in its list */
    size_t n_gone, cap_gone;
    char bytes[MOCK_READ_BYTES];
};

int64_t mock_now_ns(void);

/* A new connection; aborts without memory. */
void mock_conn_new(struct mock *m, int fd);

/* Its socket has bytes, or an end. */
void mock_conn_read(struct mock *m, struct mock_conn *c);

/* Its time has come, or its socket takes bytes again. */
void mock_conn_service(struct mock *m, struct mock_conn *c);

/* Ends it; its memory is freed with mock_conn_bury(). */
void mock_conn_drop(struct mock *m, struct mock_conn *c, bool is_reset, const char *end);
void mock_conn_bury(struct mock *m);

#endif
