#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/metrics/quantity.h"
#include "core/metrics/textmatch.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

/* Values are products of a few factors, each rounded once: 1e-12 is thousands of roundings. */
static const struct tol exact = {.abs = 0, .rel = 1e-12};

struct one {
    const char *text;
    double value; /* in the base unit of the kind */
    enum quantity_kind kind;
};

static const struct one wholes[] = {
    {"12", 12, QUANTITY_PLAIN},
    {"-12", -12, QUANTITY_PLAIN},
    {"−12", -12, QUANTITY_PLAIN},
    {"+5", 5, QUANTITY_PLAIN},
    {"１２", 12, QUANTITY_PLAIN},
    {"0", 0, QUANTITY_PLAIN},
    {"007", 7, QUANTITY_PLAIN},
    {".5", 0.5, QUANTITY_PLAIN},
    {"-.5", -0.5, QUANTITY_PLAIN},
    {"3.14", 3.14, QUANTITY_PLAIN},
    {"3,5", 3.5, QUANTITY_PLAIN},
    {"0,125", 0.125, QUANTITY_PLAIN},
    {"1,000", 1000, QUANTITY_PLAIN},
    {"1,234,567", 1234567, QUANTITY_PLAIN},
    {"1.234.567", 1234567, QUANTITY_PLAIN},
    {"1'234'567.5", 1234567.5, QUANTITY_PLAIN},
    {"12,34,567", 1234567, QUANTITY_PLAIN},
    {"1 000", 1000, QUANTITY_PLAIN},
    {"1\xC2\xA0"
     "234\xE2\x80\xAF"
     "567,5",
     1234567.5, QUANTITY_PLAIN},
    {"1.000,5", 1000.5, QUANTITY_PLAIN},
    {"1,000.5", 1000.5, QUANTITY_PLAIN},
    {"2e3", 2000, QUANTITY_PLAIN},
    {"1.5E-3", 0.0015, QUANTITY_PLAIN},
    {"3×10^8", 3e8, QUANTITY_PLAIN},
    {"3 × 10⁸ m/s", 3e8, QUANTITY_SPEED},
    {"3 x 10^8", 3e8, QUANTITY_PLAIN},
    {"6.02 \\times 10^{23}", 6.02e23, QUANTITY_PLAIN},
    {"1.6·10⁻¹⁹", 1.6e-19, QUANTITY_PLAIN},
    {"10k", 10000, QUANTITY_PLAIN},
    {"3 million", 3e6, QUANTITY_PLAIN},
    {"1,5 Millionen", 1.5e6, QUANTITY_PLAIN},
    {"5万", 50000, QUANTITY_PLAIN},
    {"1.4亿", 1.4e8, QUANTITY_PLAIN},
    {"50%", 50, QUANTITY_PERCENT},
    {"50 per cent", 50, QUANTITY_PERCENT},
    {"百分之五十", 50, QUANTITY_PERCENT},
    {"百分之50", 50, QUANTITY_PERCENT},
    /* units */
    {"1.5 kg", 1.5, QUANTITY_MASS},
    {"1500 grams", 1.5, QUANTITY_MASS},
    {"1500克", 1.5, QUANTITY_MASS},
    {"1.5公斤", 1.5, QUANTITY_MASS},
    {"3千克", 3, QUANTITY_MASS},
    {"三千克", 3, QUANTITY_MASS},
    {"１．５ｋｇ", 1.5, QUANTITY_MASS},
    {"1.5㎏", 1.5, QUANTITY_MASS},
    {"2 lbs", 2 * 0.45359237, QUANTITY_MASS},
    {"5-kg", 5, QUANTITY_MASS},
    {"12 V", 12, QUANTITY_VOLTAGE},
    {"12V", 12, QUANTITY_VOLTAGE},
    {"12 volts", 12, QUANTITY_VOLTAGE},
    {"12000 mV", 12, QUANTITY_VOLTAGE},
    {"0.012 kV", 12, QUANTITY_VOLTAGE},
    {"12伏", 12, QUANTITY_VOLTAGE},
    {"5 MW", 5e6, QUANTITY_POWER},
    {"5 mW", 5e-3, QUANTITY_POWER},
    {"10 cm", 0.1, QUANTITY_LENGTH},
    {"6 feet", 6 * 0.3048, QUANTITY_LENGTH},
    {"20 公里", 20000, QUANTITY_LENGTH},
    {"十二公里", 12000, QUANTITY_LENGTH},
    {"25 m²", 25, QUANTITY_AREA},
    {"25㎡", 25, QUANTITY_AREA},
    {"90 minutes", 5400, QUANTITY_TIME},
    {"1.5 h", 5400, QUANTITY_TIME},
    {"90 分钟", 5400, QUANTITY_TIME},
    {"两小时", 7200, QUANTITY_TIME},
    {"3 Tage", 3 * 86400, QUANTITY_TIME},
    {"2 years", 24, QUANTITY_MONTHS},
    {"500 ml", 5e-4, QUANTITY_VOLUME},
    {"2 MB", 2e6, QUANTITY_DATA},
    {"2 MiB", 2 * 1048576.0, QUANTITY_DATA},
    {"16 Mb", 2e6, QUANTITY_DATA},
    {"2.4 GHz", 2.4e9, QUANTITY_FREQUENCY},
    {"1 kWh", 3.6e6, QUANTITY_ENERGY},
    {"100 °C", 373.15, QUANTITY_TEMPERATURE},
    {"100℃", 373.15, QUANTITY_TEMPERATURE},
    {"212 °F", 373.15, QUANTITY_TEMPERATURE},
    {"-40 degrees Fahrenheit", 233.15, QUANTITY_TEMPERATURE},
    {"100摄氏度", 373.15, QUANTITY_TEMPERATURE},
    {"300 K", 300, QUANTITY_TEMPERATURE},
    {"36 km/h", 10, QUANTITY_SPEED},
    {"$1,200.50", 1200.5, QUANTITY_USD},
    {"-$5", -5, QUANTITY_USD},
    {"US$ 5", 5, QUANTITY_USD},
    {"5 dollars", 5, QUANTITY_USD},
    {"1.200,50 €", 1200.5, QUANTITY_EUR},
    {"EUR 20", 20, QUANTITY_EUR},
    {"£3 million", 3e6, QUANTITY_GBP},
    {"30元", 30, QUANTITY_CNY},
    {"￥30", 30, QUANTITY_YEN_SIGN},
    {"500円", 500, QUANTITY_JPY},
    /* words */
    {"twelve", 12, QUANTITY_PLAIN},
    {"Twenty-five", 25, QUANTITY_PLAIN},
    {"one hundred and five", 105, QUANTITY_PLAIN},
    {"two thousand three hundred", 2300, QUANTITY_PLAIN},
    {"three million", 3e6, QUANTITY_PLAIN},
    {"five kilograms", 5, QUANTITY_MASS},
    {"one hour", 3600, QUANTITY_TIME},
    {"三", 3, QUANTITY_PLAIN},
    {"三百二十个", 320, QUANTITY_PLAIN},
    {"十二", 12, QUANTITY_PLAIN},
    {"两百", 200, QUANTITY_PLAIN},
    {"一千零五", 1005, QUANTITY_PLAIN},
    {"二〇二四", 2024, QUANTITY_PLAIN},
    {"5个", 5, QUANTITY_PLAIN},
};

