/* overall.h - from families and limits to the one verdict, its reasons and its exit code. */
#ifndef CORE_GATE_OVERALL_H
#define CORE_GATE_OVERALL_H

#include "core/gate/family.h"

/* j's families, findings, limits, changes and not_measured are filled; t: [j->n_families], in their order. */
MUST_CHECK enum status overall_judge(struct judgement *j, const struct comparison *c, const struct tested *t,
                                     struct error *err);

#endif
