#include "core/base/scope.h"
#include "core/gate/words.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

Test(words, numbers_read_easily)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},          {-0.0, "0"},          {3, "3"},
                {2.4576, "2.458"}, {0.123456, "0.123"},  {-12.3456, "-12.35"},
                {1610.7, "1611"},  {123456.7, "123457"}, {2.5e-7, "2.5e-07"},
                {1e20, "1e+20"},   {NAN, "not known"},   {INFINITY, "inf"}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf) b = {0};

        words_number(&b, rows[i].value);
        cr_assert(eq(str, (char *)buf_text(&b), (char *)rows[i].text));
    }
}

Test(words, a_ratio_has_no_unit)
{
    AUTO(buf) b = {0};

    words_quantity(&b, 0.5, "1");
    buf_putc(&b, ' ');
    words_quantity(&b, 0.5, "bit");
    cr_assert(eq(str, (char *)buf_text(&b), "0.5 0.5 bit"));
}

Test(words, a_finding_says_place_move_interval_and_margin)
{
    struct finding f = {.metric = "attn.entropy", .unit = "bit", .where = {NULL, -1, 9, 2}, .margin = 0.05};
    AUTO(buf) b = {0};

    f.effect = (struct effect){
        .n = 24, .base = 3.0062, .cand = 0.548, .delta = -2.4582, .ci_lo = -2.519, .ci_hi = -2.398, .p_adj = 0.0001};
    words_finding(&b, &f, 0.05);
    cr_assert(eq(str, (char *)buf_text(&b),
                 "attn.entropy at layer 9, head 2 fell by 2.458 bit (3.006 → 0.548); 90 % interval -2.519 to -2.398; "
                 "24 tasks; adjusted p = 0.0001; margin 0.05 bit"));
    buf_clear(&b);
    f.effect.ci_lo = f.effect.ci_hi = f.effect.p_adj = f.margin = NAN;
    f.where = (struct where){NULL, -1, -1, -1};
    words_finding(&b, &f, 0.05);
    cr_assert(eq(str, (char *)buf_text(&b), "attn.entropy fell by 2.458 bit (3.006 → 0.548); 24 tasks; no margin"));
}

Test(words, rounding_is_no_move)
{
    struct effect e = {.base = 0.85, .cand = 0.85, .delta = -1.04e-17};
    AUTO(buf) b = {0};

    words_move(&b, &e, "1");
    cr_assert(eq(str, (char *)buf_text(&b), "did not move (0.85)"));
}
