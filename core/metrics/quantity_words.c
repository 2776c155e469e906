#include "core/metrics/quantity_parts.h"

#include "core/metrics/textmatch.h"

#include <string.h>
#include <strings.h>

struct word {
    const char *text;
    double value;
};

static const struct word english[] = {
    {"zero", 0},      {"one", 1},       {"two", 2},       {"three", 3},    {"four", 4},      {"five", 5},
    {"six", 6},       {"seven", 7},     {"eight", 8},     {"nine", 9},     {"ten", 10},      {"eleven", 11},
    {"twelve", 12},   {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15}, {"sixteen", 16},  {"seventeen", 17},
    {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},   {"thirty", 30},  {"forty", 40},    {"fifty", 50},
    {"sixty", 60},    {"seventy", 70},  {"eighty", 80},   {"ninety", 90},  {"hundred", 100}, {"thousand", 1e3},
    {"million", 1e6}, {"billion", 1e9},
};

/* The first English number word at text[at], whole; NULL when there is none. */
static const struct word *english_word(const char *text, size_t len, size_t at)
{
    size_t i;

    for (i = 0; i < sizeof english / sizeof *english; i++) {
        size_t n = strlen(english[i].text);

        if (len - at >= n && strncasecmp(text + at, english[i].text, n) == 0 && quantity_word_ends(text, len, at + n))
            return &english[i];
    }
    return NULL;
}

/* A number in the making: "two hundred" is group 200, "two thousand" total 2000; `last` is the word before. */
struct sum {
    double total, group, last;
    size_t n_words;
};

/* False when the word cannot go on from what stands there: "two three" are two numbers. */
static bool sum_add(struct sum *s, double value)
{
    bool after_tens = s->last >= 20 && s->last < 100 && value > 0 && value < 10;
    bool after_hundreds = s->last >= 100 && value > 0 && value < 100;

    if (value >= 1000) {
        if (s->group < 1 || (s->total > 0 && s->total < value))
            return false;
        s->total += s->group * value;
        s->group = 0;
    } else if (value >= 100) {
        if (s->group < 1 || s->group > 19)
            return false;
        s->group *= value;
    } else {
        if (s->n_words && !after_tens && !after_hundreds)
            return false;
        s->group += value;
    }
    s->last = value;
    s->n_words++;
    return true;
}

/* Bytes between two number words: a space, a hyphen, or " and " after a hundred. */
static size_t joint(const char *text, size_t len, size_t at, const struct sum *s)
{
    if (s->last >= 100 && len - at >= 5 && strncasecmp(text + at, " and ", 5) == 0)
        return 5;
    return at < len && (text[at] == ' ' || text[at] == '-') ? 1 : 0;
}

size_t quantity_english_at(const char *text, size_t len, size_t at, double *ret, bool *ret_is_weak)
{
    struct sum s = {0};
    size_t end = at, next = at;

    while (next < len) {
        const struct word *w = english_word(text, len, next);

        if (!w || !sum_add(&s, w->value))
            break;
        end = next + strlen(w->text);
        next = end + joint(text, len, end, &s);
        if (next == end)
            break;
    }
    if (s.n_words == 0)
        return 0;
    *ret = s.total + s.group;
    *ret_is_weak = s.n_words == 1 && s.last > 0 && s.last < 2;
    return end - at;
}

/* Digits 0 to 9, multipliers above, -1 for what is neither. */
static double chinese_value(int32_t c)
{
    static const int32_t chars[] = {0x3007, 0x96F6, 0x4E00, 0x4E8C, 0x4E24, 0x5169, 0x4E09, 0x56DB, 0x4E94, 0x516D,
                                    0x4E03, 0x516B, 0x4E5D, 0x5341, 0x767E, 0x5343, 0x4E07, 0x842C, 0x4EBF, 0x5104};
    static const double values[] = {0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1000, 1e4, 1e4, 1e8, 1e8};
    size_t i;

    for (i = 0; i < sizeof chars / sizeof *chars; i++) {
        if (c == chars[i])
            return values[i];
    }
    return -1;
}

