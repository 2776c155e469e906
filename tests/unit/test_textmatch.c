#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/metrics/textmatch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct one {
    const char *from, *folded, *cased;
};

static const struct one forms[] = {
    {"", "", ""},
    {"  Hello\t\r\n World \n", "hello world", "Hello\nWorld"},
    {"\xC2\xA0"
     "a\xE3\x80\x80"
     "b\xE2\x80\xAF"
     "c",
     "a b c", "a b c"},
    {"１２３ＡＢＣ：％", "123abc:%", "123ABC:%"},
    {"Straße", "strasse", "Straße"},
    {"STRASSE", "strasse", "STRASSE"},
    {"e\xCC\x81t\xC3\xA9", "été", "été"},
    {"İstanbul ISPARTA ıspanak", "istanbul isparta ispanak", "İstanbul ISPARTA ıspanak"},
    {"‘a’ “b” „c“ «d»", "'a' \"b\" \"c\" \"d\"", "'a' \"b\" \"c\" \"d\""},
    {"a–b—c−d‑e", "a-b-c-d-e", "a-b-c-d-e"},
    {"co\xC2\xADop\xE2\x80\x8B\xEF\xBB\xBFx", "coopx", "coopx"},
    {"½ ㎏ ℃ ﬁ", "1/2 kg °c fi", "1/2 kg °C fi"},
    {"10⁸ m² 10⁻³", "108 m2 10-3", "10^8 m^2 10^-3"},
    {"ｶﾞｷﾞ", "ガギ", "ガギ"},
    {"a\xFF\xC0z", "a\xEF\xBF\xBD\xEF\xBF\xBDz", "a\xEF\xBF\xBD\xEF\xBF\xBDz"},
    {"ΣΊΣΥΦΟΣ", "σίσυφοσ", "ΣΊΣΥΦΟΣ"},
    {"👩‍🔧️", "👩🔧", "👩🔧"},
    {"\x01\x1B[0m", "[0m", "[0m"},
};

static void check(const char *from, enum textmatch_form form, const char *want)
{
    AUTO(buf) got = {0};
    AUTO(buf) twice = {0};

    cr_assert(eq(int, textmatch_normalise(&got, from, strlen(from), form, NULL), OK), "%s", from);
    cr_assert(eq(str, (char *)buf_text(&got), (char *)want), "'%s'", from);
    cr_assert(eq(int, textmatch_normalise(&twice, buf_text(&got), got.len, form, NULL), OK));
    cr_assert(eq(str, (char *)buf_text(&twice), (char *)want), "twice: '%s'", from);
}

Test(textmatch, brings_texts_to_one_form_and_leaves_it_there)
{
    size_t i;

    for (i = 0; i < sizeof forms / sizeof *forms; i++) {
        check(forms[i].from, TEXTMATCH_FOLDED, forms[i].folded);
        check(forms[i].from, TEXTMATCH_CASED, forms[i].cased);
    }
}

Test(textmatch, a_nul_byte_counts_as_space)
{
    AUTO(buf) got = {0};

    cr_assert(eq(int, textmatch_normalise(&got, "a\0b", 3, TEXTMATCH_FOLDED, NULL), OK));
    cr_assert(eq(str, (char *)buf_text(&got), "a b"));
}

struct find {
    const char *text, *needle;
    int is_there;
};

static const struct find finds[] = {
    {"The capital is Oslo.", "oslo", 1},
    {"OSLO", "Oslo", 1},
    {"concatenate", "cat", 0},
    {"the cat's tail", "cat", 1},
    {"(cat)", "cat", 1},
    {"cats", "cat", 0},
    {"a cat_b cat", "cat", 1},
    {"cat_b", "cat", 0},
    {"New\nYork", "new york", 1},
    {"Wasserflasche", "Wasser", 0},
    {"Stra\xC3\x9F"
     "e",
     "STRASSE", 1},
    {"Zu\xCC\x88rich", "zürich", 1},
    {"cafe\xCC\x81", "cafe", 0},
    {"x\xCC\x82 = 1", "x", 0}, /* a mark that does not compose still belongs to its letter */
    {"istanbul", "İSTANBUL", 1},
    {"水的化学式是H2O。", "化学式", 1},
    {"冰水", "水", 1},
    {"是H2O吗", "h2o", 1},
    {"北京市在中国", "北京", 1},
    {"東京は日本の首都です", "東京", 1},
    {"スマートフォン", "フォン", 1},
    {"서울은 한국의 수도", "서울", 1},
    {"กรุงเทพ", "กรุง", 1},
    {"กรุงเทพ", "กร", 0}, /* the vowel above the letter belongs to it */
    {"Москва — столица", "москва", 1},
    {"Москвачка", "москва", 0},
    {"at 19:30", "9:30", 0},
    {"at 9:30.", "9:30", 1},
    {"9:30:15", "9:30", 0},
    {"version 1.2.3", "1.2", 0},
    {"version 1.2.", "1.2", 1},
    {"version 1.2.3", "2.3", 0},
    {"code E-417", "e-417", 1},
    {"code E-4170", "E-417", 0},
    {"code CE-417", "E-417", 0},
    {"Ｅ－４１７", "E-417", 1},
    {"don’t panic", "don't", 1},
    {"C++ and C#", "c++", 1},
    {"use ASP.NET", ".net", 1},
    {"nice 😀!", "😀", 1},
    {"👍🏽", "👍", 1},
    {"aaab", "aab", 0},
    {"", "a", 0},
    {"a", "", 0},
    {"a", "ab", 0},
};

Test(textmatch, finds_whole_words_only)
{
    size_t i;

    for (i = 0; i < sizeof finds / sizeof *finds; i++) {
        AUTO(buf) text = {0};
        AUTO(buf) needle = {0};

        cr_assert(
            eq(int, textmatch_normalise(&text, finds[i].text, strlen(finds[i].text), TEXTMATCH_FOLDED, NULL), OK));
        cr_assert(eq(
            int, textmatch_normalise(&needle, finds[i].needle, strlen(finds[i].needle), TEXTMATCH_FOLDED, NULL), OK));
        cr_assert(eq(int, textmatch_has(buf_text(&text), text.len, buf_text(&needle), needle.len), finds[i].is_there),
                  "'%s' in '%s'", finds[i].needle, finds[i].text);
    }
}

Test(textmatch, takes_any_bytes)
{
    uint64_t round;

    for (round = 0; round < 3000; round++) {
        AUTO(buf) folded = {0};
        AUTO(buf) cased = {0};
        unsigned char bytes[40];
        size_t i;

        for (i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)rng_at(5, round, i).word[0];
        cr_assert(eq(int, textmatch_normalise(&folded, (char *)bytes, sizeof bytes, TEXTMATCH_FOLDED, NULL), OK));
        cr_assert(eq(int, textmatch_normalise(&cased, (char *)bytes, sizeof bytes, TEXTMATCH_CASED, NULL), OK));
        textmatch_has(buf_text(&folded), folded.len, (char *)bytes, 3);
    }
}