static void cased(struct buf *ret, const char *text)
{
    cr_assert(eq(int, textmatch_normalise(ret, text, strlen(text), TEXTMATCH_CASED, NULL), OK));
}

Test(quantity, reads_numbers_and_units)
{
    size_t i;

    for (i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        AUTO(buf) text = {0};
        struct quantity q;

        cased(&text, wholes[i].text);
        cr_assert(quantity_whole(buf_text(&text), text.len, &q), "'%s' is no quantity", wholes[i].text);
        cr_assert(eq(int, q.kind, wholes[i].kind), "'%s'", wholes[i].text);
        cr_assert(close_to(q.number * q.scale + q.offset, wholes[i].value, exact), "'%s': %.17g", wholes[i].text,
                  q.number * q.scale + q.offset);
    }
}

static const char *const texts[] = {
    "",          "9:30",   "19:30:05", "2024-05-06",    "2024-05",  "06/05/2024", "12.05.2024", "1.2.3",
    "v2",        "1/2",    "3rd",      "E-417",         "B12",      "H2O",        "3D",         "12 apples",
    "a 12",      "12.",    "5-10",     "192.168.1.1",   "5 kg/m",   "5 m^4",      "1,2,3",      "--5",
    "1e",        "one of", "一起",     "十分",          "万一",     "5月6日",     "2024年",     "5月",
    "九点半",    "kg",     "$",        "seven of nine", "555-0123", "10^8",       "1 23",       "0x1F",
    "two three",
};

Test(quantity, leaves_times_dates_versions_and_codes_to_the_words)
{
    size_t i;

    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO(buf) text = {0};
        struct quantity q;

        cased(&text, texts[i]);
        cr_assert(not(quantity_whole(buf_text(&text), text.len, &q)), "'%s' was taken for a quantity", texts[i]);
    }
}

struct pair {
    const char *needed, *reply;
    int is_met;
};

