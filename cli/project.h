/* project.h - tare.json: defaults for what the command line leaves out, so that CI is `tare run && tare gate`. */
#ifndef CLI_PROJECT_H
#define CLI_PROJECT_H

#include "cli/opt.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/json.h"

#include <stdbool.h>

#define PROJECT_FILE "tare.json"

enum { PROJECT_SCHEMA = 1 };

struct project {
    struct arena arena; /* owns the values that were handed to options */
    struct json doc;    /* root is NULL without a project file         */
    char *dir;          /* paths in the file are relative to it        */
};

/* `path` NULL: ./tare.json where there is one. A bad file is ERR_USAGE with file and JSON pointer. */
MUST_CHECK enum status project_read(struct project *p, const char *path, struct error *err);
void project_done(struct project *p);

/* Gives every option that has a key and was not given its value from the file. Naming a source (--endpoint, --replay,
 * --dump) on the command line sets all of the file's aside: they belong together. `o` borrows from `p`. */
MUST_CHECK enum status project_apply(struct project *p, struct opts *o, struct error *err);

/* A text or path of the file, or NULL; borrowed from `p`. */
MUST_CHECK enum status project_text(struct project *p, const char *key, const char **ret, struct error *err);

#endif
