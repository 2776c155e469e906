/* mock_text.h - the words that the mock server's replies are made of. */
#ifndef TESTS_MOCK_MOCK_TEXT_H
#define TESTS_MOCK_MOCK_TEXT_H

#include "core/base/buf.h"
#include "tests/mock/mock_reply.h"

/* Fills r->words where the reply's words come from a text; sets how many words there are. */
void mock_text_start(struct mock_reply *r);

/* Appends the ith word as JSON, with the space before it unless it is the first. */
void mock_text_word(struct mock_reply *r, uint64_t i, struct buf *json);

/* Appends text with what JSON must escape escaped. */
void mock_text_escape(struct buf *json, const char *text, size_t len);

#endif
