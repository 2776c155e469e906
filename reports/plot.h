/* plot.h - one picture drawn by gnuplot: entropy by layer and alignment by turn, base against candidate. */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "core/base/error.h"
#include "reports/report.h"

/* `suffix` is ".svg" or ".png". Runs gnuplot, found on PATH, without a shell and for at most 20 seconds; ERR_IO when it
 * is absent, fails or takes longer. */
MUST_CHECK enum status plot_write(const struct report_input *in, const char *suffix, struct buf *out,
                                  struct error *err);

#endif