static const struct pair pairs[] = {
    {"12", "Tom has 12 apples.", 1},
    {"12", "Tom has twelve apples.", 1},
    {"12", "There are 12.", 1},
    {"12", "(12)", 1},
    {"12", "x=12;", 1},
    {"12", "Answer:12", 1},
    {"12", "12.0", 1},
    {"12", "112", 0},
    {"12", "12:30", 0},
    {"12", "1.12.3", 0},
    {"12", "B12", 0},
    {"12", "12th", 0},
    {"12", "-12", 0},
    {"12", "2024-12-05", 0},
    {"12", "12 kg", 1},
    {"12", "12%", 1},
    {"12", "十二个苹果", 1},
    {"12", "有12只猫", 1},
    {"5", "5月6日", 0},
    {"6", "五月6日", 0},
    {"2024", "2024年", 1},
    {"10", "上午10点开门", 1},
    {"5", "5-10 people", 1},
    {"10", "5-10 people", 1},
    {"5", "10-5", 1},
    {"-5", "10-5", 0},
    {"-5", "it is -5 outside", 1},
    {"1", "1,000", 0},
    {"1000", "1,000", 1},
    {"1000", "1.000 Meter", 1}, /* both readings of a point before three digits */
    {"1", "1.000", 1},
    {"1000", "1 000", 1},
    {"1", "one of them", 0},
    {"1", "one hour", 1},
    {"1", "一个苹果", 0},
    {"3", "1. red\n2. green\n3. blue", 0}, /* markers of a list count nothing */
    {"3", "3. That is the answer.", 1},
    {"42", "42. 42 it is", 1},
    {"1.5 kg", "1500 g of flour", 1},
    {"1.5 kg", "1,5 kg", 1},
    {"1.5 kg", "1.5", 0},
    {"1.5 kg", "1.5 m", 0},
    {"12 V", "12 volts", 1},
    {"12 V", "12V DC", 1},
    {"12 V", "十二伏", 1},
    {"12 V", "12 kV", 0},
    {"100 °C", "boils at 212°F", 1},
    {"100 °C", "boils at 100 degrees Celsius.", 1},
    {"100 °C", "angle of 100 degrees", 0},
    {"90 min", "one and a half", 0},
    {"90 min", "1.5 hours", 1},
    {"90 min", "90分钟", 1},
    {"$5", "5 USD", 1},
    {"$5", "€5", 0},
    {"$5", "costs $5.", 1},
    {"¥30", "30元", 1},
    {"¥30", "30円", 1},
    {"30元", "30円", 0},
    {"50%", "fifty percent", 1},
    {"50%", "0.5", 0},
    {"5 m", "5 m/s", 0},
    {"5 m", "5 m²", 0},
    {"0.3", "0.30000000001", 1}, /* 3e-11 apart */
    {"0.3", "0.3000001", 0},
    {"299792458 m/s", "299,792.458 km/s", 1},
    {"3e8", "3 × 10⁸ m/s", 1},
    {"8", "3 × 10⁸ m/s", 0},
    {"0", "zero", 1},
};

Test(quantity, is_met_by_equal_values_in_any_clothes)
{
    size_t i;

    for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        AUTO(buf) needed = {0};
        AUTO(buf) reply = {0};
        struct quantity want, q;
        size_t at = 0;
        int is_met = 0;

        cased(&needed, pairs[i].needed);
        cased(&reply, pairs[i].reply);
        cr_assert(quantity_whole(buf_text(&needed), needed.len, &want), "'%s'", pairs[i].needed);
        while (quantity_next(buf_text(&reply), reply.len, &at, &q))
            is_met |= quantity_meets(&q, &want);
        cr_assert(eq(int, is_met, pairs[i].is_met), "'%s' in '%s'", pairs[i].needed, pairs[i].reply);
    }
}

Test(quantity, goes_through_any_text_to_its_end)
{
    static const char *const parts[] = {"1",   "23", ".",      ",",   ":",       "/",     "-", " ",  "\n",
                                        "000", "e",  "k",      "kg",  "×",       "10^",   "$", "万", "三",
                                        "十",  "个", "百分之", "one", "hundred", " and ", "%", "'",  "元"};
    uint64_t round;

    for (round = 0; round < 20000; round++) {
        AUTO(buf) text = {0};
        struct quantity q;
        size_t at = 0, last = 0, i;

        for (i = 0; i < 12; i++)
            buf_puts(&text, parts[rng_at(9, round, i).word[0] % (sizeof parts / sizeof *parts)]);
        while (quantity_next(buf_text(&text), text.len, &at, &q)) {
            cr_assert(q.begin >= last && q.end > q.begin && q.end <= text.len, "'%s'", buf_text(&text));
            cr_assert(eq(sz, at, q.end));
            last = q.end;
        }
        cr_assert(eq(sz, at, text.len));
    }
}

Test(quantity, endless_digits_are_no_number)
{
    char digits[4096];
    struct quantity q;
    size_t at = 0;

    memset(digits, '9', sizeof digits);
    cr_assert(not(quantity_next(digits, sizeof digits, &at, &q)));
    cr_assert(eq(sz, at, sizeof digits));
}
