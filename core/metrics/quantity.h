/* quantity.h - numbers with units, by value: "1,5 kg", "1500 grams" and "1500克" are one quantity.
 *
 * Texts are TEXTMATCH_CASED. What counts as a number:
 *   1,234,567  1.234.567  1'234'567  1 234 567   groups of three are one number; so is 1,00,000
 *   1,234      a comma before exactly three digits groups them: 1234; any other single comma is a decimal mark: 1,5
 *   1.234      a point is a decimal mark, but before exactly three digits it may group them: both readings count
 *   1.234,5  1,234.5   of two different marks the last is the decimal mark
 *   -5  +5  .5  2e3  3x10^8  3 \times 10^{8}  10k  3 million  5万   signs stand directly before the digits
 *   twelve  one hundred and five  三百二十 (before a unit or counter)   English and Chinese words; "one" alone is none
 * What does not, and is compared as text: clock times 9:30, dates 2024-05-06 and 5月6日, versions 1.2.3, fractions 1/2,
 * ordinals 3rd, codes E-417 and B12, and the numbers of a list at the beginning of lines. "5-10 kg" is 5, and 10 kg.
 */
#ifndef CORE_METRICS_QUANTITY_H
#define CORE_METRICS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

enum quantity_kind {
    QUANTITY_PLAIN,        /* no unit                                      */
    QUANTITY_UNKNOWN_UNIT, /* a unit that the table has not: "kg/m", "m^4" */
    QUANTITY_PERCENT,
    QUANTITY_MASS,        /* kg    */
    QUANTITY_LENGTH,      /* m     */
    QUANTITY_AREA,        /* m^2   */
    QUANTITY_VOLUME,      /* m^3   */
    QUANTITY_TIME,        /* s     */
    QUANTITY_MONTHS,      /* month */
    QUANTITY_SPEED,       /* m/s   */
    QUANTITY_VOLTAGE,     /* V     */
    QUANTITY_CURRENT,     /* A     */
    QUANTITY_POWER,       /* W     */
    QUANTITY_ENERGY,      /* J     */
    QUANTITY_DATA,        /* byte  */
    QUANTITY_FREQUENCY,   /* Hz    */
    QUANTITY_TEMPERATURE, /* K     */
    QUANTITY_ANGLE,       /* degree */
    QUANTITY_USD,
    QUANTITY_EUR,
    QUANTITY_GBP,
    QUANTITY_CNY,
    QUANTITY_JPY,
    QUANTITY_YEN_SIGN, /* CNY or JPY */
    QUANTITY_INR
};

struct quantity {
    double number; /* as written                                        */
    double other;  /* its second reading, NaN when it has but one       */
    double scale, offset;
    enum quantity_kind kind; /* number * scale + offset, in the unit of its kind  */
    size_t begin, end;       /* bytes of the text that it covers                  */
};

/* The next quantity at or after *at, which moves behind it; false when there is none. */
bool quantity_next(const char *text, size_t len, size_t *at, struct quantity *ret);

/* True when all of `text` is one quantity. */
bool quantity_whole(const char *text, size_t len, struct quantity *ret);

/* Equal to 1e-9 of the larger. A needed number without unit is met by that number with any unit or none; one with a
 * unit by an equal value of the same kind alone. Currencies are not converted. */
bool quantity_meets(const struct quantity *found, const struct quantity *needed);

#endif
