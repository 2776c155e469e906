/* stream_read.h - one file of a recording: a line of meta, then a line for each read with its time and bytes. */
#ifndef CORE_IO_STREAM_READ_H
#define CORE_IO_STREAM_READ_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>

/* Fills all of `x` but task, turn and repeat, and appends its events and bytes to the run. Errors name file and line.
 * The bytes of all files together may not pass `max_bytes`. */
MUST_CHECK enum status stream_read(struct run *run, const char *path, size_t max_bytes, struct exchange *x,
                                   struct error *err);

#endif
