/* place.h - where an output goes: not onto an input, and its folder is made when it is not there. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "core/base/error.h"

/* ERR_USAGE when `output` is a folder, "-", or the same file as `input`; `input` may be NULL or missing. */
MUST_CHECK enum status place_check(const char *output, const char *input, struct error *err);

/* Makes the folder that `output` lies in. */
MUST_CHECK enum status place_make(const char *output, struct error *err);

#endif
