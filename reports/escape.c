#include "reports/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Walks `text` character by character; `put` writes each; what is not UTF-8 becomes U+FFFD. */
static void walk(struct buf *out, const char *text,
                 void (*put)(struct buf *out, const char *s, size_t len, uint32_t code))
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        utf8proc_int32_t code = 0;
        utf8proc_ssize_t len = utf8proc_iterate(s, -1, &code);

        if (len <= 0) {
            buf_puts(out, REPLACEMENT);
            s++;
            continue;
        }
        put(out, (const char *)s, (size_t)len, (uint32_t)code);
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
    else if (code == '&')
        buf_puts(out, "&amp;");
    else {
        if (code < 0x80 && strchr("\\`*_[]|#@!~", (int)code))
            buf_putc(out, '\\');
        buf_append(out, s, len);
        if (code == '@') /* a zero-width space: a task's name must not call a person */
            buf_puts(out, "\xe2\x80\x8b");
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

/* Characters that turn the direction of a line: they can make it read as something else than it says. */
static bool is_bidi(uint32_t code)
{
    return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void put_terminal(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || is_bidi(code))
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

static void put_csv(struct buf *out, const char *s, size_t len, uint32_t code)
{
    if (code == '"')
        buf_putc(out, '"');
    buf_append(out, s, len);
}

void escape_csv(struct buf *out, const char *text)
{
    bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;

    if (is_quoted)
        buf_putc(out, '"');
    walk(out, text, put_csv);
    if (is_quoted)
        buf_putc(out, '"');
}
