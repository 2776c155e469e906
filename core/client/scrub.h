/* scrub.h - takes the API key out of what a server sent back, before anything of it is kept. */
#ifndef CORE_CLIENT_SCRUB_H
#define CORE_CLIENT_SCRUB_H

#include "core/base/buf.h"

/* Every occurrence of `secret` in `b` becomes asterisks, as many bytes as it had: as it is, written with the escapes of
 * JSON, or in pieces, as a stream of replies spells it out text by text under one key ("content", "arguments", …).
 * Nothing happens for NULL, and for less than SCRUB_MIN bytes: "EMPTY" and the like are no secrets but stand for a key
 * where a server wants none, and replies may well hold them as words. */
void scrub(struct buf *b, const char *secret);

enum { SCRUB_MIN = 8 };

#endif
