/* calibrate.h - from runs that should be the same: how large noise is, how often the gate cries wolf, what it finds.
 *
 * One run can be resampled: its tasks are halved at random again and again, and the halves stand for two runs
 * (core/gate/halves.h). What it says of noise is then an upper bound of what the noise of tasks may do, in samples half
 * as large; of the noise from run to run it says nothing. */
#ifndef CORE_GATE_CALIBRATE_H
#define CORE_GATE_CALIBRATE_H

#include "core/gate/judgement.h"

enum { CALIBRATION_SHIFTS = 2, CALIBRATION_RUNS = 100, CALIBRATION_POWER_TRIALS = 100 };

/* Shifts of every cell, in margins, for which power is stated: one of just the margin is found half the time. */
extern const double calibration_shift[CALIBRATION_SHIFTS];

struct calibration_metric {
    const char *metric, *unit;
    enum noise noise;
    enum role role;
    double margin;
    double mean_sd;    /* deviation of a task's difference between two runs, of its mean over cells; of a run-noise
                          metric the deviation between runs; of one run, of the difference of two tasks           */
    double cell_sd;    /* the same of the noisiest cell */
    struct where cell; /* which one                     */
    size_t n_trials;   /* 0: no margin, or tested over runs */
    size_t n_found[CALIBRATION_SHIFTS];
};

/* How often each verdict came out where nothing had changed. */
struct calibration_count {
    size_t n, of[VERDICT_REGRESSED + 1];
};

struct calibration {
    struct arena arena; /* owns metrics and texts */
    size_t n_runs, n_tasks;
    const char *policy_name;
    double alpha;
    uint64_t seed;
    struct calibration_count pairs;     /* every run against every other one                                        */
    struct calibration_count exchanged; /* one run against the others, after the runs of each task changed places    */
    struct calibration_count halves;    /* of one run: half of its tasks against the other half                      */
    bool can_exchange;                  /* false: the runs have not the same tasks, turns, layers; then none of these */
    struct calibration_metric *metrics;
    size_t n_metrics;
};

/* Each run comparable with the others (ERR_NO_VERDICT when not). n_exchanges: how many relabelled sets, or halves of
 * one run, are judged; of halves the policy's limits are not, and nothing is required. Pure: runs, policy and seed give
 * the numbers. */
MUST_CHECK enum status calibrate(struct calibration *ret, const struct run *runs, size_t n_runs,
                                 const struct policy *policy, uint64_t seed, size_t n_exchanges, struct error *err);
void calibration_done(struct calibration *c);

/* Verdicts that would have stopped or questioned a release: regressed or changed. */
size_t calibration_alarms(const struct calibration_count *c);

#endif
