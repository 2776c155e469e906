/* taskset_read.h - a task set folder, or the text of its taskset.json, to struct taskset. */
#ifndef CORE_IO_TASKSET_READ_H
#define CORE_IO_TASKSET_READ_H

#include "core/base/error.h"
#include "core/io/prompt.h"
#include "core/model/taskset.h"

enum { TASKSET_SCHEMA = 1 };

/* `path`: the folder or its taskset.json. Errors name file and JSON pointer; an unknown key is one. */
MUST_CHECK enum status taskset_read(struct taskset *ret, const char *path, struct error *err);
MUST_CHECK enum status taskset_parse(struct taskset *ret, const char *name, const char *text, size_t len,
                                     struct error *err);

#endif
