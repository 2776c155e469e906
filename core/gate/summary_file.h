/* summary_file.h - DIR/NAME/summary.json: one line a metric, small enough to commit and to read in a diff. */
#ifndef CORE_GATE_SUMMARY_FILE_H
#define CORE_GATE_SUMMARY_FILE_H

#include "core/base/file.h"
#include "core/gate/baseline.h"

/* n tasks with a value, mean and deviation (ddof 1) over the tasks' means, unit; of all accepted runs together.
 * Written when `ret`, which the caller owns, is committed. */
MUST_CHECK enum status summary_file_begin(struct outfile *ret, const struct baseline *b, const struct run *runs,
                                          size_t n_runs, struct error *err);

#endif
