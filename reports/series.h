/* series.h - simple means of two sides of a comparison, found by label; for pictures only, nothing here decides. */
#ifndef REPORTS_SERIES_H
#define REPORTS_SERIES_H

#include "core/model/span.h"
#include "reports/report.h"

#include <stdbool.h>
#include <stddef.h>

enum side { SIDE_BASE, SIDE_CAND };

/* Which task each task of the first candidate run is in every run. */
struct series {
    const struct report_input *in;
    size_t *task[2]; /* owned: by side, its runs x tasks; SIZE_MAX where a run has it not */
};

MUST_CHECK enum status series_init(struct series *s, const struct report_input *in, struct error *err);
void series_done(struct series *s);

/* The first candidate run's cube, or NULL. */
const struct cube *series_cube(const struct series *s, const char *metric);
bool series_has(const struct series *s, enum side side, const char *metric);

/* The mean over tasks at `where`, averaged over the runs of that side; lo and hi: the range of the means along `spread`
 * (over heads, say), or of the tasks when spread is AXIS_TASK. n = 0: nothing there. */
struct span series_at(const struct series *s, enum side side, const char *metric, const struct where *where,
                      enum axis spread);

/* Mean over the tasks that both have. */
struct paired {
    size_t n;
    double base, cand, delta;
};
struct paired series_paired(const struct series *s, const char *metric, const struct where *where);

/* One task of the first candidate run. */
struct paired series_task(const struct series *s, const char *metric, size_t task);

/* A `where` over everything. */
struct where series_all(void);

#endif
