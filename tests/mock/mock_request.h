/* mock_request.h - one HTTP request to the mock server: what it asks for. */
#ifndef TESTS_MOCK_MOCK_REQUEST_H
#define TESTS_MOCK_MOCK_REQUEST_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mock_path { PATH_CHAT, PATH_COMPLETIONS, PATH_MODELS, PATH_TOKENIZE, PATH_PROPS, PATH_HEALTH, PATH_UNKNOWN };

struct mock_request {
    enum mock_path path;
    bool is_stream, wants_usage, is_keep_alive, is_bad_json;
    bool is_hop;           /* the second leg of a redirect                        */
    int64_t max_tokens;    /* 0: no bound                                         */
    uint64_t prompt_hash;  /* of the messages' or the prompt's text               */
    int64_t prompt_tokens; /* words, and 4 for every message                      */
    struct buf target;     /* owned: as in the request line                       */
    struct buf model;      /* owned                                               */
    struct buf last;       /* owned: text of the last message, or the prompt      */
    struct buf header;     /* owned: value of X-Mock                              */
    struct buf auth;       /* owned: value of Authorization                       */
};

void mock_request_done(struct mock_request *r);

/* How many bytes the request at `bytes` has: 0 while it is not whole, SIZE_MAX when it is none. */
size_t mock_request_len(const char *bytes, size_t len, bool *ret_expects_continue);

/* Reads a whole request. */
MUST_CHECK enum status mock_request_read(struct mock_request *r, const char *bytes, size_t len, struct error *err);

/* Words of a text: what the mock server counts as its tokens. */
int64_t mock_count_words(const char *text, size_t len);

#endif
