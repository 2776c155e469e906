/* chunk.h - what the JSON of one event, or of a reply that is no stream, says: text, end, counts, error. */
#ifndef CORE_CLIENT_CHUNK_H
#define CORE_CLIENT_CHUNK_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of choice 0 alone where there are several. Understood: chat chunks (delta) and replies (message), text completions
 * (text), the event stream of text-generation-inference (token, generated_text), and the error objects of all of them.
 */
struct chunk {
    struct buf content;                       /* owned: visible text                                              */
    struct buf finish_reason;                 /* owned: "" when none                                              */
    struct buf model;                         /* owned: as the server names it                                    */
    struct buf error;                         /* owned: the server's words                                        */
    uint64_t n_pieces;                        /* objects that brought text, reasoning or a piece of a tool call   */
    int64_t prompt_tokens, completion_tokens; /* -1: none, or not a believable number             */
    int64_t cached_tokens, reasoning_tokens;  /* parts of those two; -1 likewise                  */
    int64_t total_tokens;                     /* -1 likewise                                      */
    int64_t n_tokens;                         /* in this text, by its token ids or log-probabilities; -1: not told */
    bool has_reasoning, has_tool_call;        /* not empty                                        */
    bool has_refusal;                         /* the text is the server's `refusal`               */
    bool is_error;
    bool is_garbage; /* something in the text is no JSON object; what stands before it was read   */
    /* Half of a character that a server cut in two: the first of a UTF-16 pair, 0 when none. It is kept over
     * chunk_clear(), since the other half comes with the next event. */
    uint32_t half;
    bool has_stand_ins; /* while repaired text is read: halves stand in it under other names, see repair.h */
};

/* A zeroed struct chunk is ready to use. chunk_clear() makes it ready for the next event. */
void chunk_done(struct chunk *c);
void chunk_clear(struct chunk *c);

/* Adds what `text` says: one JSON value, or several back to back. Only memory and limits are errors. */
MUST_CHECK enum status chunk_read(struct chunk *c, const char *text, size_t len, struct error *err);

/* Appends a server's words: at most `max` bytes in all, valid UTF-8, control characters as spaces. */
void chunk_words(struct buf *ret, const char *text, size_t len, size_t max);

#endif
