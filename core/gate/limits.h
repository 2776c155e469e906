/* limits.h - the policy's absolute limits, judged on the candidate alone. */
#ifndef CORE_GATE_LIMITS_H
#define CORE_GATE_LIMITS_H

#include "core/gate/family.h"

/* Fills j's limits: a result for every cell that breaks one, and one over all where none does. A cell is a layer and
 * head, else a turn; of a run-noise metric there is one. Its value is the rule's stat over tasks. */
MUST_CHECK enum status limits_check(struct judgement *j, const struct comparison *c, struct error *err);

/* How many results from `first` on are of the same limit: they stand together, the worst of what the candidate alone
 * breaks first, and limits that fail the gate stand before the others. */
size_t limits_of_one(const struct judgement *j, size_t first);

/* A broken limit that fails: severity "fail", and the base keeps it. */
bool limit_fails(const struct limit_result *r);

#endif
