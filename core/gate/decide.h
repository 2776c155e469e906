/* decide.h - the one rule: runs and a policy to a judgement. diff and gate, and all reports, use it. */
#ifndef CORE_GATE_DECIDE_H
#define CORE_GATE_DECIDE_H

#include "core/base/buf.h"
#include "core/gate/judgement.h"

/* One sentence in `err` and ERR_NO_VERDICT when the runs cannot be compared: another task set, sampling, way to
 * measure attention or metric version, no common task, an incomplete run. Looks at provenance and axes alone, before
 * any number is computed. */
MUST_CHECK enum status comparable_check(const struct run *base, const struct run *cand, struct error *err);

/* Appends the first thing that makes them runs of two versions, "prompt v1 and v2"; nothing where they may differ by
 * noise alone. */
MUST_CHECK enum status comparable_versions(const struct run *a, const struct run *b, struct buf *ret,
                                           struct error *err);

/* The runs of one side are of one version, or what they differ by is no noise: ERR_NO_VERDICT. The candidate's, which
 * no baseline has compared yet, are comparable_check()ed too. */
MUST_CHECK enum status comparable_base(const struct run *base, size_t n_base, struct error *err);
MUST_CHECK enum status comparable_candidates(const struct run *cand, size_t n_cand, struct error *err);

/* `base` has n_base runs (a baseline may hold several), `cand` n_cand of one version; all are borrowed and must outlive
 * `ret`. Pure: the same runs, policy and seed give the same judgement on any machine and for any order of tasks. */
MUST_CHECK enum status decide(struct judgement *ret, const struct run *base, size_t n_base, const struct run *cand,
                              size_t n_cand, const struct policy *policy, uint64_t seed, struct error *err);

/* --fail-on: a comma list of regressed, inconclusive, changed. What exit code the verdict has then: a regression fails
 * whether it is named or not. ERR_USAGE for another word. */
MUST_CHECK enum status decide_fail_on(const struct judgement *j, const char *fail_on, int *ret_exit, struct error *err);

#endif
