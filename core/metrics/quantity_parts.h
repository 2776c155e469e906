/* quantity_parts.h - what the files of quantity share: units and number words. */
#ifndef CORE_METRICS_QUANTITY_PARTS_H
#define CORE_METRICS_QUANTITY_PARTS_H

#include "core/metrics/quantity.h"

struct unit {
    enum quantity_kind kind;
    double scale, offset;
};

/* Bytes of the unit that begins at text[at], directly or after one space or hyphen; 0 when there is none. A unit that
 * goes on as a compound the table has not ("kg/m") is QUANTITY_UNKNOWN_UNIT. */
size_t quantity_unit_at(const char *text, size_t len, size_t at, struct unit *ret);

/* Bytes of the currency sign or code that ends before text[at], with the space between; 0 when there is none. */
size_t quantity_currency_before(const char *text, size_t at, struct unit *ret);

/* Bytes of a multiplier at text[at] ("k", " million", "万"); 0 when there is none. */
size_t quantity_multiplier_at(const char *text, size_t len, size_t at, double *ret);

/* Bytes of a Chinese or Japanese counter (个, 只, 人, …), which is no unit. */
size_t quantity_counter_at(const char *text, size_t len, size_t at);

/* Bytes of number words at text[at], and their value. `ret_is_weak` when they are a number only before a unit: "one".
 */
size_t quantity_english_at(const char *text, size_t len, size_t at, double *ret, bool *ret_is_weak);
size_t quantity_chinese_at(const char *text, size_t len, size_t at, double *ret);

/* The number whose digits, or point, begin at text[at]: number, other, begin and end, without sign and unit. False when
 * it is a time, a date, a version, a list marker; *ret_skip is the end of all that hangs together there. */
bool quantity_figure_at(const char *text, size_t len, size_t at, struct quantity *ret, size_t *ret_skip);

/* Whether a word may end at text[at]: no letter, digit or underscore goes on there. */
bool quantity_word_ends(const char *text, size_t len, size_t at);

#endif
