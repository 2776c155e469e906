/* recording.h - a folder of byte streams: manifest.json and one JSON Lines file for each task, turn and repeat. */
#ifndef CORE_IO_RECORDING_H
#define CORE_IO_RECORDING_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>

/* Adds the exchanges, and what the manifest says of the model, prompt, sampling and place, to a run that has none yet.
 * Every file is named relative to the folder and may not lead out of it. */
MUST_CHECK enum status recording_read(struct run *run, const char *dir, struct error *err);

#endif
