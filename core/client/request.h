/* request.h - a turn of a conversation to the JSON body of a request. */
#ifndef CORE_CLIENT_REQUEST_H
#define CORE_CLIENT_REQUEST_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/io/prompt.h"
#include "core/model/taskset.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum request_api { REQUEST_CHAT, REQUEST_COMPLETIONS };

/* Texts and JSON are borrowed. */
struct request_options {
    enum request_api api;
    const char *model;
    bool is_stream, wants_usage;   /* stream; stream_options.include_usage                         */
    double temperature, top_p;     /* NAN: left to the server                                       */
    int64_t seed;                  /* the server's, -1: none                                        */
    int64_t max_tokens;            /* for turns that state none                                     */
    const char *max_tokens_fields; /* "max_tokens", "max_completion_tokens" or "both"               */
    const json_t *extra;           /* members added to the body last; NULL for none                 */
    const char *cache_salt;        /* NULL for none                                                 */
};

/* The body for turn `turn` (from 1), given the replies to the turns before it: replies[0 .. turn - 2]. `prompt` may be
 * NULL: then the documents and the question stand alone. */
MUST_CHECK enum status request_body(const struct request_options *o, const struct prompt *prompt,
                                    const struct task *task, int64_t turn, char *const *replies, struct buf *ret,
                                    struct error *err);

/* What of the request decides how the model samples, as canonical JSON: sorted keys, no spaces. */
MUST_CHECK enum status request_sampling(const struct request_options *o, const struct taskset *tasks, struct buf *ret,
                                        struct error *err);

#endif
