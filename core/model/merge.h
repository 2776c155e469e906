/* merge.h - shards or repeats of one run made one. */
#ifndef CORE_MODEL_MERGE_H
#define CORE_MODEL_MERGE_H

#include "core/base/error.h"
#include "core/model/run.h"

/* Adds everything of `from` to `into`: axes, exchanges with their bytes, cubes, dumps, notes. Both must be of the same
 * task set, prompt, model, weights, sampling, metric definitions and kind of machine, where both say: else
 * ERR_NO_VERDICT names what differs. Where a task, turn and repeat was asked in both, `from` is another repeat: its
 * repeats are counted on from those of `into`. A cell without repeats (attention) that both have must hold the same
 * value: else ERR_FORMAT. Replies that both hold to the
 * nanosecond are no repeats: ERR_USAGE. On failure `into` may be half merged: release it. */
MUST_CHECK enum status run_merge(struct run *into, const struct run *from, struct error *err);

#endif
