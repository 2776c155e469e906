#include "core/metrics/compute_cubes.h"

#include "core/base/mem.h"
#include "core/metrics/registry.h"

#include <stdlib.h>
#include <string.h>

enum status metric_cubes_init(struct metric_cubes *m, const struct run *run, bool (*reads)(const struct metric *metric),
                              struct error *err)
{
    size_t n_all, i;
    const struct metric *const *all = metrics_all(&n_all);

    memset(m, 0, sizeof *m);
    TRY(mem_new(n_all, sizeof *m->metrics, &m->metrics, err));
    TRY(mem_new(n_all, sizeof *m->cubes, &m->cubes, err));
    for (i = 0; i < n_all; i++) {
        const struct metric *metric = all[i];
        struct cube *c = &m->cubes[m->n];

        if (!reads(metric))
            continue;
        m->metrics[m->n++] = metric;
        TRY(cube_init(c, metric->name, metric->version, metric->axes, &run->axes, err));
        TRY(cube_describe(c, metric->unit, metric->help, metric->better, metric->noise, err));
    }
    return OK;
}

void metric_cubes_done(struct metric_cubes *m)
{
    size_t i;

    for (i = 0; i < m->n; i++)
        cube_done(&m->cubes[i]);
    free(m->metrics);
    free(m->cubes);
    memset(m, 0, sizeof *m);
}

enum status metric_cubes_keep(struct metric_cubes *m, struct run *run, struct error *err)
{
    size_t i;

    for (i = 0; i < m->n; i++)
        if (cube_count(&m->cubes[i]))
            TRY(run_add_cube(run, &m->cubes[i], err));
    return OK;
}
