#include "core/base/buf.h"

#include "core/base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = b->is_full = false;
    if (b->data)
        b->data[0] = '\0';
}

/* Makes room for `more` bytes and the NUL. */
static bool reserve(struct buf *b, size_t more)
{
    size_t limit = b->limit ? b->limit : BUF_DEFAULT_LIMIT;
    size_t need, cap;
    char *data;

    if (b->failed)
        return false;
    if (!size_add(b->len, more, &need) || need > limit || !size_add(need, 1, &need)) {
        b->failed = b->is_full = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    cap = b->cap > 128 ? b->cap : 128;
    while (cap < need)
        cap = cap > (size_t)-1 / 2 ? need : cap * 2;
    data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void buf_append(struct buf *b, const void *bytes, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    buf_append(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0) {
        b->failed = true;
        return;
    }
    if (!reserve(b, (size_t)len))
        return;
    va_start(args, fmt);
    vsnprintf(b->data + b->len, (size_t)len + 1, fmt, args);
    va_end(args);
    b->len += (size_t)len;
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

enum status buf_check(const struct buf *b, struct error *err)
{
    size_t limit = b->limit ? b->limit : BUF_DEFAULT_LIMIT;

    if (!b->failed)
        return OK;
    if (b->is_full)
        return error_set(err, ERR_LIMIT, "text is longer than its limit of %zu bytes", limit);
    return error_set(err, ERR_MEMORY, "no memory for a text of more than %zu bytes", b->len);
}
