#include "core/client/reply.h"

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
