/* earlier.h - what an earlier session of a run finished, so that only the rest is asked. */
#ifndef CORE_CLIENT_EARLIER_H
#define CORE_CLIENT_EARLIER_H

#include "core/base/error.h"
#include "core/client/plan.h"
#include "core/client/talk.h"
#include "core/model/run.h"

#include <stddef.h>

/* The exchanges of a run by task, repeat, turn; where one was asked twice, the last counts. */
struct earlier {
    const struct run *run; /* borrowed; NULL for none */
    size_t *order;         /* owned: [n] indices of exchanges */
    size_t n;
};

MUST_CHECK enum status earlier_init(struct earlier *e, const struct run *run, struct error *err);
void earlier_done(struct earlier *e);

/* The exchange, or NULL. */
const struct exchange *earlier_find(const struct earlier *e, const char *task, int64_t turn, int64_t repeat);

/* Moves a conversation at its first turn past all that was answered before. `ret_over`: nothing of it is left to ask;
 * `ret_refused`: since a turn was refused as too long, so that what is missing of the rest need not be asked. */
MUST_CHECK enum status earlier_skip(const struct earlier *e, struct talk *t, bool uses_reference, bool *ret_over,
                                    bool *ret_refused, struct error *err);

#endif
