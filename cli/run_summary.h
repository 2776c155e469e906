/* run_summary.h - a run in a few lines, on standard error. */
#ifndef CLI_RUN_SUMMARY_H
#define CLI_RUN_SUMMARY_H

#include "core/model/cube.h"
#include "core/model/run.h"

/* Over the cells that are not missing; mean, min and max are NaN when n is 0. */
struct cube_range {
    size_t n;
    double mean, min, max;
};
struct cube_range cube_range(const struct cube *c);

/* What was read, each metric's mean, warnings, and where it went. Warnings come with --quiet too. */
void run_summary_say(const struct run *run, const char *path);

#endif
