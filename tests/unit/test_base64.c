#include "core/io/base64.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* RFC 4648, section 10. */
Test(base64, decodes_the_vectors_of_the_standard)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"Zg==", "f"},
                                           {"Zm8=", "fo"},
                                           {"Zm9v", "foo"},
                                           {"Zm9vYg==", "foob"},
                                           {"Zm9vYmE=", "fooba"},
                                           {"Zm9vYmFy", "foobar"}};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char out[16];
        size_t len = 99;

        cr_assert(base64_decode(cases[i][0], strlen(cases[i][0]), out, &len), "%s", cases[i][0]);
        cr_assert(len == strlen(cases[i][1]) && memcmp(out, cases[i][1], len) == 0, "%s", cases[i][0]);
    }
}

Test(base64, decodes_every_byte)
{
    unsigned char out[3];
    size_t len;

    cr_assert(base64_decode("//79", 4, out, &len));
    cr_assert(len == 3 && out[0] == 0xff && out[1] == 0xfe && out[2] == 0xfd);
    cr_assert(base64_decode("AAA+", 4, out, &len));
    cr_assert(len == 3 && out[0] == 0 && out[1] == 0 && out[2] == 0x3e);
}

Test(base64, refuses_what_no_encoder_writes)
{
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "====", "Z===", "Zm 9", "Zm9\n", "Zg==Zg==", "Zm-_", "=Zm9", "Z=m9"};
    unsigned char out[16];
    size_t len, i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(base64_decode(bad[i], strlen(bad[i]), out, &len)), "'%s' was taken", bad[i]);
    cr_assert(not(base64_decode("Zm\0v", 4, out, &len)));
}

Test(base64, what_is_encoded_decodes_to_the_same)
{
    static const char *const want[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    size_t n;

    for (n = 0; n < 7; n++) {
        struct buf b = {0};

        base64_encode((const unsigned char *)"foobar", n, &b);
        cr_assert(eq(str, (char *)buf_text(&b), (char *)want[n]));
        buf_done(&b);
    }
}
