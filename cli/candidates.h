/* candidates.h - the runs that are judged: one, or several of one version. */
#ifndef CLI_CANDIDATES_H
#define CLI_CANDIDATES_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stddef.h>

struct candidates {
    struct run *runs; /* owned: [n] */
    size_t n;
    char *name; /* owned: as shown */
};

/* Reads the run files; ERR_USAGE when two of them are the same to the last byte: it would look like a run without
 * noise. */
MUST_CHECK enum status candidates_read(struct candidates *c, const char *const *paths, size_t n, struct error *err);
void candidates_done(struct candidates *c);

#endif
