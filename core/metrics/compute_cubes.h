/* compute_cubes.h - one cube a metric while a pass over the observations fills them. */
#ifndef CORE_METRICS_COMPUTE_CUBES_H
#define CORE_METRICS_COMPUTE_CUBES_H

#include "core/metrics/metric.h"
#include "core/model/cube.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>

struct metric_cubes {
    const struct metric **metrics; /* owned: [n], those that `reads` accepted */
    struct cube *cubes;            /* owned: [n]                              */
    size_t n;
};

/* Empty cubes for every metric that `reads` accepts, over the run's axes. */
MUST_CHECK enum status metric_cubes_init(struct metric_cubes *m, const struct run *run,
                                         bool (*reads)(const struct metric *metric), struct error *err);
void metric_cubes_done(struct metric_cubes *m);

/* Moves the cubes that hold at least one value into the run. */
MUST_CHECK enum status metric_cubes_keep(struct metric_cubes *m, struct run *run, struct error *err);

#endif
