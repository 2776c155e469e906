#include "core/base/scope.h"
#include "core/client/scrub.h"
#include "tests/support/must.h"

#include <string.h>

#define KEY "sk-1/ab\"c9"

/* Around the secret: what stands between two texts of a stream. */
#define EVENT(text)        "data: {\"id\": \"sk\", \"choices\": [{\"delta\": {\"content\": \"" text "\"}}]}\n\n"
#define COMPACT(key, text) "data:{\"choices\":[{\"delta\":{\"" key "\":\"" text "\",\"role\":null}}]}\r\n\r\n"

Test(scrub, masks_a_secret_however_it_is_spelt)
{
    static const struct {
        const char *bytes, *want;
    } cases[] = {
        {"x " KEY " y " KEY KEY, "x ********** y ********************"},
        {"no sk-1/ab\"c secret: s sk sk-", "no sk-1/ab\"c secret: s sk sk-"},
        {"{\"error\": \"sk-1\\/ab\\\"c9\"}", "{\"error\": \"************\"}"},
        {"\\u0073k-1/ab\\u0022c9.", "********************."},
        {"\\u0073\\u006b\\u002D1/ab\\\"c9 \\u00", "************************** \\u00"},
        {EVENT("sk-1") EVENT("/ab\\\"c9"), EVENT("****") EVENT("*******")},
        {EVENT("s") EVENT("k-") EVENT("") EVENT("1/ab") EVENT("\\\"") EVENT("c9!"),
         EVENT("*") EVENT("**") EVENT("") EVENT("****") EVENT("**") EVENT("**!")},
        {COMPACT("arguments", "a sk-1") COMPACT("arguments", "\\/ab\\\"c9"),
         COMPACT("arguments", "a ****") COMPACT("arguments", "********")},
        {"data: {\"content\" :\r\ndata: \"sk-1/\"}\n\ndata: {\"content\"\rdata:: \ndata: \n\"ab\\\"c9\"}",
         "data: {\"content\" :\r\ndata: \"*****\"}\n\ndata: {\"content\"\rdata:: \ndata: \n\"******\"}"},
        {EVENT("sk-1") COMPACT("reasoning", "/ab\\\"c9"), EVENT("sk-1") COMPACT("reasoning", "/ab\\\"c9")},
        {EVENT("sk-1") EVENT(" /ab\\\"c9"), EVENT("sk-1") EVENT(" /ab\\\"c9")},
        {"\"content\":\"sk-1", "\"content\":\"sk-1"},
        {"\"content\":\"sk-1\"", "\"content\":\"sk-1\""},
        {"\"content\":\"\\u", "\"content\":\"\\u"},
        {"\"content\":\"\\", "\"content\":\"\\"},
        {"\"content\" : ", "\"content\" : "},
        {"", ""},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf) b = {0};

        buf_puts(&b, cases[i].bytes);
        scrub(&b, KEY);
        cr_assert(eq(str, (char *)buf_text(&b), (char *)cases[i].want));
    }
}

Test(scrub, masks_a_secret_split_at_every_place)
{
    static const char secret[] = "sk-or-v1-0123456789abcdef";
    size_t cut, k;

    for (cut = 1; cut < sizeof secret - 1; cut++) {
        AUTO(buf) b = {0};

        for (k = 0; k < 3; k++)
            buf_printf(&b, "data: {\"content\":\"%.*s\"}\n\ndata: {\"content\":\"%s\"}\n\n", (int)cut, secret,
                       secret + cut);
        buf_printf(&b, "data: {\"content\":\"end\"}\n\n");
        scrub(&b, secret);
        cr_assert_null(memmem(b.data, b.len, secret, cut > 3 ? cut : 4), "cut at %zu: %s", cut, b.data);
        cr_assert_not_null(strstr(b.data, "end"));
    }
}

Test(scrub, leaves_what_stands_for_a_key_and_is_none)
{
    static const char text[] = "{\"content\": \"EMPTY, none, dummy, 1234567\"}";
    const char *const keys[] = {NULL, "", "EMPTY", "none", "1234567"};
    size_t i;

    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        AUTO(buf) b = {0};

        buf_puts(&b, text);
        scrub(&b, keys[i]);
        cr_assert(eq(str, b.data, (char *)text));
    }
}
