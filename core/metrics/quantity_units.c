#include "core/metrics/quantity_parts.h"

#include "core/metrics/textmatch.h"

#include <string.h>
#include <strings.h>

/* How a spelling is compared: as it stands; in any case; in any case, and with an "s" after it. */
enum spelling { EXACT, ANY_CASE, WORD };

struct row {
    const char *text;
    enum spelling spelling;
    enum quantity_kind kind;
    double scale, offset;
};

#define PI 3.14159265358979323846

/* clang-format off */
static const struct row units[] = {
    {"%", EXACT, QUANTITY_PERCENT, 1, 0}, {"percent", ANY_CASE, QUANTITY_PERCENT, 1, 0},
    {"per cent", ANY_CASE, QUANTITY_PERCENT, 1, 0}, {"Prozent", ANY_CASE, QUANTITY_PERCENT, 1, 0},

    {"kg", ANY_CASE, QUANTITY_MASS, 1, 0}, {"g", EXACT, QUANTITY_MASS, 1e-3, 0}, {"mg", EXACT, QUANTITY_MASS, 1e-6, 0},
    {"\xCE\xBCg", EXACT, QUANTITY_MASS, 1e-9, 0}, {"t", EXACT, QUANTITY_MASS, 1000, 0},
    {"lb", ANY_CASE, QUANTITY_MASS, 0.45359237, 0}, {"lbs", ANY_CASE, QUANTITY_MASS, 0.45359237, 0},
    {"oz", ANY_CASE, QUANTITY_MASS, 0.028349523125, 0}, {"kilogram", WORD, QUANTITY_MASS, 1, 0},
    {"kilogramme", WORD, QUANTITY_MASS, 1, 0}, {"Kilogramm", ANY_CASE, QUANTITY_MASS, 1, 0},
    {"kilo", WORD, QUANTITY_MASS, 1, 0}, {"gram", WORD, QUANTITY_MASS, 1e-3, 0},
    {"gramme", WORD, QUANTITY_MASS, 1e-3, 0}, {"Gramm", ANY_CASE, QUANTITY_MASS, 1e-3, 0},
    {"milligram", WORD, QUANTITY_MASS, 1e-6, 0}, {"ton", WORD, QUANTITY_MASS, 1000, 0},
    {"tonne", WORD, QUANTITY_MASS, 1000, 0}, {"Tonnen", ANY_CASE, QUANTITY_MASS, 1000, 0},
    {"pound", WORD, QUANTITY_MASS, 0.45359237, 0}, {"ounce", WORD, QUANTITY_MASS, 0.028349523125, 0},
    {"公斤", EXACT, QUANTITY_MASS, 1, 0}, {"千克", EXACT, QUANTITY_MASS, 1, 0}, {"克", EXACT, QUANTITY_MASS, 1e-3, 0},
    {"毫克", EXACT, QUANTITY_MASS, 1e-6, 0}, {"吨", EXACT, QUANTITY_MASS, 1000, 0},
    {"噸", EXACT, QUANTITY_MASS, 1000, 0}, {"斤", EXACT, QUANTITY_MASS, 0.5, 0},
    {"キログラム", EXACT, QUANTITY_MASS, 1, 0}, {"キロ", EXACT, QUANTITY_MASS, 1, 0},
    {"グラム", EXACT, QUANTITY_MASS, 1e-3, 0}, {"トン", EXACT, QUANTITY_MASS, 1000, 0},

    {"m", EXACT, QUANTITY_LENGTH, 1, 0}, {"cm", ANY_CASE, QUANTITY_LENGTH, 1e-2, 0},
    {"mm", EXACT, QUANTITY_LENGTH, 1e-3, 0}, {"\xCE\xBCm", EXACT, QUANTITY_LENGTH, 1e-6, 0},
    {"nm", EXACT, QUANTITY_LENGTH, 1e-9, 0}, {"dm", EXACT, QUANTITY_LENGTH, 0.1, 0},
    {"km", ANY_CASE, QUANTITY_LENGTH, 1000, 0}, {"in", EXACT, QUANTITY_LENGTH, 0.0254, 0},
    {"ft", ANY_CASE, QUANTITY_LENGTH, 0.3048, 0}, {"yd", ANY_CASE, QUANTITY_LENGTH, 0.9144, 0},
    {"mi", EXACT, QUANTITY_LENGTH, 1609.344, 0}, {"meter", WORD, QUANTITY_LENGTH, 1, 0},
    {"Metern", ANY_CASE, QUANTITY_LENGTH, 1, 0}, {"metre", WORD, QUANTITY_LENGTH, 1, 0},
    {"centimeter", WORD, QUANTITY_LENGTH, 1e-2, 0}, {"centimetre", WORD, QUANTITY_LENGTH, 1e-2, 0},
    {"Zentimeter", ANY_CASE, QUANTITY_LENGTH, 1e-2, 0}, {"millimeter", WORD, QUANTITY_LENGTH, 1e-3, 0},
    {"millimetre", WORD, QUANTITY_LENGTH, 1e-3, 0}, {"kilometer", WORD, QUANTITY_LENGTH, 1000, 0},
    {"Kilometern", ANY_CASE, QUANTITY_LENGTH, 1000, 0}, {"kilometre", WORD, QUANTITY_LENGTH, 1000, 0},
    {"inch", ANY_CASE, QUANTITY_LENGTH, 0.0254, 0}, {"inches", ANY_CASE, QUANTITY_LENGTH, 0.0254, 0},
    {"foot", ANY_CASE, QUANTITY_LENGTH, 0.3048, 0}, {"feet", ANY_CASE, QUANTITY_LENGTH, 0.3048, 0},
    {"yard", WORD, QUANTITY_LENGTH, 0.9144, 0}, {"mile", WORD, QUANTITY_LENGTH, 1609.344, 0},
    {"米", EXACT, QUANTITY_LENGTH, 1, 0}, {"厘米", EXACT, QUANTITY_LENGTH, 1e-2, 0},
    {"公分", EXACT, QUANTITY_LENGTH, 1e-2, 0}, {"毫米", EXACT, QUANTITY_LENGTH, 1e-3, 0},
    {"公里", EXACT, QUANTITY_LENGTH, 1000, 0}, {"千米", EXACT, QUANTITY_LENGTH, 1000, 0},
    {"公尺", EXACT, QUANTITY_LENGTH, 1, 0}, {"英里", EXACT, QUANTITY_LENGTH, 1609.344, 0},
    {"英尺", EXACT, QUANTITY_LENGTH, 0.3048, 0}, {"英寸", EXACT, QUANTITY_LENGTH, 0.0254, 0},
    {"メートル", EXACT, QUANTITY_LENGTH, 1, 0}, {"センチメートル", EXACT, QUANTITY_LENGTH, 1e-2, 0},
    {"センチ", EXACT, QUANTITY_LENGTH, 1e-2, 0}, {"ミリメートル", EXACT, QUANTITY_LENGTH, 1e-3, 0},
    {"キロメートル", EXACT, QUANTITY_LENGTH, 1000, 0},

    {"m^2", EXACT, QUANTITY_AREA, 1, 0}, {"m2", EXACT, QUANTITY_AREA, 1, 0}, {"sqm", EXACT, QUANTITY_AREA, 1, 0},
    {"cm^2", EXACT, QUANTITY_AREA, 1e-4, 0}, {"km^2", EXACT, QUANTITY_AREA, 1e6, 0},
    {"ha", EXACT, QUANTITY_AREA, 1e4, 0}, {"square meter", WORD, QUANTITY_AREA, 1, 0},
    {"square metre", WORD, QUANTITY_AREA, 1, 0}, {"square kilometer", WORD, QUANTITY_AREA, 1e6, 0},
    {"square kilometre", WORD, QUANTITY_AREA, 1e6, 0}, {"hectare", WORD, QUANTITY_AREA, 1e4, 0},
    {"Quadratmeter", ANY_CASE, QUANTITY_AREA, 1, 0}, {"Quadratkilometer", ANY_CASE, QUANTITY_AREA, 1e6, 0},
    {"平方米", EXACT, QUANTITY_AREA, 1, 0}, {"平方公里", EXACT, QUANTITY_AREA, 1e6, 0},
    {"平方千米", EXACT, QUANTITY_AREA, 1e6, 0}, {"平方メートル", EXACT, QUANTITY_AREA, 1, 0},

    {"l", EXACT, QUANTITY_VOLUME, 1e-3, 0}, {"L", EXACT, QUANTITY_VOLUME, 1e-3, 0},
    {"ml", ANY_CASE, QUANTITY_VOLUME, 1e-6, 0}, {"cl", ANY_CASE, QUANTITY_VOLUME, 1e-5, 0},
    {"dl", ANY_CASE, QUANTITY_VOLUME, 1e-4, 0}, {"m^3", EXACT, QUANTITY_VOLUME, 1, 0},
    {"m3", EXACT, QUANTITY_VOLUME, 1, 0}, {"cm^3", EXACT, QUANTITY_VOLUME, 1e-6, 0},
    {"liter", WORD, QUANTITY_VOLUME, 1e-3, 0}, {"litre", WORD, QUANTITY_VOLUME, 1e-3, 0},
    {"milliliter", WORD, QUANTITY_VOLUME, 1e-6, 0}, {"millilitre", WORD, QUANTITY_VOLUME, 1e-6, 0},
    {"cubic meter", WORD, QUANTITY_VOLUME, 1, 0}, {"cubic metre", WORD, QUANTITY_VOLUME, 1, 0},
    {"升", EXACT, QUANTITY_VOLUME, 1e-3, 0}, {"毫升", EXACT, QUANTITY_VOLUME, 1e-6, 0},
    {"立方米", EXACT, QUANTITY_VOLUME, 1, 0}, {"リットル", EXACT, QUANTITY_VOLUME, 1e-3, 0},
    {"ミリリットル", EXACT, QUANTITY_VOLUME, 1e-6, 0},

    {"s", EXACT, QUANTITY_TIME, 1, 0}, {"sec", WORD, QUANTITY_TIME, 1, 0}, {"ms", EXACT, QUANTITY_TIME, 1e-3, 0},
    {"\xCE\xBCs", EXACT, QUANTITY_TIME, 1e-6, 0}, {"us", EXACT, QUANTITY_TIME, 1e-6, 0},
    {"ns", EXACT, QUANTITY_TIME, 1e-9, 0}, {"min", WORD, QUANTITY_TIME, 60, 0}, {"h", EXACT, QUANTITY_TIME, 3600, 0},
    {"hr", WORD, QUANTITY_TIME, 3600, 0}, {"d", EXACT, QUANTITY_TIME, 86400, 0},
    {"second", WORD, QUANTITY_TIME, 1, 0}, {"millisecond", WORD, QUANTITY_TIME, 1e-3, 0},
    {"microsecond", WORD, QUANTITY_TIME, 1e-6, 0}, {"nanosecond", WORD, QUANTITY_TIME, 1e-9, 0},
    {"minute", WORD, QUANTITY_TIME, 60, 0}, {"hour", WORD, QUANTITY_TIME, 3600, 0},
    {"day", WORD, QUANTITY_TIME, 86400, 0}, {"week", WORD, QUANTITY_TIME, 604800, 0},
    {"Sekunde", ANY_CASE, QUANTITY_TIME, 1, 0}, {"Sekunden", ANY_CASE, QUANTITY_TIME, 1, 0},
    {"Minuten", ANY_CASE, QUANTITY_TIME, 60, 0}, {"Stunde", ANY_CASE, QUANTITY_TIME, 3600, 0},
    {"Stunden", ANY_CASE, QUANTITY_TIME, 3600, 0}, {"Tag", ANY_CASE, QUANTITY_TIME, 86400, 0},
    {"Tage", ANY_CASE, QUANTITY_TIME, 86400, 0}, {"Tagen", ANY_CASE, QUANTITY_TIME, 86400, 0},
    {"Woche", ANY_CASE, QUANTITY_TIME, 604800, 0}, {"Wochen", ANY_CASE, QUANTITY_TIME, 604800, 0},
    {"秒", EXACT, QUANTITY_TIME, 1, 0}, {"毫秒", EXACT, QUANTITY_TIME, 1e-3, 0},
    {"微秒", EXACT, QUANTITY_TIME, 1e-6, 0}, {"分钟", EXACT, QUANTITY_TIME, 60, 0},
    {"分鐘", EXACT, QUANTITY_TIME, 60, 0}, {"分間", EXACT, QUANTITY_TIME, 60, 0},
    {"小时", EXACT, QUANTITY_TIME, 3600, 0}, {"小時", EXACT, QUANTITY_TIME, 3600, 0},
    {"時間", EXACT, QUANTITY_TIME, 3600, 0},
    {"天", EXACT, QUANTITY_TIME, 86400, 0}, {"日間", EXACT, QUANTITY_TIME, 86400, 0},
    {"周", EXACT, QUANTITY_TIME, 604800, 0}, {"星期", EXACT, QUANTITY_TIME, 604800, 0},
    {"個星期", EXACT, QUANTITY_TIME, 604800, 0}, {"个星期", EXACT, QUANTITY_TIME, 604800, 0},
    {"個小時", EXACT, QUANTITY_TIME, 3600, 0}, {"个小时", EXACT, QUANTITY_TIME, 3600, 0},
    {"週間", EXACT, QUANTITY_TIME, 604800, 0},

    {"month", WORD, QUANTITY_MONTHS, 1, 0}, {"year", WORD, QUANTITY_MONTHS, 12, 0},
    {"Monate", ANY_CASE, QUANTITY_MONTHS, 1, 0}, {"Monaten", ANY_CASE, QUANTITY_MONTHS, 1, 0},
    {"Monat", ANY_CASE, QUANTITY_MONTHS, 1, 0}, {"Jahr", ANY_CASE, QUANTITY_MONTHS, 12, 0},
    {"Jahre", ANY_CASE, QUANTITY_MONTHS, 12, 0}, {"Jahren", ANY_CASE, QUANTITY_MONTHS, 12, 0},
    {"个月", EXACT, QUANTITY_MONTHS, 1, 0}, {"個月", EXACT, QUANTITY_MONTHS, 1, 0},
    {"か月", EXACT, QUANTITY_MONTHS, 1, 0}, {"ヶ月", EXACT, QUANTITY_MONTHS, 1, 0},
    {"年", EXACT, QUANTITY_MONTHS, 12, 0}, {"年間", EXACT, QUANTITY_MONTHS, 12, 0},

    {"m/s", EXACT, QUANTITY_SPEED, 1, 0}, {"km/h", ANY_CASE, QUANTITY_SPEED, 1 / 3.6, 0},
    {"kph", ANY_CASE, QUANTITY_SPEED, 1 / 3.6, 0}, {"mph", ANY_CASE, QUANTITY_SPEED, 0.44704, 0},
    {"km/s", EXACT, QUANTITY_SPEED, 1000, 0}, {"meters per second", ANY_CASE, QUANTITY_SPEED, 1, 0},
    {"metres per second", ANY_CASE, QUANTITY_SPEED, 1, 0},
    {"kilometers per hour", ANY_CASE, QUANTITY_SPEED, 1 / 3.6, 0},
    {"kilometres per hour", ANY_CASE, QUANTITY_SPEED, 1 / 3.6, 0},
    {"kilometers per second", ANY_CASE, QUANTITY_SPEED, 1000, 0},
    {"kilometres per second", ANY_CASE, QUANTITY_SPEED, 1000, 0},
    {"miles per hour", ANY_CASE, QUANTITY_SPEED, 0.44704, 0},
    {"米/秒", EXACT, QUANTITY_SPEED, 1, 0}, {"公里/小时", EXACT, QUANTITY_SPEED, 1 / 3.6, 0},

    {"V", EXACT, QUANTITY_VOLTAGE, 1, 0}, {"mV", EXACT, QUANTITY_VOLTAGE, 1e-3, 0},
    {"kV", ANY_CASE, QUANTITY_VOLTAGE, 1000, 0}, {"volt", WORD, QUANTITY_VOLTAGE, 1, 0},
    {"millivolt", WORD, QUANTITY_VOLTAGE, 1e-3, 0}, {"kilovolt", WORD, QUANTITY_VOLTAGE, 1000, 0},
    {"伏", EXACT, QUANTITY_VOLTAGE, 1, 0}, {"伏特", EXACT, QUANTITY_VOLTAGE, 1, 0},
    {"毫伏", EXACT, QUANTITY_VOLTAGE, 1e-3, 0}, {"千伏", EXACT, QUANTITY_VOLTAGE, 1000, 0},
    {"ボルト", EXACT, QUANTITY_VOLTAGE, 1, 0},
    {"A", EXACT, QUANTITY_CURRENT, 1, 0}, {"mA", EXACT, QUANTITY_CURRENT, 1e-3, 0},
    {"\xCE\xBC" "A", EXACT, QUANTITY_CURRENT, 1e-6, 0}, {"kA", EXACT, QUANTITY_CURRENT, 1000, 0},
    {"amp", WORD, QUANTITY_CURRENT, 1, 0}, {"ampere", WORD, QUANTITY_CURRENT, 1, 0},
    {"milliamp", WORD, QUANTITY_CURRENT, 1e-3, 0}, {"milliampere", WORD, QUANTITY_CURRENT, 1e-3, 0},
    {"安", EXACT, QUANTITY_CURRENT, 1, 0}, {"安培", EXACT, QUANTITY_CURRENT, 1, 0},
    {"毫安", EXACT, QUANTITY_CURRENT, 1e-3, 0}, {"アンペア", EXACT, QUANTITY_CURRENT, 1, 0},
    {"W", EXACT, QUANTITY_POWER, 1, 0}, {"mW", EXACT, QUANTITY_POWER, 1e-3, 0},
    {"kW", EXACT, QUANTITY_POWER, 1000, 0}, {"KW", EXACT, QUANTITY_POWER, 1000, 0},
    {"MW", EXACT, QUANTITY_POWER, 1e6, 0}, {"GW", EXACT, QUANTITY_POWER, 1e9, 0},
    {"watt", WORD, QUANTITY_POWER, 1, 0}, {"milliwatt", WORD, QUANTITY_POWER, 1e-3, 0},
    {"kilowatt", WORD, QUANTITY_POWER, 1000, 0}, {"megawatt", WORD, QUANTITY_POWER, 1e6, 0},
    {"gigawatt", WORD, QUANTITY_POWER, 1e9, 0}, {"瓦", EXACT, QUANTITY_POWER, 1, 0},
    {"瓦特", EXACT, QUANTITY_POWER, 1, 0}, {"千瓦", EXACT, QUANTITY_POWER, 1000, 0},
    {"兆瓦", EXACT, QUANTITY_POWER, 1e6, 0}, {"ワット", EXACT, QUANTITY_POWER, 1, 0},
    {"Wh", EXACT, QUANTITY_ENERGY, 3600, 0}, {"kWh", ANY_CASE, QUANTITY_ENERGY, 3.6e6, 0},
    {"MWh", EXACT, QUANTITY_ENERGY, 3.6e9, 0}, {"GWh", EXACT, QUANTITY_ENERGY, 3.6e12, 0},
    {"J", EXACT, QUANTITY_ENERGY, 1, 0}, {"kJ", ANY_CASE, QUANTITY_ENERGY, 1000, 0},
    {"MJ", EXACT, QUANTITY_ENERGY, 1e6, 0}, {"joule", WORD, QUANTITY_ENERGY, 1, 0},
    {"watt-hour", WORD, QUANTITY_ENERGY, 3600, 0}, {"watt hour", WORD, QUANTITY_ENERGY, 3600, 0},
    {"kilowatt-hour", WORD, QUANTITY_ENERGY, 3.6e6, 0}, {"kilowatt hour", WORD, QUANTITY_ENERGY, 3.6e6, 0},
    {"kilojoule", WORD, QUANTITY_ENERGY, 1000, 0}, {"千瓦时", EXACT, QUANTITY_ENERGY, 3.6e6, 0},
    {"焦耳", EXACT, QUANTITY_ENERGY, 1, 0},

    {"B", EXACT, QUANTITY_DATA, 1, 0}, {"kB", ANY_CASE, QUANTITY_DATA, 1e3, 0},
    {"MB", EXACT, QUANTITY_DATA, 1e6, 0}, {"mb", EXACT, QUANTITY_DATA, 1e6, 0},
    {"GB", EXACT, QUANTITY_DATA, 1e9, 0}, {"gb", EXACT, QUANTITY_DATA, 1e9, 0},
    {"TB", EXACT, QUANTITY_DATA, 1e12, 0}, {"tb", EXACT, QUANTITY_DATA, 1e12, 0},
    {"PB", EXACT, QUANTITY_DATA, 1e15, 0}, {"KiB", ANY_CASE, QUANTITY_DATA, 1024, 0},
    {"MiB", ANY_CASE, QUANTITY_DATA, 1048576, 0}, {"GiB", ANY_CASE, QUANTITY_DATA, 1073741824, 0},
    {"TiB", ANY_CASE, QUANTITY_DATA, 1099511627776, 0}, {"bit", WORD, QUANTITY_DATA, 0.125, 0},
    {"kbit", WORD, QUANTITY_DATA, 125, 0}, {"Mbit", WORD, QUANTITY_DATA, 125e3, 0},
    {"Gbit", WORD, QUANTITY_DATA, 125e6, 0}, {"Mb", EXACT, QUANTITY_DATA, 125e3, 0},
    {"Gb", EXACT, QUANTITY_DATA, 125e6, 0}, {"byte", WORD, QUANTITY_DATA, 1, 0},
    {"kilobyte", WORD, QUANTITY_DATA, 1e3, 0}, {"megabyte", WORD, QUANTITY_DATA, 1e6, 0},
    {"gigabyte", WORD, QUANTITY_DATA, 1e9, 0}, {"terabyte", WORD, QUANTITY_DATA, 1e12, 0},
    {"字节", EXACT, QUANTITY_DATA, 1, 0}, {"バイト", EXACT, QUANTITY_DATA, 1, 0},

    {"Hz", ANY_CASE, QUANTITY_FREQUENCY, 1, 0}, {"kHz", ANY_CASE, QUANTITY_FREQUENCY, 1e3, 0},
    {"MHz", EXACT, QUANTITY_FREQUENCY, 1e6, 0}, {"Mhz", EXACT, QUANTITY_FREQUENCY, 1e6, 0},
    {"mHz", EXACT, QUANTITY_FREQUENCY, 1e-3, 0}, {"GHz", ANY_CASE, QUANTITY_FREQUENCY, 1e9, 0},
    {"hertz", ANY_CASE, QUANTITY_FREQUENCY, 1, 0}, {"kilohertz", ANY_CASE, QUANTITY_FREQUENCY, 1e3, 0},
    {"megahertz", ANY_CASE, QUANTITY_FREQUENCY, 1e6, 0}, {"gigahertz", ANY_CASE, QUANTITY_FREQUENCY, 1e9, 0},
    {"赫兹", EXACT, QUANTITY_FREQUENCY, 1, 0}, {"赫", EXACT, QUANTITY_FREQUENCY, 1, 0},
    {"千赫", EXACT, QUANTITY_FREQUENCY, 1e3, 0}, {"兆赫", EXACT, QUANTITY_FREQUENCY, 1e6, 0},
    {"ヘルツ", EXACT, QUANTITY_FREQUENCY, 1, 0},

    {"K", EXACT, QUANTITY_TEMPERATURE, 1, 0}, {"kelvin", WORD, QUANTITY_TEMPERATURE, 1, 0},
    {"C", EXACT, QUANTITY_TEMPERATURE, 1, 273.15}, {"°C", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"° C", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15}, {"celsius", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"degrees C", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"degree Celsius", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"degrees Celsius", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"degrees centigrade", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"Grad Celsius", ANY_CASE, QUANTITY_TEMPERATURE, 1, 273.15},
    {"摄氏度", EXACT, QUANTITY_TEMPERATURE, 1, 273.15}, {"度C", EXACT, QUANTITY_TEMPERATURE, 1, 273.15},
    {"F", EXACT, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},
    {"°F", ANY_CASE, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},
    {"fahrenheit", ANY_CASE, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},
    {"degrees F", ANY_CASE, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},
    {"degrees Fahrenheit", ANY_CASE, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},
    {"华氏度", EXACT, QUANTITY_TEMPERATURE, 5.0 / 9, 459.67 * 5 / 9},

    {"°", EXACT, QUANTITY_ANGLE, 1, 0}, {"deg", EXACT, QUANTITY_ANGLE, 1, 0}, {"degree", WORD, QUANTITY_ANGLE, 1, 0},
    {"Grad", ANY_CASE, QUANTITY_ANGLE, 1, 0}, {"度", EXACT, QUANTITY_ANGLE, 1, 0},
    {"rad", EXACT, QUANTITY_ANGLE, 180 / PI, 0}, {"radian", WORD, QUANTITY_ANGLE, 180 / PI, 0},

    {"$", EXACT, QUANTITY_USD, 1, 0}, {"USD", EXACT, QUANTITY_USD, 1, 0}, {"US$", EXACT, QUANTITY_USD, 1, 0},
    {"dollar", WORD, QUANTITY_USD, 1, 0}, {"US dollar", WORD, QUANTITY_USD, 1, 0},
    {"cent", WORD, QUANTITY_USD, 0.01, 0}, {"美元", EXACT, QUANTITY_USD, 1, 0}, {"ドル", EXACT, QUANTITY_USD, 1, 0},
    {"€", EXACT, QUANTITY_EUR, 1, 0}, {"EUR", EXACT, QUANTITY_EUR, 1, 0}, {"euro", WORD, QUANTITY_EUR, 1, 0},
    {"欧元", EXACT, QUANTITY_EUR, 1, 0}, {"ユーロ", EXACT, QUANTITY_EUR, 1, 0},
    {"£", EXACT, QUANTITY_GBP, 1, 0}, {"GBP", EXACT, QUANTITY_GBP, 1, 0}, {"英镑", EXACT, QUANTITY_GBP, 1, 0},
    {"¥", EXACT, QUANTITY_YEN_SIGN, 1, 0}, {"CNY", EXACT, QUANTITY_CNY, 1, 0}, {"RMB", EXACT, QUANTITY_CNY, 1, 0},
    {"yuan", ANY_CASE, QUANTITY_CNY, 1, 0}, {"元", EXACT, QUANTITY_CNY, 1, 0}, {"块", EXACT, QUANTITY_CNY, 1, 0},
    {"块钱", EXACT, QUANTITY_CNY, 1, 0}, {"人民币", EXACT, QUANTITY_CNY, 1, 0}, {"元人民币", EXACT, QUANTITY_CNY, 1, 0},
    {"JPY", EXACT, QUANTITY_JPY, 1, 0}, {"yen", ANY_CASE, QUANTITY_JPY, 1, 0}, {"円", EXACT, QUANTITY_JPY, 1, 0},
    {"日元", EXACT, QUANTITY_JPY, 1, 0}, {"₹", EXACT, QUANTITY_INR, 1, 0}, {"INR", EXACT, QUANTITY_INR, 1, 0},
    {"rupee", WORD, QUANTITY_INR, 1, 0},
};
/* clang-format on */

