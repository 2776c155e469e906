/* repeats.h - the repeats of one run as so many runs: what a second measurement of the same version would have been. */
#ifndef CORE_GATE_REPEATS_H
#define CORE_GATE_REPEATS_H

#include "core/model/run.h"

/* Runs with cubes of their own; everything else is borrowed from the run. Attention has no repeats and is the same in
 * all of them. */
struct repeats {
    struct run *runs; /* owned: [n] */
    size_t n;
};

MUST_CHECK enum status repeats_init(struct repeats *r, const struct run *run, struct error *err);
void repeats_done(struct repeats *r);

#endif
