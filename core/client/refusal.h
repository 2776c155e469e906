/* refusal.h - whether a server refused a prompt because it is too long. */
#ifndef CORE_CLIENT_REFUSAL_H
#define CORE_CLIENT_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

/* `words`: the server's own, as in reply.error. No words, no proof; status 413 says it by itself. */
bool refusal_is_for_length(int64_t status, const char *words);

#endif
