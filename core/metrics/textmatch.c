#include "core/metrics/textmatch.h"

#include "core/base/scope.h"
#include "core/client/repair.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

int32_t textmatch_char_at(const char *text, size_t len, size_t at, size_t *ret_bytes)
{
    utf8proc_int32_t c = 0;
    utf8proc_ssize_t n = 0;

    if (at < len)
        n = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
    if (n <= 0) { /* a stray byte cannot be here, yet must not stop a loop */
        *ret_bytes = at < len ? 1 : 0;
        return at < len ? 0xFFFD : 0;
    }
    *ret_bytes = (size_t)n;
    return c;
}

int32_t textmatch_char_before(const char *text, size_t at, size_t *ret_bytes)
{
    size_t start = at, bytes;

    if (at == 0) {
        *ret_bytes = 0;
        return 0;
    }
    do
        start--;
    while (start > 0 && at - start < 4 && ((unsigned char)text[start] & 0xC0) == 0x80);
    *ret_bytes = at - start;
    return textmatch_char_at(text, at, start, &bytes);
}

/* Scripts whose words are not separated by spaces, or carry their particles without one, by Unicode block. */
static bool is_unspaced(int32_t c)
{
    static const int32_t blocks[][2] = {
        {0x0E00, 0x0FFF},   /* Thai, Lao, Tibetan             */
        {0x1000, 0x109F},   /* Myanmar                        */
        {0x1100, 0x11FF},   /* Hangul Jamo                    */
        {0x1780, 0x17FF},   /* Khmer                          */
        {0x1950, 0x19FF},   /* Tai Le, New Tai Lue, Khmer     */
        {0x2E80, 0x2FDF},   /* CJK radicals                   */
        {0x3005, 0x3007},   /* iteration mark, zero           */
        {0x3021, 0x312F},   /* Hangzhou numerals, kana, Bopomofo */
        {0x3130, 0x318F},   /* Hangul compatibility Jamo      */
        {0x31A0, 0x31FF},   /* Bopomofo, Katakana extensions  */
        {0x3400, 0x4DBF},   /* Han                            */
        {0x4E00, 0x9FFF},   /* Han                            */
        {0xA960, 0xA97F},   /* Hangul Jamo                    */
        {0xA980, 0xA9FF},   /* Javanese, Myanmar              */
        {0xAA60, 0xAADF},   /* Myanmar, Tai Viet              */
        {0xAC00, 0xD7FF},   /* Hangul                         */
        {0xF900, 0xFAFF},   /* Han                            */
        {0x1AFF0, 0x1B16F}, /* kana                           */
        {0x20000, 0x3FFFF}, /* Han                            */
    };
    size_t i;

    for (i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (c >= blocks[i][0] && c <= blocks[i][1])
            return true;
    }
    return false;
}

static bool is_mark(int32_t c)
{
    utf8proc_category_t cat = utf8proc_category(c);

    return cat == UTF8PROC_CATEGORY_MN || cat == UTF8PROC_CATEGORY_MC || cat == UTF8PROC_CATEGORY_ME;
}

bool textmatch_is_word(int32_t c, bool is_spaced)
{
    utf8proc_category_t cat = utf8proc_category(c);
    bool is_word = (cat >= UTF8PROC_CATEGORY_LU && cat <= UTF8PROC_CATEGORY_NO) || cat == UTF8PROC_CATEGORY_PC;

    return is_word && !(is_spaced && is_unspaced(c));
}

/* Quotes, dashes and the fraction slash that NFKC leaves as they are. */
static int32_t plain_mark(int32_t c)
{
    if ((c >= 0x2018 && c <= 0x201B) || c == 0x2032 || c == 0x02BC)
        return '\'';
    if ((c >= 0x201C && c <= 0x201F) || c == 0x2033 || c == 0xAB || c == 0xBB)
        return '"';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    if (c == 0x2044 || c == 0x2215)
        return '/';
    return c;
}

static bool is_space(int32_t c)
{
    utf8proc_category_t cat = utf8proc_category(c);

    return cat == UTF8PROC_CATEGORY_ZS || cat == UTF8PROC_CATEGORY_ZL || cat == UTF8PROC_CATEGORY_ZP ||
           cat == UTF8PROC_CATEGORY_CC;
}

static void put_char(struct buf *b, int32_t c)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(c, bytes);

    buf_append(b, bytes, (size_t)n);
}

/* What stands between two visible characters. */
enum gap { GAP_NONE, GAP_SPACE, GAP_LINE };

static enum gap widen(enum gap gap, int32_t space)
{
    if (space == '\n' || space == '\r' || space == 0x2028 || space == 0x2029)
        return GAP_LINE;
    return gap == GAP_NONE ? GAP_SPACE : gap;
}

/* Dotted and dotless i as one letter: false for the dot that folding leaves of a capital dotted I. */
static bool fold_i(const struct buf *ret, size_t start, int32_t *c)
{
    if (*c == 0x0131)
        *c = 'i';
    return !(*c == 0x0307 && ret->len > start && ret->data[ret->len - 1] == 'i');
}

