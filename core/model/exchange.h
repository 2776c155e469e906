/* exchange.h - one request and what came back, kept raw: bytes as received and when. */
#ifndef CORE_MODEL_EXCHANGE_H
#define CORE_MODEL_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_UNKNOWN INT64_MIN

/* Bytes that one read returned: bytes[offset .. offset + len) of the run's buffer, seen at t_ns. */
struct read_event {
    int64_t t_ns;
    uint64_t offset;
    uint64_t len;
};

struct exchange {
    char *task;           /* ids and texts are borrowed from the run's arena */
    int64_t turn, repeat; /* from 1 */
    char *path;           /* "/v1/completions"                                                         */
    char *request;        /* JSON body as sent                                                         */
    char *headers;        /* reply headers, a line each; "" when they stand in the bytes (has_http_head) */
    int64_t status;       /* HTTP status; 0 unknown                                                    */
    int64_t sent_ns;      /* on the clock of t_ns: last request byte handed over                       */
    int64_t scheduled_ns; /* when it should have been sent; NS_UNKNOWN in a closed loop                */
    int64_t prompt_tokens, completion_tokens; /* as counted by the server in another, plain request; -1 not known */
    bool has_http_head;           /* the bytes begin with the HTTP head and hold chunk framing                  */
    size_t first_event, n_events; /* events[first_event ..] of the run */
};

#endif
