/* report.h - runs and judgements to bytes; one format a file, chosen by the output's suffix. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/gate/calibrate.h"
#include "core/gate/judgement.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>

/* What there is to show; base and judgement are NULL for a report on one run,
 * base alone where nothing could be compared: the judgement has the reason. */
struct report_input {
    const struct run *base; /* [n_base] */
    size_t n_base;
    const struct run *cand; /* [n_cand], 1 at least */
    size_t n_cand;
    const struct judgement *judgement;
    const char *base_name, *cand_name;     /* as the user named them */
    size_t max_findings;                   /* in JUnit and Markdown; the rest is counted */
    bool is_gate;                          /* the verdict decides, not only informs      */
    int exit_code;                         /* what the command will exit with            */
    const struct calibration *calibration; /* of the baseline; NULL without one */
    bool is_verbose;                       /* the terminal's view with every number      */
};

struct report {
    const char *suffix; /* ".junit.xml" before ".xml": the longest matching suffix wins */
    const char *name, *help;
    void (*write)(const struct report_input *in, struct buf *out); /* NULL for plots, which reports_write() draws */
};

/* NULL, and a list of the suffixes in `err`, when no format has that suffix. */
MUST_CHECK enum status report_find(const char *path, const struct report **ret, struct error *err);
const struct report *const *reports_all(size_t *ret_n);

/* Checks every path's suffix first, then writes each atomically. */
MUST_CHECK enum status reports_write(const struct report_input *in, const char *const *paths, size_t n,
                                     struct error *err);

/* The terminal's view: verdict, changes, table, findings. `colour`: ANSI colours. */
void report_terminal(const struct report_input *in, bool colour, struct buf *out);

#endif
