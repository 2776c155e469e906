/* live.h - replies from a live endpoint: asks, keeps what came in journals, and makes runs of it. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "cli/live_opts.h"
#include "core/base/error.h"
#include "core/client/address.h"
#include "core/client/head.h"
#include "core/client/journal.h"
#include "core/client/load.h"
#include "core/io/prompt.h"
#include "core/model/run.h"
#include "core/model/taskset.h"

#include <stdbool.h>
#include <stddef.h>

/* One endpoint under one prompt, and the run file that it is for. */
struct live_arm {
    const char *output; /* borrowed */
    const char *prompt_path;
    struct address endpoint;
    struct prompt prompt;
    bool has_prompt;
    struct head head;
    struct journal journal;
    struct run before;
    char *model;        /* owned: as asked; "" where the server chooses */
    char *journal_path; /* owned */
    struct buf sampling;
};

enum { LIVE_MAX_ARMS = 2 };

struct live {
    const struct live_options *options;
    struct taskset tasks;
    struct live_arm arms[LIVE_MAX_ARMS];
    size_t n_arms;
    struct load_stats stats;
    size_t n_sessions_before; /* 1 when it was resumed */
};

void live_done(struct live *l);

/* Reads task set and prompts, opens the journals, and holds all conversations. A server that fails is no error here:
 * see live_settle(). */
MUST_CHECK enum status live_ask(struct live *l, const struct live_options *o, const char *taskset, const char *prompt,
                                const char *output, struct error *err);

/* False where it was interrupted before anything of arm `i` was finished: there is nothing to make a run of. */
bool live_has_run(const struct live *l, size_t i);

/* Gives a fresh run what arm `i` brought, and what is known of it. */
MUST_CHECK enum status live_fill(const struct live *l, size_t i, struct run *run, struct error *err);

/* --export-recording: the second arm's goes to a folder inside that is named for its run file. ERR_USAGE where a
 * recording stands there already. */
MUST_CHECK enum status live_export_check(const struct live_options *o, const char *output, struct error *err);

/* Replaces the recording of an earlier session. */
MUST_CHECK enum status live_export(const struct run *run, const struct live_options *o, const char *output,
                                   struct error *err);

/* After the run files are written: takes away the journals of what is finished, and says how it went: OK, ERR_IO for a
 * server that failed too often, ERR_NO_VERDICT for an interrupted run. */
MUST_CHECK enum status live_settle(const struct live *l, struct error *err);

#endif
