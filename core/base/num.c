#include "core/base/num.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool num_u64(const char *text, uint64_t *ret)
{
    uint64_t value = 0;

    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *ret = value;
    return true;
}

bool num_i64(const char *text, int64_t *ret)
{
    bool is_negative = *text == '-';
    uint64_t magnitude;

    if (!num_u64(text + is_negative, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + is_negative)
        return false;
    *ret = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* The program leaves the locale alone, so strtod() uses the "C" locale; the character check keeps out hexadecimal. */
bool num_double(const char *text, double *ret)
{
    char *end;
    double value;

    if (!*text || text[strspn(text, "+-.0123456789eE")])
        return false;
    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

static bool put_special(struct buf *b, double value)
{
    if (isfinite(value))
        return false;
    buf_puts(b, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return true;
}

void num_append(struct buf *b, double value)
{
    char text[40];
    int digits;

    if (put_special(b, value))
        return;
    for (digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, value);
        if (num_double(text, &back) && back >= value && back <= value)
            break;
    }
    buf_puts(b, text);
}

void num_append17(struct buf *b, double value)
{
    if (!put_special(b, value))
        buf_printf(b, "%.17g", value);
}
