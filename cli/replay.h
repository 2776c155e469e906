/* replay.h - where a run's replies come from: a recording, or an earlier run, whose results are kept aside. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>

/* Strings are borrowed from the arena of the run that was opened with it. */
struct replay {
    bool is_run; /* an earlier run; the rest is empty for a recording */
    struct axes axes;
    struct cube *cubes; /* owned */
    size_t n_cubes;
    struct fingerprints fingerprints; /* owned */
    struct note *notes;               /* owned */
    size_t n_notes;
    struct dump_source *dumps;
    size_t n_dumps;
};

/* Gives a fresh run its observations and what is known of them. `path` NULL: none. */
MUST_CHECK enum status replay_open(struct replay *r, struct run *run, const char *path, struct error *err);
void replay_done(struct replay *r);

/* Labels of the earlier run's axes, so that its cubes fit; before compute_axes(). */
MUST_CHECK enum status replay_axes(const struct replay *r, struct run *run, struct error *err);

/* The earlier run's attention cubes, fingerprints and notes as they are; after the computes. */
MUST_CHECK enum status replay_copy_attention(const struct replay *r, struct run *run, struct error *err);

/* Whether words of replies were left out of the run when it was made. */
bool replay_is_redacted(const struct run *run);

/* What was computed from words that are gone: the stored values and notes of those replies; after compute_replies(). */
MUST_CHECK enum status replay_restore_redacted(const struct replay *r, struct run *run, struct error *err);

/* Says so when the recording at `path` names dumps and none is used: its attention would stay out without a word. */
MUST_CHECK enum status replay_mention_dumps(const char *path, size_t n_used, struct error *err);

#endif
