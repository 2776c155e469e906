/* pairs.h - the values of one metric in the base runs and in the candidate's, matched task by task and cell by cell. */
#ifndef CORE_GATE_PAIRS_H
#define CORE_GATE_PAIRS_H

#include "core/gate/judgement.h"

/* Cells are (layer, head) or layers where the metric has them: turns and repeats are averaged within the task. Else
 * they are turns, else there is one. A last column holds the mean over the cells. A value that only one side has is no
 * pair; of several runs of a side the mean is taken. Tasks ascend by id, so that nothing hangs on their order in the
 * files. */
struct pairs {
    size_t n_tasks, n_cells, n_columns; /* n_columns = n_cells + 1                              */
    const char **task;                  /* owned table of [n_tasks] ids, borrowed from the run  */
    struct where *cell;                 /* owned: [n_columns]; -1 where a cell has not the axis */
    double *base, *cand, *diff;         /* owned: n_tasks x n_columns, NaN = no pair            */
    bool has_layers;

    /* With several runs on a side: each task's differences with its runs in other places, the real ones first; the
     * runs that have the task, candidates before base runs, move on by one place from row to row. These are few even
     * where the choices of m among k + m are many, and as a group of exchanges they are as valid. NULL for one run
     * against one. */
    size_t *n_options; /* owned: [n_tasks] rows of a task: the runs that have it            */
    double *exchanged; /* owned: n_rows x n_columns, NaN: no value there on one of the sides */
    size_t n_rows;
};

/* Of a metric that at least one run of each side has. Tasks and cells are those of the first candidate run that has it;
 * tasks without any pair are left out. */
MUST_CHECK enum status pairs_init(struct pairs *p, const struct run *base, size_t n_base, const struct run *cand,
                                  size_t n_cand, const char *metric, struct error *err);
void pairs_done(struct pairs *p);

/* Mean over a column's pairs; NaN when it has none. */
double pairs_mean(const struct pairs *p, const double *values, size_t column);

/* True when there are pairs and every difference is 0, between the base runs too. */
bool pairs_identical(const struct pairs *p);

#endif
