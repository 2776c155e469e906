/* chunk_plain.h - the commonest chunk of a stream, a piece of text and nothing else, read without building a tree. */
#ifndef CORE_CLIENT_CHUNK_PLAIN_H
#define CORE_CLIENT_CHUNK_PLAIN_H

#include "core/client/chunk.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds to a cleared chunk what the one JSON object in `text` says, exactly as chunk_read() would by the long way.
 * False, with nothing added, for anything that is not plainly {"choices": [{"index": 0, "delta": {"content": "…"}}]} or
 * the same with "text", beside members that say nothing. */
bool chunk_plain(struct chunk *c, const char *text, size_t len);

#endif
