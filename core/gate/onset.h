/* onset.h - from which layer on two runs differ, where layers before it are the same to the last bit. */
#ifndef CORE_GATE_ONSET_H
#define CORE_GATE_ONSET_H

#include "core/gate/family.h"

/* One careful sentence in `texts`; NULL when the metric has no layers, nothing differs, or every layer does. */
MUST_CHECK enum status onset_words(const struct tested *t, struct arena *texts, const char **ret, struct error *err);

#endif
