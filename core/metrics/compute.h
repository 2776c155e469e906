/* compute.h - one pass over the observations of a run, handing each to every metric that reads it. */
#ifndef CORE_METRICS_COMPUTE_H
#define CORE_METRICS_COMPUTE_H

#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/metrics/attention_options.h"
#include "core/model/run.h"
#include "core/model/taskset.h"
#include "kernels/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* Extends the run's axes by the tasks, turns, repeats of its exchanges and of the dumps' samples, and by the dumps'
 * layers and heads. With a task set: its order of tasks; an id that it has not is ERR_FORMAT, "task 'x' is not in the
 * task set". Call once, before the computes. The same (sample id, layer) in two dumps is ERR_FORMAT. */
MUST_CHECK enum status compute_axes(struct run *run, const struct taskset *tasks, struct dump *const *dumps,
                                    size_t n_dumps, struct error *err);

/* Cubes of every metric with of_reply or of_workload; a metric with no value at all adds no cube. `tasks` may be NULL.
 * Where a reply's words were left out, metrics that compare_words have no value and are not noted. */
MUST_CHECK enum status compute_replies(struct run *run, const struct taskset *tasks, struct error *err);

/* Whether notes with this code tell of the replies' words: they cannot be found again where those were left out. */
bool compute_notes_words(const char *code);

/* Cubes of every metric with of_turns, from the cubes that are there; compute_replies() ends with it. Forgetting drops
 * them, for runs that are joined: a conversation may lie in parts. */
MUST_CHECK enum status compute_turns(struct run *run, struct error *err);
void compute_forget_turns(struct run *run);

/* Cubes of every metric of heads or layers, and their fingerprints, streaming the dumps in tiles of at most `memory`
 * bytes. Notes rows that are NaN, zero, negative or off 1; ERR_FORMAT when over 1 % of rows are off by over 2 %, when
 * weights are negative or infinite, when there is no valid row, and where `options` refuse NaN. The run keeps the
 * options, and each dump has its source.content then. */
MUST_CHECK enum status compute_attention(struct run *run, struct dump *const *dumps, size_t n_dumps,
                                         const struct attention_options *options, const struct backend *backend,
                                         size_t memory, struct error *err);

#endif
