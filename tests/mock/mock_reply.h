/* mock_reply.h - the bytes of one reply of the mock server, and when each is due. */
#ifndef TESTS_MOCK_MOCK_REPLY_H
#define TESTS_MOCK_MOCK_REPLY_H

#include "tests/mock/mock_request.h"
#include "tests/mock/mock_spec.h"

enum mock_then {
    THEN_MORE,  /* more is due at `due_ns`                       */
    THEN_DONE,  /* whole: the connection may serve another       */
    THEN_CLOSE, /* close it                                      */
    THEN_RESET, /* reset it                                      */
    THEN_STALL  /* nothing more, and leave it open               */
};

struct mock_reply {
    struct mock_spec spec;
    struct mock_request request; /* owned */
    uint64_t id;
    int64_t begin_ns;      /* arrival of the request, or the moment a slot fell free */
    int64_t due_ns;        /* of the next step                                       */
    int64_t ping_due_ns;   /* INT64_MAX: no pings                                    */
    int stage;             /* see mock_reply.c                                       */
    uint64_t n_sent;       /* tokens sent, of reasoning, text and calls              */
    uint64_t n_events;     /* that brought them                                      */
    uint64_t n_text;       /* tokens of text in all; UINT64_MAX: without end         */
    int64_t cached_tokens; /* -1: not told                                           */
    size_t trickle;        /* most bytes of one write; 0: all                        */
    bool is_stream, is_chunked;
    bool is_cut;       /* by max_tokens                                          */
    bool has_struck;   /* what the spec does has happened                        */
    struct buf words;  /* owned: text whose words are the reply's                */
    size_t word_at;    /* of the next word in it                                 */
    struct buf prefix; /* owned: JSON of an event before its delta               */
    struct buf event;  /* owned: scratch                                         */
};

/* Takes the request over. */
void mock_reply_start(struct mock_reply *r, struct mock_request *request, const struct mock_spec *spec, uint64_t id,
                      int64_t begin_ns, int64_t cached_tokens);
void mock_reply_done(struct mock_reply *r);

/* Appends what is due next to `out`, and sets due_ns. Each step's bytes want a write of their own. */
enum mock_then mock_reply_step(struct mock_reply *r, struct buf *out);

/* A whole reply in JSON. */
void mock_reply_simple(struct buf *out, int64_t status, const char *json, bool is_keep_alive);

#endif
