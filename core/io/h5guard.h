/* h5guard.h - reading a foreign HDF5 file is tried in a child process first: HDF5 1.10 has memory errors and endless
 * loops on damaged files that no caller can check for, and they must not end the program. */
#ifndef CORE_IO_H5GUARD_H
#define CORE_IO_H5GUARD_H

#include "core/base/error.h"

/* ERR_FORMAT when `attempt` ends the child other than by returning; what it returns does not matter here. Where no
 * child can be made, nothing is tried and the result is OK. */
MUST_CHECK enum status h5guard_try(const char *path, void (*attempt)(const char *path), struct error *err);

/* The same for an attempt that needs to know more. */
MUST_CHECK enum status h5guard_call(const char *path, void (*attempt)(const char *path, const void *context),
                                    const void *context, struct error *err);

#endif
