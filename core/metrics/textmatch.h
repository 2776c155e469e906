/* textmatch.h - the same words in other clothes: normalised text, and finding words in it. */
#ifndef CORE_METRICS_TEXTMATCH_H
#define CORE_METRICS_TEXTMATCH_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum textmatch_form {
    /* For words: NFKC, case folded, dotted and dotless i one letter, invisible characters out, typographic quotes and
     * dashes in ASCII, each run of white space and controls one space, none at the ends. */
    TEXTMATCH_FOLDED,
    /* For quantities: the same with case kept, since mW is not MW, line ends kept as LF, and raised digits after '^',
     * since 10⁸ is not 108. */
    TEXTMATCH_CASED
};

/* Appends the text in that form; bytes that are no UTF-8 count as U+FFFD. */
MUST_CHECK enum status textmatch_normalise(struct buf *ret, const char *text, size_t len, enum textmatch_form form,
                                           struct error *err);

/* Whether `needle` stands in `text`, both folded, without cutting a word or number at its ends: "cat" is not in
 * "concatenate", "9:30" not in "19:30", "1.2" not in "1.2.3". Scripts that put no space between words (Han, kana,
 * Hangul, Thai, …) have no such ends: "水" is in "冰水". Words are not inflected. An empty needle is nowhere. */
bool textmatch_has(const char *text, size_t len, const char *needle, size_t needle_len);

/* Letters, marks, digits and joiners; of scripts that separate words by spaces only where `is_spaced`. */
bool textmatch_is_word(int32_t c, bool is_spaced);

/* The character that begins at text[at], or ends before it; 0 at the end, or at the start. Text is valid UTF-8. */
int32_t textmatch_char_at(const char *text, size_t len, size_t at, size_t *ret_bytes);
int32_t textmatch_char_before(const char *text, size_t at, size_t *ret_bytes);

#endif
