/* repair.h - text that servers send and a strict reader refuses: stray bytes, and characters cut in two. */
#ifndef CORE_CLIENT_REPAIR_H
#define CORE_CLIENT_REPAIR_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends `text` as valid UTF-8: each byte that is not part of a character becomes U+FFFD. */
void repair_utf8(struct buf *ret, const char *text, size_t len);

/* Appends JSON text with valid UTF-8 and with each "\uD8xx" that lacks its other half under a stand-in: the last 2048
 * code points of plane 16, which are for private use and which no tokenizer has. NaN and the infinities become null. */
void repair_json(struct buf *ret, const char *json, size_t len);

/* Appends valid UTF-8, putting halves back together: `half` is the first one of a pair that came with an earlier
 * text, 0 for none, and is left for the next text when this one ends in a first half. A half alone becomes U+FFFD.
 * Only in text from repair_json() are the stand-ins what they stand for. */
void repair_join(struct buf *ret, uint32_t *half, bool has_stand_ins, const char *text, size_t len);

#endif
