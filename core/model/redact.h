/* redact.h - takes the words out of a live run's bytes and leaves everything that times and counts are made of. */
#ifndef CORE_MODEL_REDACT_H
#define CORE_MODEL_REDACT_H

#include "core/model/run.h"

#include <stddef.h>

/* Of all exchanges but the first `keep`: every character of the texts in bodies and requests (content, reasoning, tool
 * calls, prompts, …) becomes an "x". Reads, their times and lengths, token counts and finish reasons stay. */
void redact_run(struct run *run, size_t keep);

/* The same of one piece of JSON, or of a stream with JSON in it. */
void redact_json(char *text, size_t len);

#endif
