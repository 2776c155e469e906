/* inputs.h - what a run is computed from besides its replies: task set, prompt version, attention dumps; and that all
 * of them belong together. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/replay.h"
#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/model/run.h"
#include "core/model/taskset.h"

#include <stddef.h>

struct inputs {
    struct taskset taskset;      /* when `tasks` is not NULL                        */
    const struct taskset *tasks; /* NULL without one                                */
    struct dump *dumps;          /* owned                                           */
    struct dump **dump_list;     /* owned: their addresses, as the computes want it */
    size_t n_dumps;
    bool copies_attention; /* the dumps of the replayed run are gone or changed: its cubes stand for them */
};

void inputs_done(struct inputs *in);

/* The task set: `path`, or the text that a replayed run brings. Another version than the replies were recorded with is
 * ERR_FORMAT. */
MUST_CHECK enum status inputs_taskset(struct inputs *in, struct run *run, const char *path, struct error *err);

/* The prompt version: `path`; NULL keeps what the recording says. Another one than it names is ERR_FORMAT. */
MUST_CHECK enum status inputs_prompt(struct run *run, const char *path, struct error *err);

/* Waits for the hashes of the dumps; says which dumps of the replayed run are not among them. Call it when the dumps
 * have been measured. */
MUST_CHECK enum status inputs_settle(struct inputs *in, const struct replay *replay, struct error *err);

/* The dumps, whose hashes may still be on their way: `paths`, or those of a replayed run where they are found
 * unchanged, which may mean to read them in tiles of `memory` bytes; read as `options` say. */
MUST_CHECK enum status inputs_dumps(struct inputs *in, struct run *run, const struct replay *replay,
                                    const char *const *paths, size_t n, const struct dump_options *options,
                                    size_t memory, struct error *err);

#endif
