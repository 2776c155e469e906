#include "core/client/chunk.h"
#include "core/client/reply.h"

#include <string.h>

/* A sentence or two, for notes and messages that say more beside it. */
enum { MAX_FAULT = 240 };

bool reply_has_answer(const struct reply *r)
{
    if (r->state == REPLY_EMPTY)
        return r->finish_reason.len > 0;
    return r->state == REPLY_OK;
}

/* Special tokens and templates are counted by some servers and not by others. */
enum { FEW_TOKENS = 8 };

bool reply_was_cut_short(const struct reply *r)
{
    int64_t slack = r->tokens_sent / 50 > FEW_TOKENS ? r->tokens_sent / 50 : FEW_TOKENS;

    return r->tokens_sent > 0 && r->prompt_tokens >= 0 && r->prompt_tokens + slack < r->tokens_sent;
}

/* Where the server found no words for it. */
static const char *own_words(const struct reply *r)
{
    switch (r->state) {
    case REPLY_HTTP_ERROR:
        return r->status ? "no words with it" : "no answer came";
    case REPLY_ERROR:
        return "the server ended it as an error";
    case REPLY_EMPTY:
        return "an empty answer: no text, no finish reason";
    default:
        break;
    }
    if (r->has_bad_json)
        return "the answer holds JSON that cannot be read";
    return r->is_clean_end ? "the answer ends without a finish reason" : "the answer breaks off";
}

void reply_put_fault(struct buf *ret, const struct reply *r)
{
    const char *words = r->error.len ? buf_text(&r->error) : own_words(r);
    size_t i;

    if (r->status)
        buf_printf(ret, "HTTP status %lld: ", (long long)r->status);
    chunk_words(ret, words, strlen(words), MAX_FAULT);
    for (i = 0; i < ret->len; i++) /* one line */
        if (ret->data[i] == '\n')
            ret->data[i] = ' ';
}
