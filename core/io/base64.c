#include "core/io/base64.h"

#include <stdint.h>

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(const char *text, size_t len, unsigned char *ret, size_t *ret_len)
{
    size_t padding = 0, digits, n = 0, i;
    uint32_t bits = 0;

    if (len % 4 != 0)
        return false;
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    digits = len - padding;
    for (i = 0; i < digits; i++) {
        int v = value_of(text[i]);

        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        if (i % 4 != 0)
            ret[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    *ret_len = n;
    /* What stands beyond the last whole byte must be zero: 4 bits after two digits, 2 after three. */
    return padding == 0 || (bits & (padding == 2 ? 15U : 3U)) == 0;
}

void base64_encode(const unsigned char *bytes, size_t len, struct buf *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k;

    for (i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t bits = 0;
        char four[4];

        for (k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? bytes[i + k] : 0U);
        for (k = 0; k < 4; k++)
            four[k] = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
        buf_append(ret, four, sizeof four);
    }
}