bool quantity_word_ends(const char *text, size_t len, size_t at)
{
    size_t n, m;
    int32_t left = textmatch_char_before(text, at, &n);
    int32_t right = textmatch_char_at(text, len, at, &m);

    return !(textmatch_is_word(left, true) && textmatch_is_word(right, true));
}

/* Bytes of a row's spelling at text[at], up to a place where the word may end; 0 when it is not there. */
static size_t spelling_at(const struct row *row, const char *text, size_t len, size_t at)
{
    size_t n = strlen(row->text);

    if (len - at < n)
        return 0;
    if (row->spelling == EXACT ? memcmp(text + at, row->text, n) != 0 : strncasecmp(text + at, row->text, n) != 0)
        return 0;
    if (quantity_word_ends(text, len, at + n))
        return n;
    if (row->spelling == WORD && (text[at + n] == 's' || text[at + n] == 'S') &&
        quantity_word_ends(text, len, at + n + 1))
        return n + 1;
    return 0;
}

/* Whether a unit that ends here goes on: "/m", "^4", "·s". */
static bool is_compound(const char *text, size_t len, size_t at)
{
    size_t n, m;
    int32_t c = textmatch_char_at(text, len, at, &n);

    return (c == '/' || c == '^' || c == 0xB7) && textmatch_is_word(textmatch_char_at(text, len, at + n, &m), false);
}

