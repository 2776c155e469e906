/* divergence.h - attn.distance_js: how far two runs' heads put their weight at other distances, where the mean entropy
 * may stay. It is computed here, from the profiles that each run keeps. */
#ifndef CORE_GATE_DIVERGENCE_H
#define CORE_GATE_DIVERGENCE_H

#include "core/gate/family.h"

/* Jensen-Shannon divergence in bits of two profiles of n shares: 0 to 1. */
double divergence_js(const double *p, const double *q, size_t n);

/* The metric as a cube without values; its texts are static. */
struct cube divergence_cube(void);
bool divergence_is(const char *metric);

/* Whether the run has what it is computed from. */
bool divergence_measured(const struct run *r);

/* Tasks and cells of the first candidate run with profiles. `cand` is the mean over pairs of a run of each side, `base`
 * that over pairs within a side and NaN without one, `diff` what is beyond that, or `cand` itself. With three runs or
 * more, the same under each exchange of the runs that have the task. */
MUST_CHECK enum status divergence_pairs(struct pairs *p, const struct comparison *c, struct error *err);

/* One run against one: the mean, the head that is furthest, how many are beyond the margin; no p and no verdict. */
MUST_CHECK enum status divergence_describe(struct tested *t, const struct comparison *c, struct arena *texts,
                                           struct error *err);

/* Keeps the mean of every cell in the judgement. */
MUST_CHECK enum status divergence_keep(struct judgement *j, const struct tested *t, struct error *err);

#endif