/* 三百二十: total of the groups before 万 and 亿, the group, the digit that waits for its multiplier. */
struct tally {
    double total, group, digit, spelled;
    bool has_multiplier;
    size_t n;
};

static bool tally_add(struct tally *t, double value)
{
    if (value < 10) {
        t->spelled = t->spelled * 10 + value; /* 二〇二四, digit by digit */
        t->digit = value;
    } else if (value < 1e4) {
        if (t->digit < 1 && (value > 10 || t->n)) /* only 十 may begin a number, as in 十二 */
            return false;
        t->group += (t->digit < 1 ? 1 : t->digit) * value;
        t->digit = 0;
        t->has_multiplier = true;
    } else {
        if (t->group + t->digit < 1)
            return false;
        t->total += (t->group + t->digit) * value;
        t->group = t->digit = 0;
        t->has_multiplier = true;
    }
    t->n++;
    return true;
}

size_t quantity_chinese_at(const char *text, size_t len, size_t at, double *ret)
{
    struct tally t = {0};
    size_t end = at, n;

    while (end < len) {
        double value = chinese_value(textmatch_char_at(text, len, end, &n));

        /* 千克, 千米, 千伏, 千瓦 and 百分之 are words of their own after a whole number: 三千克 is 3 kg */
        if (value < 0 || t.n > 20)
            break;
        if (value > 999 && value < 1001) {
            struct unit unit;

            if (t.n && quantity_unit_at(text, len, end, &unit) > n)
                break;
        }
        if (!tally_add(&t, value))
            break;
        end += n;
    }
    if (t.n == 0)
        return 0;
    *ret = t.has_multiplier ? t.total + t.group + t.digit : t.spelled;
    return end - at;
}

size_t quantity_multiplier_at(const char *text, size_t len, size_t at, double *ret)
{
    static const struct word words[] = {
        {"hundred", 1e2},   {"thousand", 1e3},  {"million", 1e6},    {"millions", 1e6}, {"billion", 1e9},
        {"trillion", 1e12}, {"Millionen", 1e6}, {"Milliarden", 1e9}, {"Mio.", 1e6},     {"Mrd.", 1e9},
        {"tausend", 1e3},   {"Million", 1e6},   {"Milliarde", 1e9},
    };
    static const struct word chinese[] = {{"万", 1e4},   {"萬", 1e4},   {"亿", 1e8},    {"億", 1e8},
                                          {"百万", 1e6}, {"千万", 1e7}, {"万亿", 1e12}, {"百", 100}};
    size_t skip = at < len && text[at] == ' ' ? 1 : 0;
    size_t best = 0, i;

    if (at < len && text[at] == 'k' && quantity_word_ends(text, len, at + 1)) {
        *ret = 1e3;
        return 1;
    }
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].text);

        if (len - at >= n + skip && strncasecmp(text + at + skip, words[i].text, n) == 0 &&
            quantity_word_ends(text, len, at + skip + n)) {
            *ret = words[i].value;
            return n + skip;
        }
    }
    for (i = 0; i < sizeof chinese / sizeof *chinese; i++) {
        size_t n = strlen(chinese[i].text);

        if (n > best && len - at >= n + skip && memcmp(text + at + skip, chinese[i].text, n) == 0) {
            best = n;
            *ret = chinese[i].value;
        }
    }
    return best ? best + skip : 0;
}

size_t quantity_counter_at(const char *text, size_t len, size_t at)
{
    static const char *const counters[] = {
        "个", "個", "只", "隻", "位", "人", "名", "条", "條", "件", "本",     "张", "張", "次", "岁", "歳", "歲", "种",
        "種", "台", "辆", "座", "家", "颗", "层", "層", "页", "頁", "ページ", "つ", "匹", "枚", "回", "倍", "题", "步",
        "章", "节", "行", "列", "部", "杯", "瓶", "朵", "头", "支", "把",     "双", "对", "组", "群", "份"};
    size_t i;

    for (i = 0; i < sizeof counters / sizeof *counters; i++) {
        size_t n = strlen(counters[i]);

        if (len - at >= n && memcmp(text + at, counters[i], n) == 0)
            return n;
    }
    return 0;
}
