/* spread.h - how much runs differ among themselves: run-noise metrics, and margins in terms of it. */
#ifndef CORE_GATE_SPREAD_H
#define CORE_GATE_SPREAD_H

#include "core/gate/family.h"

/* The family's margin in the metric's unit; NaN when the policy gives none, or names the deviation between runs and
 * the base has not two. */
double spread_margin(const struct tested *t, const struct comparison *c);

/* A metric whose unit is the run: what the rule's stat says of each run, and the t test over them. Runs that show no
 * noise, one on each side above all, have no verdict. */
MUST_CHECK enum status spread_runs(struct tested *t, const struct comparison *c, struct error *err);

/* Verdict and words, once p is adjusted. */
MUST_CHECK enum status spread_judge(struct tested *t, const struct comparison *c, struct arena *texts,
                                    struct error *err);

/* "mean", "p50", … of n values; reorders them; NULL is the mean. NaN when n is 0. */
double spread_stat(const char *stat, double *values, size_t n);

/* The same of all values that a run has of a metric. */
MUST_CHECK enum status spread_run_stat(const struct run *r, const char *metric, const char *stat, double *ret,
                                       struct error *err);

#endif
