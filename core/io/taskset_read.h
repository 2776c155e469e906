/* taskset_read.h - a task set folder, or the text of its taskset.json, to struct taskset; prompt versions. */
#ifndef CORE_IO_TASKSET_READ_H
#define CORE_IO_TASKSET_READ_H

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/model/taskset.h"

/* `path`: the folder or its taskset.json. Errors name file and JSON pointer. */
MUST_CHECK enum status taskset_read(struct taskset *ret, const char *path, struct error *err);
MUST_CHECK enum status taskset_parse(struct taskset *ret, const char *name, const char *text, size_t len,
                                     struct error *err);

/* A prompt version: checked against the format, its text and hash kept. */
struct prompt {
    char *version; /* owned */
    char *json;    /* owned: the file's text */
    struct sha256 hash;
};

MUST_CHECK enum status prompt_read(struct prompt *ret, const char *path, struct error *err);
void prompt_done(struct prompt *p);

#endif
