#include "core/client/repair.h"

#include "core/base/scope.h"

#include <string.h>
#include <utf8proc.h>

enum { STAND_IN = 0x10F800, FIRST_HALF = 0xD800, SECOND_HALF = 0xDC00, END_HALF = 0xE000 };

static void put_char(struct buf *b, uint32_t c)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)c, bytes);

    buf_append(b, bytes, (size_t)n);
}

void repair_utf8(struct buf *ret, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);

        if (n > 0)
            buf_append(ret, text + at, (size_t)n);
        else
            put_char(ret, 0xFFFD);
        at += n > 0 ? (size_t)n : 1;
    }
}

/* "\uXXXX" at text[0..6): its number, or -1. */
static int32_t escape_at(const char *text, size_t len)
{
    int32_t c = 0;
    int i;

    if (len < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (i = 2; i < 6; i++) {
        char d = text[i];

        if (d >= '0' && d <= '9')
            c = c * 16 + (d - '0');
        else if (d >= 'a' && d <= 'f')
            c = c * 16 + (d - 'a' + 10);
        else if (d >= 'A' && d <= 'F')
            c = c * 16 + (d - 'A' + 10);
        else
            return -1;
    }
    return c;
}

static bool is_first_half(int32_t c)
{
    return c >= FIRST_HALF && c < SECOND_HALF;
}

static bool is_second_half(int32_t c)
{
    return c >= SECOND_HALF && c < END_HALF;
}

/* Bytes of the JSON text that belong together at `text`: an escaped pair, an escape, or one byte. */
static size_t unit_len(const char *text, size_t left, int32_t escape)
{
    if (is_first_half(escape) && is_second_half(escape_at(text + 6, left - 6)))
        return 12;
    if (escape >= 0)
        return 6;
    return *text == '\\' && left > 1 ? 2 : 1; /* an escaped backslash must not start the next escape */
}

/* Python writes numbers that JSON does not have: bytes of one at `text`, 0 for none. */
static size_t no_number(const char *text, size_t left)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);

        if (left >= n && memcmp(text, names[i], n) == 0)
            return n;
    }
    return 0;
}

void repair_json(struct buf *ret, const char *json, size_t len)
{
    AUTO(buf) clean = {.limit = ret->limit};
    bool in_text = false;
    size_t at = 0;

    repair_utf8(&clean, json, len);
    if (clean.failed)
        ret->failed = true;
    while (at < clean.len) {
        const char *text = clean.data + at;
        int32_t escape = escape_at(text, clean.len - at);
        size_t n = unit_len(text, clean.len - at, escape), skip = in_text ? 0 : no_number(text, clean.len - at);

        in_text ^= *text == '"';
        if (skip) {
            buf_puts(ret, "null");
            n = skip;
        } else if (n == 6 && escape >= FIRST_HALF && escape < END_HALF) {
            put_char(ret, (uint32_t)(STAND_IN + escape - FIRST_HALF));
        } else {
            buf_append(ret, text, n);
        }
        at += n;
    }
}

static void join_char(struct buf *ret, uint32_t *half, bool has_stand_ins, uint32_t c)
{
    int32_t piece = has_stand_ins && c >= STAND_IN ? (int32_t)(c - STAND_IN) + FIRST_HALF : 0;

    if (*half && is_second_half(piece)) {
        put_char(ret, 0x10000 + ((*half - FIRST_HALF) << 10) + ((uint32_t)piece - SECOND_HALF));
        *half = 0;
        return;
    }
    if (*half)
        put_char(ret, 0xFFFD);
    *half = is_first_half(piece) ? (uint32_t)piece : 0;
    if (!*half)
        put_char(ret, piece ? 0xFFFD : c);
}

void repair_join(struct buf *ret, uint32_t *half, bool has_stand_ins, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);

        join_char(ret, half, has_stand_ins, n > 0 ? (uint32_t)c : 0xFFFD);
        at += n > 0 ? (size_t)n : 1;
    }
}
