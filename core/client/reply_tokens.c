#include "core/client/reply_tokens.h"

#include <string.h>

/* Some servers count reasoning beside completion_tokens, most within: the total tells. */
static void settle_reasoning(struct reply *r, int64_t total)
{
    if (r->reasoning_tokens > 0 && r->completion_tokens >= 0 && r->prompt_tokens > 0 &&
        r->prompt_tokens + r->completion_tokens + r->reasoning_tokens == total)
        r->completion_tokens += r->reasoning_tokens;
}

/* Counts of the reply itself, else of the plain request, else of its content chunks. */
static void choose_tokens(struct reply *r, const struct exchange *x)
{
    if (r->completion_tokens == 0 && r->n_content_chunks > 0)
        r->completion_tokens = -1; /* it did send some */
    if (r->prompt_tokens >= 0) {
        r->prompt_tokens_from = TOKENS_FROM_STREAM;
    } else if (x->prompt_tokens >= 0) {
        r->prompt_tokens = x->prompt_tokens;
        r->prompt_tokens_from = TOKENS_FROM_PLAIN;
    }
    if (r->completion_tokens >= 0) {
        r->completion_tokens_from = TOKENS_FROM_STREAM;
    } else if (x->completion_tokens >= 0) {
        r->completion_tokens = x->completion_tokens;
        r->completion_tokens_from = TOKENS_FROM_PLAIN;
    } else if (r->is_stream && r->n_content_chunks > 0) {
        r->completion_tokens = (int64_t)r->n_content_chunks;
        r->completion_tokens_from = TOKENS_FROM_CHUNKS;
    }
}

static void prove_single_tokens(struct reply *r)
{
    int64_t n = (int64_t)r->n_content_chunks;
    bool is_stop = strcmp(buf_text(&r->finish_reason), "stop") == 0;
    bool is_told = r->completion_tokens_from == TOKENS_FROM_STREAM || r->completion_tokens_from == TOKENS_FROM_PLAIN;
    size_t i;

    if (!r->is_stream || !is_told || (r->completion_tokens != n && !(is_stop && r->completion_tokens == n + 1)))
        return;
    for (i = 0; i < r->n_arrivals; i++)
        r->arrivals[i].n_tokens = (int64_t)r->arrivals[i].n_pieces;
}

void reply_settle_tokens(struct reply *r, const struct exchange *x, int64_t total)
{
    settle_reasoning(r, total);
    choose_tokens(r, x);
    prove_single_tokens(r);
}
