/* recording.h - a folder of byte streams: manifest.json and one JSON Lines file for each task, turn and repeat. */
#ifndef CORE_IO_RECORDING_H
#define CORE_IO_RECORDING_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>

enum { RECORDING_SCHEMA = 1 };

/* Adds the exchanges, and what the manifest says of the model, prompt, sampling and place, to a run that has none yet.
 * Every file is named relative to the folder and may not lead out of it. */
MUST_CHECK enum status recording_read(struct run *run, const char *dir, struct error *err);

/* Paths of the attention dumps that the manifest names, in `arena`. */
MUST_CHECK enum status recording_dumps(const char *dir, struct arena *arena, char ***ret, size_t *ret_n,
                                       struct error *err);

/* True when the folder has a manifest.json. */
bool recording_is(const char *dir);

#endif
