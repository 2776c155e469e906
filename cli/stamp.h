/* stamp.h - the provenance of a run: which dumps, which tare, which machine, when. */
#ifndef CLI_STAMP_H
#define CLI_STAMP_H

#include "cli/inputs.h"
#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stdint.h>

/* Dumps and what they say of model, weights and prompt; notes where they and the replies disagree. */
MUST_CHECK enum status stamp_dumps(struct run *run, const struct inputs *in, const struct replay *replay,
                                   struct error *err);

/* A task, turn and repeat of the task set without a request makes the run a partial one; only where there are
 * requests. */
MUST_CHECK enum status stamp_complete(struct run *run, const struct taskset *tasks, struct error *err);

/* Tool, seed, place and time; `is_reproducible` leaves place and time out. */
MUST_CHECK enum status stamp_tool(struct run *run, uint64_t seed, bool is_reproducible, struct error *err);

#endif
