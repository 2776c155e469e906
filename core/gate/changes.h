/* changes.h - what differs between where two runs come from; said before any number. */
#ifndef CORE_GATE_CHANGES_H
#define CORE_GATE_CHANGES_H

#include "core/gate/judgement.h"

/* Fills changes and causes_confounded; texts go into j's arena. */
MUST_CHECK enum status changes_find(struct judgement *j, const struct run *base, const struct run *cand,
                                    struct error *err);

/* False when the runs' prompts, or those of their dumps, are known to differ. */
bool changes_prompt_equal(const struct run *base, const struct run *cand);

/* Latencies compare only where both were observed on the same hardware and server, and neither by a client that was
 * itself the bottleneck. NULL then; else why they do not, a text in j's arena. */
MUST_CHECK enum status changes_machine(struct judgement *j, const struct run *base, const struct run *cand,
                                       const char **ret, struct error *err);

#endif
