/* onset.h - from which layer on two runs differ, by the digests of what attention was stored in: a layer below the
 * change has the same bits, however small the change is. */
#ifndef CORE_GATE_ONSET_H
#define CORE_GATE_ONSET_H

#include "core/gate/family.h"

/* Fills j->onset, against the base run that shares most with the candidate; after the findings and changes. Left empty
 * where no digest is in both. The words are careful: they suggest, and claim no cause. */
MUST_CHECK enum status onset_find(struct judgement *j, const struct comparison *c, struct error *err);

#endif