/* Takes mapped text over character by character: marks in ASCII, white space in runs. */
static void put_mapped(struct buf *ret, const char *text, size_t len, enum textmatch_form form)
{
    size_t at = 0, start = ret->len, n;
    enum gap gap = GAP_NONE;

    for (; at < len; at += n) {
        int32_t c = plain_mark(textmatch_char_at(text, len, at, &n));

        if (is_space(c)) {
            gap = widen(gap, c);
            continue;
        }
        if (form == TEXTMATCH_FOLDED && !fold_i(ret, start, &c))
            continue;
        if (gap != GAP_NONE && ret->len > start)
            buf_putc(ret, gap == GAP_LINE && form == TEXTMATCH_CASED ? '\n' : ' ');
        gap = GAP_NONE;
        put_char(ret, c);
    }
}

/* Value and sign of a raised character: '0' to '9', '+', '-', or 0. */
static char raised(int32_t c)
{
    static const int32_t from[] = {0x2070, 0xB9,   0xB2,   0xB3,   0x2074, 0x2075,
                                   0x2076, 0x2077, 0x2078, 0x2079, 0x207A, 0x207B};
    size_t i;

    for (i = 0; i < sizeof from / sizeof *from; i++) {
        if (c == from[i])
            return "0123456789+-"[i];
    }
    return 0;
}

/* 10⁸ to 10^8, before NFKC makes 108 of it. */
static void lower_raised(struct buf *ret, const char *text, size_t len)
{
    bool was_raised = false;
    size_t at = 0, n;

    for (; at < len; at += n) {
        char c = raised(textmatch_char_at(text, len, at, &n));

        if (c && !was_raised)
            buf_putc(ret, '^');
        if (c)
            buf_putc(ret, c);
        else
            buf_append(ret, text + at, n);
        was_raised = c != 0;
    }
}

static void free_mapped(utf8proc_uint8_t **mapped)
{
    free(*mapped);
}

enum status textmatch_normalise(struct buf *ret, const char *text, size_t len, enum textmatch_form form,
                                struct error *err)
{
    __attribute__((cleanup(free_mapped))) utf8proc_uint8_t *mapped = NULL;
    AUTO(buf) valid = {0};
    AUTO(buf) lowered = {0};
    const struct buf *source = form == TEXTMATCH_FOLDED ? &valid : &lowered;
    utf8proc_option_t options = UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_STABLE | UTF8PROC_IGNORE;
    utf8proc_ssize_t n;

    repair_utf8(&valid, text, len);
    TRY(buf_check(&valid, err));
    if (form == TEXTMATCH_FOLDED)
        options |= UTF8PROC_CASEFOLD;
    else
        lower_raised(&lowered, buf_text(&valid), valid.len);
    TRY(buf_check(&lowered, err));
    if (source->len == 0)
        return OK;
    n = utf8proc_map((const utf8proc_uint8_t *)source->data, (utf8proc_ssize_t)source->len, &mapped, options);
    if (n < 0)
        return error_set(err, n == UTF8PROC_ERROR_NOMEM ? ERR_MEMORY : ERR_LIMIT,
                         "a text of %zu bytes cannot be normalised: %s", len, utf8proc_errmsg(n));
    put_mapped(ret, (const char *)mapped, (size_t)n, form);
    return buf_check(ret, err);
}

static bool is_digit(int32_t c)
{
    return utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

/* Whether a match may end between `left` and `right`, with the characters beyond them: a number goes on over a point,
 * comma or colon that has digits on both sides. */
static bool is_end(int32_t beyond_left, int32_t left, int32_t right, int32_t beyond_right)
{
    if (is_mark(right))
        return false;
    if (textmatch_is_word(left, true) && textmatch_is_word(right, true))
        return false;
    if (is_digit(left) && (right == '.' || right == ',' || right == ':') && is_digit(beyond_right))
        return false;
    return !(is_digit(right) && (left == '.' || left == ',' || left == ':') && is_digit(beyond_left));
}

static bool is_end_at(const char *text, size_t len, size_t at)
{
    size_t n, m, k;
    int32_t left = textmatch_char_before(text, at, &n);
    int32_t right = textmatch_char_at(text, len, at, &m);

    if (left == 0 || right == 0)
        return true;
    return is_end(textmatch_char_before(text, at - n, &k), left, right, textmatch_char_at(text, len, at + m, &k));
}

bool textmatch_has(const char *text, size_t len, const char *needle, size_t needle_len)
{
    size_t at = 0;

    while (needle_len > 0 && len - at >= needle_len) {
        const char *hit = memmem(text + at, len - at, needle, needle_len);

        if (!hit)
            return false;
        at = (size_t)(hit - text);
        if (is_end_at(text, len, at) && is_end_at(text, len, at + needle_len))
            return true;
        at++;
    }
    return false;
}
