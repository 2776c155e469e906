#include "core/metrics/quantity.h"

#include "core/metrics/quantity_parts.h"
#include "core/metrics/textmatch.h"

#include <math.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What stands before a number decides whether it is one: nothing, a sign, a currency; not a letter, as in "B12". */
struct lead {
    size_t begin;
    bool is_negative, is_bad;
    bool has_currency;
    struct unit currency;
};

static void read_sign(struct lead *l, const char *text)
{
    size_t n, m;
    int32_t sign = textmatch_char_before(text, l->begin, &n);
    int32_t before;

    if (sign != '-' && sign != '+')
        return;
    before = textmatch_char_before(text, l->begin - n, &m);
    if (before >= '0' && before <= '9')
        return; /* a range: the hyphen is no sign */
    if (textmatch_is_word(before, true) || before == '-') {
        l->is_bad = textmatch_is_word(before, true);
        return;
    }
    l->is_negative = sign == '-';
    l->begin -= n;
}

static void read_lead(struct lead *l, const char *text, size_t at)
{
    size_t n, m;
    int32_t before;

    *l = (struct lead){.begin = at};
    read_sign(l, text);
    n = quantity_currency_before(text, l->begin, &l->currency);
    if (n) {
        l->has_currency = true;
        l->begin -= n;
        read_sign(l, text);
        return;
    }
    if (l->begin != at)
        return;
    before = textmatch_char_before(text, at, &n);
    l->is_bad = textmatch_is_word(before, true);
    if (before == '.' || before == '/') /* "x.5", "km/5" */
        l->is_bad = textmatch_is_word(textmatch_char_before(text, at - n, &m), true);
}

/* 5月6日: month and day are a date, as 2024-05-06 is. */
static bool is_date(const char *text, size_t len, size_t at)
{
    size_t n;
    int32_t c = textmatch_char_at(text, len, at, &n);

    return c == 0x6708 || c == 0x65E5;
}

/* The unit, multiplier or counter behind a number that ends at *end. False when letters follow that are none, or a
 * date. */
static bool read_tail(struct quantity *q, const struct lead *l, const char *text, size_t len, size_t *end)
{
    struct unit unit = {QUANTITY_PLAIN, 1, 0};
    double factor = 1;
    size_t n = quantity_unit_at(text, len, *end, &unit);

    if (n == 0) {
        n = quantity_multiplier_at(text, len, *end, &factor);
        *end += n;
        q->number *= factor;
        q->other *= factor;
        n = quantity_unit_at(text, len, *end, &unit);
    }
    if (n == 0 && l->has_currency)
        unit = l->currency;
    else if (n == 0)
        n = quantity_counter_at(text, len, *end);
    if (n == 0 && is_date(text, len, *end))
        return false;
    *end += n;
    q->kind = unit.kind;
    q->scale = unit.scale;
    q->offset = unit.offset;
    return quantity_word_ends(text, len, *end);
}

/* The digits at `at` as a quantity; *ret_skip is where to go on when they are none. */
static bool figure_at(const char *text, size_t len, size_t at, struct quantity *ret, size_t *ret_skip)
{
    struct quantity q = {0};
    struct lead lead;

    read_lead(&lead, text, at);
    if (!quantity_figure_at(text, len, at, &q, ret_skip) || lead.is_bad || !read_tail(&q, &lead, text, len, &q.end))
        return false;
    q.begin = lead.begin;
    if (lead.is_negative) {
        q.number = -q.number;
        q.other = -q.other;
    }
    *ret = q;
    return true;
}

/* Bytes of 百分之, a percent sign that comes before its number. */
static size_t percent_before(const char *text, size_t at)
{
    static const char sign[] = "百分之";
    size_t n = sizeof sign - 1;

    return at >= n && memcmp(text + at - n, sign, n) == 0 ? n : 0;
}

