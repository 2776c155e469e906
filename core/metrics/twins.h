/* twins.h - replies that say the very same to different prompts. */
#ifndef CORE_METRICS_TWINS_H
#define CORE_METRICS_TWINS_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stddef.h>
#include <stdint.h>

enum { TWINS_MIN_BYTES = 16 }; /* shorter replies agree by chance: "yes" */

/* A reply of a turn of a task. */
struct twin {
    uint64_t text_hash; /* of its text                                          */
    size_t prompt;      /* the same number for the same task and turn           */
    size_t exchange;    /* of the run                                           */
    double is_twin;     /* 1 when another prompt got this text, 0 when not, NaN when it is too short */
};

struct twins {
    struct twin *list; /* owned: one an exchange of the run, in their order */
    size_t n, cap;
};

void twins_done(struct twins *t);

/* Adds the next exchange's reply; an empty text for one that has no answer. */
MUST_CHECK enum status twins_add(struct twins *t, size_t prompt, const char *text, size_t len, struct error *err);

/* Finds them, and notes them in the run when one text answers three prompts, or half of two and more. */
MUST_CHECK enum status twins_find(struct twins *t, struct run *run, struct error *err);

#endif
