/* recording_write.h - a run's exchanges as a recording: manifest.json and one JSON Lines file for each of them. */
#ifndef CORE_IO_RECORDING_WRITE_H
#define CORE_IO_RECORDING_WRITE_H

#include "core/base/error.h"
#include "core/model/run.h"

/* Makes the folder; what is in it under the same names is replaced, the manifest last. recording_read() gives the same
 * exchanges, bytes and times back. */
MUST_CHECK enum status recording_write(const struct run *run, const char *dir, struct error *err);

#endif
