/* baseline.h - accepted runs under a name: DIR/NAME/{baseline.json, summary.json, run-<12 of its hash>.h5}. */
#ifndef CORE_GATE_BASELINE_H
#define CORE_GATE_BASELINE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>

enum { BASELINE_SCHEMA = 1 };

struct accepted {
    char *file; /* relative to the baseline's folder */
    char *reason;
    char *when_utc;
    struct sha256 hash; /* of the run file */
};

struct baseline {
    struct arena arena;
    char *name;
    char *dir; /* DIR/NAME */
    struct accepted *runs;
    size_t n_runs;
    struct accepted *dropped; /* no longer in it: reason and time are those of dropping */
    size_t n_dropped;
};

/* Copies the run files into the baseline and adds them to baseline.json, all or none; creates the baseline when it is
 * new. Refuses an incomplete run, one that is there already, and one that is not comparable with the others. Never
 * overwrites. */
MUST_CHECK enum status baseline_accept(const char *dir, const char *name, const char *const *run_paths, size_t n,
                                       const char *reason, struct error *err);

/* Takes runs out: `which` are their files or the first digits (six at least) of their hashes. Their files are deleted,
 * baseline.json keeps which and why. n 0: the whole baseline; the last run goes only so. */
MUST_CHECK enum status baseline_drop(const char *dir, const char *name, const char *const *which, size_t n,
                                     const char *reason, struct error *err);

/* ERR_NO_VERDICT when there is none of that name: the message has the command that makes one. */
MUST_CHECK enum status baseline_open(struct baseline *b, const char *dir, const char *name, struct error *err);
void baseline_done(struct baseline *b);

/* Reads run i and checks its hash. */
MUST_CHECK enum status baseline_run(const struct baseline *b, size_t i, struct run *ret, struct error *err);

/* Names of the baselines in `dir`, sorted; in `strings`. No such folder: none. */
MUST_CHECK enum status baseline_list(const char *dir, struct arena *strings, char ***ret_names, size_t *ret_n,
                                     struct error *err);

/* A name is letters, digits, '.', '_', '-', and does not begin with '.' or '-'. */
bool baseline_name_ok(const char *name);

#endif