size_t quantity_unit_at(const char *text, size_t len, size_t at, struct unit *ret)
{
    size_t skip = at < len && (text[at] == ' ' || text[at] == '-') ? 1 : 0;
    size_t best = 0, i;
    const struct row *found = NULL;

    for (i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = spelling_at(&units[i], text, len, at + skip);

        if (n > best) {
            best = n;
            found = &units[i];
        }
    }
    if (!found)
        return 0;
    *ret = (struct unit){found->kind, found->scale, found->offset};
    if (is_compound(text, len, at + skip + best))
        ret->kind = QUANTITY_UNKNOWN_UNIT;
    return skip + best;
}

size_t quantity_currency_before(const char *text, size_t at, struct unit *ret)
{
    static const struct {
        const char *text;
        enum quantity_kind kind;
    } signs[] = {{"US$", QUANTITY_USD},   {"$", QUANTITY_USD},   {"USD", QUANTITY_USD}, {"€", QUANTITY_EUR},
                 {"EUR", QUANTITY_EUR},   {"£", QUANTITY_GBP},   {"GBP", QUANTITY_GBP}, {"¥", QUANTITY_YEN_SIGN},
                 {"CNY", QUANTITY_CNY},   {"RMB", QUANTITY_CNY}, {"JPY", QUANTITY_JPY}, {"₹", QUANTITY_INR},
                 {"人民币", QUANTITY_CNY}};
    size_t space = at > 0 && text[at - 1] == ' ' ? 1 : 0;
    size_t i, k;

    for (i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i].text);
        int32_t before;

        if (at < n + space || memcmp(text + at - space - n, signs[i].text, n) != 0)
            continue;
        before = textmatch_char_before(text, at - space - n, &k);
        if (signs[i].text[0] >= 'A' && signs[i].text[0] <= 'Z' && textmatch_is_word(before, true))
            continue;
        *ret = (struct unit){signs[i].kind, 1, 0};
        return n + space;
    }
    return 0;
}
