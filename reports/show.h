/* show.h - numbers, names and sentences as people read them; machines get all digits elsewhere. */
#ifndef REPORTS_SHOW_H
#define REPORTS_SHOW_H

#include "core/base/buf.h"
#include "reports/report.h"

#include <stdbool.h>
#include <stddef.h>

/* `text`, or `other` when it is NULL or empty. */
const char *show_or(const char *text, const char *other);

/* Four significant digits ("0.8123", "1243", "1.2e-5"); "-" for what is not a number. show_delta() has three and a
 * sign; show_p() "0.0031" or "<0.0001". */
void show_number(struct buf *out, double value);
void show_delta(struct buf *out, double value);
void show_small(struct buf *out, double value);  /* three digits, no sign        */
void show_margin(struct buf *out, double value); /* as a person wrote it: "0.05" */
void show_p(struct buf *out, double p);

/* "lo … hi" with the digits of show_delta(); "-" when either is not a number. */
void show_interval(struct buf *out, double lo, double hi);

/* "" for NULL and for "1", the unit of a ratio. */
const char *show_unit(const char *unit);

/* The mark of a row: "!" primary and regressed, "·" advisory. */
const char *show_mark(enum role role, enum verdict verdict);

/* How many reasons say more than the headline. */
size_t show_n_reasons(const struct judgement *j);

/* A verdict as people read it, of the whole and of one of its parts: VERDICT_NONE has no good name of its own. */
const char *show_verdict(enum verdict whole);
const char *show_part(enum verdict part);

/* One sentence: what the exit code means here, and whose wish it is where the policy asks for another. */
void show_exit(struct buf *out, const struct report_input *in);

/* The headline without the verdict's name in front, which every format says itself; the policy without its folder. */
const char *show_headline(const struct judgement *j);
const char *show_policy(const struct judgement *j);

/* "the baseline", "the candidate", as the user named them. */
const char *show_base(const struct report_input *in);
const char *show_cand(const struct report_input *in);

/* Appends one line of valid UTF-8 without control characters, at most `columns` wide; "…" shows a cut. */
void show_clip(struct buf *out, const char *text, size_t columns);

/* "; 6 more places break it", nothing for 0: what stands behind a limit's worst place. */
void show_more_places(struct buf *out, size_t n);

/* Columns that valid UTF-8 takes on a terminal. */
size_t show_width(const char *text);

/* Appends `text` broken at blanks into lines of at most `columns`; all but the first begin with `indent` blanks. */
void show_wrap(struct buf *out, const char *text, size_t indent, size_t columns);

/* `where` in words, for foreign task ids of any length. */
void show_where(struct buf *out, const struct where *w);

#endif
