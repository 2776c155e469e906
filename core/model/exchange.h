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
    /* Of a live endpoint; zero or NULL otherwise. */
    char *failure;       /* why no whole answer came, in words; "" when one did                        */
    int64_t started_ns;  /* when it was decided to send: before any connecting                         */
    int64_t connect_ns;  /* how long connecting took; 0 on a connection that stood                     */
    int64_t n_retries;   /* attempts before this one, which are not in the bytes nor in the times      */
    int64_t tokens_sent; /* of the prompt, counted before sending; 0 not known                         */
    bool tokens_sent_is_estimate;
    bool is_redacted;             /* the text was left out of the bytes on request; times and token counts stay      */
    bool has_http_head;           /* the bytes begin with the HTTP head and hold chunk framing                  */
    size_t first_event, n_events; /* events[first_event ..] of the run */
};

#endif
