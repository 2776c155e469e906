/* capacity.h - what a baseline lets a policy decide, before there is a candidate: a metric that cannot show a move as
 * large as its margin cannot gate, and whoever writes the policy or accepts the runs should hear it then. */
#ifndef CORE_GATE_CAPACITY_H
#define CORE_GATE_CAPACITY_H

#include "core/base/arena.h"
#include "core/gate/judgement.h"

#include <stdbool.h>
#include <stddef.h>

struct capacity_metric {
    const char *metric, *unit;
    enum noise noise;
    size_t n;        /* tasks; of a metric that is tested over runs, runs on each side */
    double p_min;    /* smallest p, adjusted for the other primary metrics             */
    double mde;      /* smallest move that is found with power 0.8; NaN not known      */
    double margin;   /* NaN: none */
    size_t n_needed; /* tasks, or runs on each side, with which it would gate; 0: as it is, or not known */
    bool can_gate;   /* false only where that is known */
    const char *words;
};

struct capacity {
    struct arena arena;              /* owns the table and its texts */
    struct capacity_metric *metrics; /* the primary metrics that a run has */
    size_t n_metrics;
};

/* runs: [n_runs], 1 at least, accepted as one baseline. Noise is what they differ by among themselves: one run shows
 * none. Latencies are taken to be tested against as many candidate runs. */
MUST_CHECK enum status capacity_find(struct capacity *ret, const struct run *runs, size_t n_runs,
                                     const struct policy *policy, struct error *err);
void capacity_done(struct capacity *c);

#endif