static bool chinese_at(const char *text, size_t len, size_t at, struct quantity *ret, size_t *ret_skip)
{
    struct quantity q = {.other = NAN, .begin = at};
    struct lead lead = {.begin = at};
    size_t n = quantity_chinese_at(text, len, at, &q.number);
    size_t end = at + n;

    *ret_skip = end;
    if (n == 0)
        return false;
    if (percent_before(text, at)) {
        q.begin -= percent_before(text, at);
        q.end = end;
        q.kind = QUANTITY_PERCENT;
        q.scale = 1;
        *ret = q;
        return true;
    }
    if (!read_tail(&q, &lead, text, len, &end))
        return false;
    /* Alone it may be part of a word (一起, 十分), and 一个 is no more than "a". */
    if ((end == at + n || (q.kind == QUANTITY_PLAIN && q.number < 2)) && !(at == 0 && end == len))
        return false;
    q.end = end;
    *ret = q;
    return true;
}

static bool english_at(const char *text, size_t len, size_t at, struct quantity *ret, size_t *ret_skip)
{
    struct quantity q = {.other = NAN, .begin = at};
    struct lead lead = {.begin = at};
    bool is_weak = false;
    size_t n = 0, end;

    if (quantity_word_ends(text, len, at))
        n = quantity_english_at(text, len, at, &q.number, &is_weak);
    end = at + n;
    *ret_skip = at + (n ? n : 1);
    if (n == 0 || !read_tail(&q, &lead, text, len, &end))
        return false;
    /* "one of them" counts nothing and "one in ten" is no inch: only a longer unit makes a number of it */
    if (is_weak && (q.kind == QUANTITY_PLAIN || end - at - n <= 3) && !(at == 0 && end == len))
        return false;
    q.end = end;
    *ret = q;
    return true;
}

/* A point that begins a number: ".5", but not the end of "x.5". */
static bool is_leading_point(const char *text, size_t len, size_t at)
{
    size_t n;

    return text[at] == '.' && at + 1 < len && is_digit(text[at + 1]) &&
           !textmatch_is_word(textmatch_char_before(text, at, &n), false) && (at == 0 || text[at - 1] != '.');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void set_percent(struct quantity *q, const char *text)
{
    size_t n = percent_before(text, q->begin);

    if (n == 0 || q->kind != QUANTITY_PLAIN)
        return;
    q->begin -= n;
    q->kind = QUANTITY_PERCENT;
}

bool quantity_next(const char *text, size_t len, size_t *at, struct quantity *ret)
{
    size_t i = *at;

    while (i < len) {
        size_t next = i + 1;
        bool found = false;

        if (is_digit(text[i]) || is_leading_point(text, len, i))
            found = figure_at(text, len, i, ret, &next);
        else if (is_letter(text[i]))
            found = english_at(text, len, i, ret, &next);
        else if ((unsigned char)text[i] >= 0xC0)
            found = chinese_at(text, len, i, ret, &next);
        if (found) {
            set_percent(ret, text);
            if (ret->begin < *at)
                ret->begin = *at; /* a sign between two numbers belongs to both */
            *at = ret->end;
            return true;
        }
        i = next > i ? next : i + 1;
    }
    *at = len;
    return false;
}

bool quantity_whole(const char *text, size_t len, struct quantity *ret)
{
    struct quantity q;
    size_t at = 0;

    if (!quantity_next(text, len, &at, &q) || q.begin != 0 || q.end != len || q.kind == QUANTITY_UNKNOWN_UNIT)
        return false;
    if (q.kind == QUANTITY_MONTHS && q.number >= 1000)
        return false; /* 2024年 is a date */
    *ret = q;
    return true;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); /* false for NaN: no second reading */
}

static bool is_kind(enum quantity_kind a, enum quantity_kind b)
{
    if (a == QUANTITY_YEN_SIGN)
        return b == QUANTITY_CNY || b == QUANTITY_JPY || b == QUANTITY_YEN_SIGN;
    return a == b || (b == QUANTITY_YEN_SIGN && is_kind(b, a));
}

bool quantity_meets(const struct quantity *found, const struct quantity *needed)
{
    const double have[] = {found->number, found->other}, want[] = {needed->number, needed->other};
    bool is_plain = needed->kind == QUANTITY_PLAIN;
    size_t i;

    if (!is_plain && !is_kind(found->kind, needed->kind))
        return false;
    for (i = 0; i < 4; i++) {
        double a = have[i / 2], b = want[i % 2];

        if (is_plain ? is_near(a, b) : is_near(a * found->scale + found->offset, b * needed->scale + needed->offset))
            return true;
    }
    return false;
}
