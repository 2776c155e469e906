/* halves.h - the tasks of one run in two halves, drawn at random, as if they were two runs of the same tasks: all that
 * one run can say of noise. Their values differ as tasks differ, which is at least as much as those of independent
 * reruns would; what moves all tasks of a run together, one run cannot show. */
#ifndef CORE_GATE_HALVES_H
#define CORE_GATE_HALVES_H

#include "core/model/run.h"

enum { HALVES_LEAST_TASKS = 4 };

/* Two runs of n / 2 tasks with the same ids and cubes of their own, without those whose noise is the run's; everything
 * else is borrowed from the run that they were made of. */
struct halves {
    const struct run *from; /* borrowed                                 */
    struct run runs[2];     /* owned cubes                              */
    size_t *order;          /* owned: [n tasks] the first n / 2 are those of the first half, then those of the second */
    size_t n;               /* tasks of a half                          */
};

/* ERR_USAGE for a run of fewer than HALVES_LEAST_TASKS tasks. */
MUST_CHECK enum status halves_init(struct halves *h, const struct run *run, struct error *err);
void halves_done(struct halves *h);

/* The `draw`-th way to halve the tasks, by the seed. */
void halves_draw(struct halves *h, uint64_t seed, uint64_t draw);

#endif
