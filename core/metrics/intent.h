/* intent.h - how far a reply fulfils what its turn states: deterministic, offline. */
#ifndef CORE_METRICS_INTENT_H
#define CORE_METRICS_INTENT_H

#include "core/base/error.h"
#include "core/model/taskset.h"

/* Shares in [0,1]; NaN for a part that the turn has not. */
struct intent_score {
    double entities;  /* required entities found / required                                       */
    double actions;   /* required patterns found / required                                       */
    double negations; /* things that must not be said and were not / all such things              */
    double alignment; /* mean of the parts that the turn has; 0 where something forbidden was said */
};

/* Compiled patterns and normalised entities of a task set; pcre2 codes and texts are owned. */
struct intent_rules;

struct intent {
    struct intent_rules *rules; /* owned */
};

/* Compiles every pattern; ERR_FORMAT names task, turn and the place in a bad one. */
MUST_CHECK enum status intent_init(struct intent *in, const struct taskset *tasks, struct error *err);
void intent_done(struct intent *in);

/* Scores a reply's text (UTF-8, invalid bytes replaced). All NaN when the turn states no intent. */
MUST_CHECK enum status intent_score(const struct intent *in, const char *task, int64_t turn, const char *text,
                                    size_t len, struct intent_score *ret, struct error *err);

#endif
