/* luck.h - replies that are drawn at random may share their luck between tasks, which no test over tasks counts. */
#ifndef CORE_GATE_LUCK_H
#define CORE_GATE_LUCK_H

#include "core/gate/family.h"

/* A warning where a primary metric of replies moved that were sampled above temperature 0: a server that draws all of a
 * run from one seed gives every task the same random numbers, and a run's bad luck looks like a change. What several
 * runs on both sides say of it stands beside. NULL where nothing moved, or nothing was drawn. t: [j->n_families] */
MUST_CHECK enum status luck_words(struct judgement *j, const struct comparison *c, const struct tested *t,
                                  const char **ret, struct error *err);

#endif
