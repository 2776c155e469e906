/* parts.h - which tags and tasks a family's mean comes from. Descriptive: parts are not tested. */
#ifndef CORE_GATE_PARTS_H
#define CORE_GATE_PARTS_H

#include "core/gate/family.h"

/* One sentence in `texts` with the tags (of the task set that the run keeps) and the tasks that moved most to the worse
 * side; NULL when the family was not tested, has layers, or nothing in it got worse. */
MUST_CHECK enum status parts_words(const struct tested *t, const struct run *run, struct arena *texts, const char **ret,
                                   struct error *err);

#endif
