/* lost.h - values that the base has and the candidate should have: a gate that passes over them passes on nothing. */
#ifndef CORE_GATE_LOST_H
#define CORE_GATE_LOST_H

#include "core/gate/judgement.h"

struct lost {
    size_t n, n_base;   /* values lost, of those that the base has  */
    struct where first; /* where the first stands, by label; -1 and NULL where the metric has not the axis */
};

/* Compares one metric of one base run with one candidate run. A turn whose request failed in the candidate is not
 * counted: the policy's max_errors judges those. */
MUST_CHECK enum status lost_count(struct lost *ret, const struct run *base, const struct run *cand, const char *metric,
                                  struct error *err);

#endif
