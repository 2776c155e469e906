/* reply.h - what one exchange says: text, clock, counts, how it ended; a pure function of its bytes and arrival times.
 */
#ifndef CORE_CLIENT_REPLY_H
#define CORE_CLIENT_REPLY_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/exchange.h"

#include <stdbool.h>
#include <stdint.h>

enum token_source {
    TOKENS_UNKNOWN,
    TOKENS_FROM_STREAM, /* usage in the reply itself                                                */
    TOKENS_FROM_PLAIN,  /* the server's count for another, plain request of the same text            */
    TOKENS_FROM_CHUNKS  /* counted from content chunks: an estimate, marked as such                  */
};

enum reply_state {
    REPLY_OK,         /* finish reason seen and a clean end                                         */
    REPLY_HTTP_ERROR, /* status 400 and up, or no status                                            */
    REPLY_ERROR,      /* an error object in the body or in the stream                               */
    REPLY_BROKEN,     /* no finish reason, cut framing, or an event that is not JSON                */
    REPLY_EMPTY       /* a success by HTTP without any content                                      */
};

/* A read that brought content, and how much. */
struct arrival {
    int64_t t_ns;
    uint64_t n_pieces; /* events, or objects in one event, with content                */
    int64_t n_tokens;  /* -1 where not known: see reply_read()                         */
};

struct reply {
    struct buf text;          /* UTF-8 as sent; visible content only                        */
    struct buf error;         /* the server's own words, cut at 500 bytes; empty when none   */
    struct buf model;         /* as the server named it                                      */
    struct buf finish_reason; /* "stop", "length", …; empty when none was sent               */
    enum reply_state state;
    int64_t tokens_sent; /* of the prompt, counted exactly before the server read it; 0 not known */
    int64_t status;      /* HTTP                                                        */
    int64_t sent_ns, scheduled_ns;
    int64_t first_content_ns,
        last_content_ns;       /* reads that brought the first and last content or reasoning; NS_UNKNOWN */
    uint64_t n_content_chunks; /* events with content                                         */
    struct arrival *arrivals;  /* owned: [n_arrivals] reads with content, in order            */
    size_t n_arrivals, cap_arrivals;
    int64_t first_byte_ns;                    /* first byte of the reply, its head included; NS_UNKNOWN      */
    int64_t end_ns;                           /* read that brought the last event, or completed the body; NS_UNKNOWN */
    int64_t prompt_tokens, completion_tokens; /* -1 unknown                                                  */
    enum token_source prompt_tokens_from, completion_tokens_from;
    int64_t cached_tokens;    /* of prompt_tokens: not computed anew; -1 not told            */
    int64_t reasoning_tokens; /* of completion_tokens, which has them in; -1 not told        */
    bool is_stream, done_seen, is_clean_end;
    bool is_context_overflow; /* refused: the server says that the prompt is too long */
    int64_t first_visible_ns; /* read that brought the first visible text, after any reasoning; NS_UNKNOWN */
    uint64_t n_bad_events;    /* events, or the body, that could not be read as JSON                       */
    bool has_reasoning, has_tool_calls;
    bool has_refusal;  /* the server marked the text as a refusal              */
    bool has_bad_json; /* an event, or the body, begins like JSON and is none  */
};

/* Decodes HTTP head and chunk framing where the exchange has them, then SSE or one JSON body. `events` are
 * the exchange's own, `bytes` those of the whole run. A read of no bytes is the end of the connection. The end is clean
 * when the framing says so; where there is none (bare bodies, bodies until close), an end of the connection, [DONE] or
 * a finish reason must do. Without a stream, first and last content are the read that completed the body. A server's
 * failure is a state of the reply, not an error: only memory and limits are.
 *
 * completion_tokens holds reasoning tokens once: a server that counts them beside completion_tokens shows it by its
 * total. An arrival's n_tokens comes from token ids or log-probabilities in its chunks, from usage in every chunk, or
 * is its number of chunks where the server's final count equals theirs (or is one more, the end token, when it stopped
 * by itself): then each chunk was one token. */
MUST_CHECK enum status reply_read(struct reply *r, const struct exchange *x, const struct read_event *events,
                                  const unsigned char *bytes, struct error *err);
void reply_done(struct reply *r);

/* Whether there is something to score: no failure, and content or at least a finish reason. */
bool reply_has_answer(const struct reply *r);

/* Whether the server read clearly fewer tokens than were sent, and said nothing: more than 2 %, and more than 8. */
bool reply_was_cut_short(const struct reply *r);

/* Appends what went wrong with a reply that has no answer, in the server's words where it said any: "HTTP status 503:
 * busy". Some 240 bytes at most. */
void reply_put_fault(struct buf *ret, const struct reply *r);

const char *reply_state_name(enum reply_state s); /* "ok", "http-error", "error", "broken", "empty" */

#endif
