/* view.h - one run's cube, addressed by the labels of another run. */
#ifndef CORE_GATE_VIEW_H
#define CORE_GATE_VIEW_H

#include "core/model/run.h"

struct view {
    const struct cube *cube; /* borrowed; NULL: the run has not the metric */
    size_t *index[N_AXES];   /* owned: [by->n[axis]] index in the run, SIZE_MAX where it has not the label */
};

/* `run` seen by the labels of `by`. */
MUST_CHECK enum status view_init(struct view *v, const struct run *run, const struct axes *by, const char *metric,
                                 struct error *err);
void view_done(struct view *v);

/* The mean over the run's repeats at the task, turn, layer and head of `by`; NaN when there is none. */
double view_value(const struct view *v, const size_t at[N_AXES]);

#endif
