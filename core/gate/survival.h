/* survival.h - conversations that end earlier on one side: what is compared by turn is compared over fewer of them. */
#ifndef CORE_GATE_SURVIVAL_H
#define CORE_GATE_SURVIVAL_H

#include "core/gate/family.h"

/* Fills j->n_conversations (tasks of both sides with replies in several turns on one of them), and of those the ones
 * that end earlier in the base, and in the candidate. A conversation ends with the last turn of which any run of the
 * side has a value other than that the request failed. */
void survival_count(struct judgement *j, const struct comparison *c);

/* "3 of 24 conversations end earlier in the candidate, …"; NULL when none does. */
MUST_CHECK enum status survival_words(struct judgement *j, const char **ret, struct error *err);

#endif
