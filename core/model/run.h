/* run.h - one run in memory: provenance, raw observations, cubes. core/io reads and writes it. */
#ifndef CORE_MODEL_RUN_H
#define CORE_MODEL_RUN_H

#include "core/base/arena.h"
#include "core/model/axes.h"
#include "core/model/cube.h"
#include "core/model/exchange.h"
#include "core/model/fingerprints.h"
#include "core/model/provenance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something a reader of the run must know: "3 rows of 'd1' sum to 0.9". */
struct note {
    char *code; /* stable word: "row-sum", "tokens-from-chunks", … */
    char *text;
};

struct run {
    struct arena arena; /* owns every string of the run */
    struct provenance provenance;
    struct axes axes;
    struct exchange *exchanges;
    size_t n_exchanges, cap_exchanges;
    struct read_event *events;
    size_t n_events, cap_events;
    unsigned char *bytes; /* everything that was received, end to end */
    size_t n_bytes, cap_bytes;
    char *taskset_json; /* texts of the inputs, so that the run can be replayed from its own file; NULL without one */
    char *prompt_json;
    struct cube *cubes;
    size_t n_cubes, cap_cubes;
    struct fingerprints fingerprints; /* owned; of attention, over the run's axes */
    struct note *notes;
    size_t n_notes, cap_notes;
};

/* A zeroed struct run with every text of the provenance "". */
MUST_CHECK enum status run_init(struct run *r, struct error *err);
void run_done(struct run *r);

/* run_done() of each of the first n, and the list itself, which may be NULL. */
void run_list_free(struct run *list, size_t n);

/* The cube of a metric, or NULL. */
struct cube *run_cube(const struct run *r, const char *metric);

/* Whether anything was measured of the task at that index: not of one that a sample left out. */
bool run_has_task(const struct run *r, size_t task);
size_t run_count_tasks(const struct run *r);

/* Moves `c` into the run; the run then owns it. ERR_INTERNAL when the metric is there already. */
MUST_CHECK enum status run_add_cube(struct run *r, struct cube *c, struct error *err);

/* A note is kept once: the same code and text again changes nothing. */
MUST_CHECK enum status run_note(struct run *r, struct error *err, const char *code, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

#endif
