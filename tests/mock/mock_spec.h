/* mock_spec.h - what one request asks of the mock server, from words such as "n=16 gap_ms=2 do=drop after=3". */
#ifndef TESTS_MOCK_MOCK_SPEC_H
#define TESTS_MOCK_MOCK_SPEC_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mock_do {
    DO_NORMAL,
    DO_ERROR,         /* an error object in the stream, then [DONE]                */
    DO_ERROR_EVENT,   /* the same named by "event: error", and the end             */
    DO_ERROR_FLAT,    /* {"object": "error", "message": …}, and the end            */
    DO_END,           /* the body ends cleanly without finish reason and [DONE]    */
    DO_DONE_ONLY,     /* nothing but [DONE]                                        */
    DO_DROP,          /* connection reset in the middle of an event                */
    DO_CUT,           /* connection closed in the middle of an event               */
    DO_STALL,         /* nothing more, connection open                             */
    DO_TWO,           /* two JSON objects back to back in one event                */
    DO_EMPTY,         /* a success with an empty body                              */
    DO_GZIP,          /* body compressed though nobody asked for it                */
    DO_REDIRECT,      /* 307 to the same place for ever                            */
    DO_REDIRECT_ONCE, /* 307 to a place that answers                               */
    DO_WRONG_TYPE,    /* content type of the other kind                            */
    DO_BIG,           /* one event of `size` bytes                                 */
    DO_ENDLESS,       /* tokens without end                                        */
    DO_LORIS,         /* head one byte at a time                                   */
    DO_LORIS_BODY,    /* the stream one byte at a time                             */
    DO_FLOOD,         /* headers without end                                       */
    DO_GARBAGE,       /* bytes that are no HTTP                                    */
    DO_JSON,          /* one JSON body though a stream was asked for               */
    DO_BAD_JSON,      /* an event that is cut JSON                                 */
    DO_BAD_UTF8,      /* bytes in a text that are no UTF-8                         */
    DO_HALF,          /* a character's two halves in two events                    */
    DO_LENGTH,        /* content-length longer than the body, then closed          */
    DO_HTTP10,        /* HTTP/1.0, until close                                     */
    DO_TRAILERS,      /* chunk extensions and trailer fields                       */
    DO_HANGUP,        /* closed without a byte                                     */
    DO_RESET,         /* reset without a byte                                      */
    DO_STATUS         /* `status` with an error body of the kind `body`            */
};

enum mock_usage { USAGE_ASKED, USAGE_LAST, USAGE_FINISH, USAGE_EACH, USAGE_NONE };
enum mock_text { TEXT_VARIED, TEXT_SAME, TEXT_ECHO, TEXT_LOOP, TEXT_REFUSAL, TEXT_UTF8, TEXT_SAY, TEXT_REPEAT };
enum mock_role { ROLE_EMPTY, ROLE_BARE, ROLE_NULL, ROLE_NONE };
enum mock_body { BODY_OPENAI, BODY_FLAT, BODY_DETAIL, BODY_TEXT, BODY_HTML, BODY_NOTHING, BODY_TOO_LONG };
enum mock_eol { EOL_LF, EOL_CRLF, EOL_CR, EOL_MIXED };

struct mock_spec {
    int64_t head_ns, role_ns, first_ns, gap_ns, jitter_ns, ping_ns, split_ns; /* role_ns: -1 with the first token */
    uint64_t n, k, reason, tools, after, split, size, limit, until, lines, cached, letters;
    int64_t status, retry_after; /* retry_after: seconds, -1: no such header */
    enum mock_do what;
    enum mock_usage usage;
    enum mock_text text;
    enum mock_role role;
    enum mock_body body;
    enum mock_eol eol;
    bool has_n, has_done, has_final_newline, has_space, is_keep_alive, is_nulls, has_cache;
    char say[1024];  /* the text of TEXT_SAY, with '+' for spaces                         */
    char finish[24]; /* finish reason; "" when it follows from the rest                   */
    char reason_key[24];
};

void mock_spec_init(struct mock_spec *s);

/* Words apart by spaces, commas or semicolons. ERR_FORMAT names a word that says nothing. */
MUST_CHECK enum status mock_spec_read(struct mock_spec *s, const char *words, size_t len, struct error *err);

#endif
