/* sample_run.h - a small run with something in every part of it. */
#ifndef TESTS_SUPPORT_SAMPLE_RUN_H
#define TESTS_SUPPORT_SAMPLE_RUN_H

#include "core/model/run.h"

/* Two tasks, three turns, layers 0 and 17, four heads; cubes latency.ttft, attn.entropy and the single x.scalar; two
 * exchanges with two reads each; two dumps, one note, a task set's text. Release with run_done(). */
void sample_run(struct run *r);

#endif
