#include "reports/escape.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the well-formed UTF-8 character at `s`, and its code point; 0 when there is none (Unicode 15, table 3-7).
 */
static size_t utf8_next(const unsigned char *s, uint32_t *ret)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s[0] < 0x80             ? 1
                 : (s[0] & 0xe0) == 0xc0 ? 2
                 : (s[0] & 0xf0) == 0xe0 ? 3
                 : (s[0] & 0xf8) == 0xf0 ? 4
                                         : 0;
    uint32_t code = len == 1 ? s[0] : len ? s[0] & (0xffu >> (len + 1)) : 0;
    size_t i;

    for (i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if (len == 0 || (len > 1 && code < least[len]) || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret = code;
    return len;
}

/* Walks `text` character by character; `put` writes each; what is not UTF-8 becomes U+FFFD. */
static void walk(struct buf *out, const char *text,
                 void (*put)(struct buf *out, const char *s, size_t len, uint32_t code))
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        uint32_t code = 0;
        size_t len = utf8_next(s, &code);

        if (len == 0) {
            buf_puts(out, REPLACEMENT);
            s++;
            continue;
        }
        put(out, (const char *)s, len, code);
        s += len;
    }
}

static void put_xml(struct buf *out, const char *s, size_t len, uint32_t code)
{
    static const char special[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *hit = code < 0x80 && code ? strchr(special, (int)code) : NULL;

    if (hit)
        buf_puts(out, entity[hit - special]);
    else if ((code < 0x20 && code != '\t' && code != '\n' && code != '\r') || code == 0x7f || code == 0xfffe ||
             code == 0xffff)
        buf_puts(out, REPLACEMENT);
    else
        buf_append(out, s, len);
}

static void put_markdown(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if (code == '\n' || code == '\r' || code == '\t')
        buf_putc(out, ' ');
    else if (code < 0x20 || code == 0x7f)
        buf_puts(out, REPLACEMENT);
    else if (code == '<')
        buf_puts(out, "&lt;");
    else if (code == '>')
        buf_puts(out, "&gt;");
    else {
        if (code < 0x80 && strchr("\\`*_[]|#@!~", (int)code))
            buf_putc(out, '\\');
        buf_append(out, s, len);
    }
}

static void put_json(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if (code == '"' || code == '\\') {
        buf_putc(out, '\\');
        buf_append(out, s, len);
    } else if (code < 0x20 || code == 0x7f) {
        buf_printf(out, "\\u%04x", code);
    } else {
        buf_append(out, s, len);
    }
}

static void put_prometheus(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if (code == '\n')
        buf_puts(out, "\\n");
    else {
        if (code == '"' || code == '\\')
            buf_putc(out, '\\');
        buf_append(out, s, len);
    }
}

static void put_terminal(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0))
        buf_puts(out, REPLACEMENT);
    else
        buf_append(out, s, len);
}

void escape_xml(struct buf *out, const char *text)
{
    walk(out, text, put_xml);
}

void escape_markdown(struct buf *out, const char *text)
{
    walk(out, text, put_markdown);
}

void escape_json(struct buf *out, const char *text)
{
    walk(out, text, put_json);
}

void escape_prometheus(struct buf *out, const char *text)
{
    walk(out, text, put_prometheus);
}

void escape_terminal(struct buf *out, const char *text)
{
    walk(out, text, put_terminal);
}

void escape_csv(struct buf *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        buf_puts(out, text);
        return;
    }
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_putc(out, '"');
}
