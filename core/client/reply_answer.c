#include "core/client/reply.h"

bool reply_has_answer(const struct reply *r)
{
    if (r->state == REPLY_EMPTY)
        return r->finish_reason.len > 0;
    return r->state == REPLY_OK;
}
