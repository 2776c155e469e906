/* reply_tokens.h - whose count of tokens a reply has, once all of it was read. */
#ifndef CORE_CLIENT_REPLY_TOKENS_H
#define CORE_CLIENT_REPLY_TOKENS_H

#include "core/client/reply.h"

/* Settles the counts and where they are from, and the arrivals' tokens. `total`: as the server's usage tells; -1. */
void reply_settle_tokens(struct reply *r, const struct exchange *x, int64_t total);

#endif
