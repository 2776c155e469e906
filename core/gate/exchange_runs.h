/* exchange_runs.h - runs of which each task's values changed places among them: what reruns could as well have been. */
#ifndef CORE_GATE_EXCHANGE_RUNS_H
#define CORE_GATE_EXCHANGE_RUNS_H

#include "core/model/run.h"

#include <stdbool.h>

/* Copies with cubes of their own; everything else is borrowed from the runs that they were made of. */
struct exchanged {
    const struct run *from; /* borrowed: [n] */
    struct run *runs;       /* owned: [n]    */
    size_t n;
};

/* True when all runs have the same tasks, turns, repeats, layers and heads in the same order, and the same cubes. */
bool exchanged_can(const struct run *runs, size_t n);

MUST_CHECK enum status exchanged_init(struct exchanged *x, const struct run *runs, size_t n, struct error *err);
void exchanged_done(struct exchanged *x);

/* The `draw`-th exchange: a random order of the runs for each task, by seed and the task's id, the same for all cubes
 * whose noise is the task's. A cube whose noise is the run's goes whole to the run `draw` places on. */
void exchanged_draw(struct exchanged *x, uint64_t seed, uint64_t draw);

#endif
