#include "core/client/http.h"

#include "core/base/num.h"

#include <string.h>
#include <strings.h>

enum { MAX_HEAD = 256 * 1024 };

enum {
    IN_HEAD,
    IN_BODY,       /* until `left` is 0, or without end */
    IN_CHUNK_SIZE, /* hexadecimal digits                */
    IN_CHUNK_EXT,  /* the rest of that line             */
    IN_CHUNK_DATA,
    IN_CHUNK_END, /* CR LF after the data              */
    IN_TRAILER,
    AT_END
};

void http_init(struct http *h, struct http_sink sink)
{
    memset(h, 0, sizeof *h);
    h->sink = sink;
    h->line.limit = MAX_HEAD;
}

void http_done(struct http *h)
{
    buf_done(&h->line);
    buf_done(&h->fields);
}

static void bad(struct http *h, const char *why)
{
    h->is_bad = true;
    h->why = why;
    h->state = AT_END;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Appends without NUL, which ends names and values here. */
static void put_text(struct buf *b, const char *text, size_t len, bool to_lower)
{
    size_t i;

    for (i = 0; i < len; i++) {
        char c = text[i] ? text[i] : ' ';

        buf_putc(b, to_lower && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
}

static void add_field(struct http *h, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    size_t name;

    while (len && is_blank(line[len - 1]))
        len--;
    if (len && is_blank(line[0]) && h->fields.len) { /* a folded line goes on with the value before it */
        h->fields.len--;
        put_text(&h->fields, line, len, false);
        buf_putc(&h->fields, '\0');
        return;
    }
    if (!colon || colon == line)
        return;
    name = (size_t)(colon - line);
    put_text(&h->fields, line, name, true);
    buf_putc(&h->fields, '\0');
    for (line += name + 1, len -= name + 1; len && is_blank(*line); len--)
        line++;
    put_text(&h->fields, line, len, false);
    buf_putc(&h->fields, '\0');
}

static void add_fields(struct http *h, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end) {
        const char *lf = memchr(text, '\n', (size_t)(end - text));
        size_t line = lf ? (size_t)(lf - text) : (size_t)(end - text);

        add_field(h, text, line && text[line - 1] == '\r' ? line - 1 : line);
        text += lf ? line + 1 : line;
    }
}

enum status http_init_body(struct http *h, struct http_sink sink, int64_t status, const char *headers,
                           struct error *err)
{
    http_init(h, sink);
    h->status = status;
    h->framing = HTTP_BODY_ONLY;
    h->state = IN_BODY;
    if (headers)
        add_fields(h, headers, strlen(headers));
    return buf_check(&h->fields, err);
}

/* The value of the nth field of that name. */
static const char *nth_header(const struct http *h, const char *name, size_t nth)
{
    const char *at = buf_text(&h->fields), *end = at + h->fields.len;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (strcmp(at, name) == 0 && nth-- == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

const char *http_header(const struct http *h, const char *name)
{
    return nth_header(h, name, 0);
}

/* "HTTP/1.1 200 OK": 200, or 0. */
static int64_t status_of(const char *head)
{
    const char *at = strchr(head, ' ');
    int64_t status = 0;
    int i;

    if (strncmp(head, "HTTP/", 5) != 0 || !at)
        return 0;
    at += strspn(at, " ");
    for (i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '9')
            return 0;
        status = status * 10 + (at[i] - '0');
    }
    return at[3] >= '0' && at[3] <= '9' ? 0 : status;
}

/* One number, or the same number several times (RFC 9110, 8.6). */
static bool read_length(struct http *h, const char *value, bool is_first)
{
    char digits[24];

    while (*value) {
        size_t n = strspn(value, "0123456789");
        uint64_t length;

        if (n == 0 || n >= sizeof digits)
            return false;
        memcpy(digits, value, n);
        digits[n] = '\0';
        if (!num_u64(digits, &length) || (!is_first && length != h->left))
            return false;
        h->left = length;
        is_first = false;
        value += n;
        value += strspn(value, ", \t");
    }
    return !is_first;
}

static void choose_framing(struct http *h)
{
    const char *coding = http_header(h, "transfer-encoding");
    size_t i;

    if (h->status == 204 || h->status == 304) {
        h->state = AT_END;
        return;
    }
    if (coding && strcasestr(coding, "chunked")) {
        h->framing = HTTP_CHUNKED;
        h->state = IN_CHUNK_SIZE;
        return;
    }
    h->framing = HTTP_UNTIL_CLOSE;
    h->state = IN_BODY;
    for (i = 0; nth_header(h, "content-length", i); i++) {
        if (!read_length(h, nth_header(h, "content-length", i), i == 0)) {
            bad(h, "content-length is not one number");
            return;
        }
    }
    if (i == 0)
        return;
    h->framing = HTTP_LENGTH;
    if (h->left == 0)
        h->state = AT_END;
}

static void end_head(struct http *h)
{
    const char *head = buf_text(&h->line);
    const char *fields = strchr(head, '\n');

    h->status = status_of(head);
    if (h->status == 0 || !fields) {
        bad(h, "the reply does not begin with an HTTP status line");
        return;
    }
    if (h->status >= 100 && h->status < 200 && h->status != 101) { /* 100 Continue, 103 Early Hints: the next counts */
        h->status = 0;
        buf_clear(&h->line);
        return;
    }
    add_fields(h, fields + 1, h->line.len - (size_t)(fields + 1 - head));
    buf_clear(&h->line);
    choose_framing(h);
}

/* True when the text ends in an empty line, or is one. */
static bool ends_in_blank_line(const struct buf *b)
{
    size_t n = b->len;

    if (n == 0 || b->data[n - 1] != '\n')
        return false;
    n--;
    if (n && b->data[n - 1] == '\r')
        n--;
    return n == 0 || b->data[n - 1] == '\n';
}

static size_t feed_head(struct http *h, const unsigned char *bytes, size_t len)
{
    const unsigned char *lf = memchr(bytes, '\n', len);
    size_t n = lf ? (size_t)(lf - bytes) + 1 : len;

    buf_append(&h->line, bytes, n);
    if (h->line.failed) {
        bad(h, "the head of the reply is too long");
        return n;
    }
    if (!lf || !ends_in_blank_line(&h->line))
        return n;
    if (h->line.len <= 2)
        buf_clear(&h->line); /* empty lines before the status line (RFC 9112, 2.2) */
    else
        end_head(h);
    return n;
}

/* Trailer fields are read over: nothing in them counts here. Only the length of the current line is kept. */
static size_t feed_trailer(struct http *h, const unsigned char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (bytes[i] == '\n') {
            if (h->left == 0) {
                h->state = AT_END;
                return i + 1;
            }
            h->left = 0;
        } else if (bytes[i] != '\r') {
            h->left = 1;
        }
    }
    return len;
}

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static size_t feed_chunk_size(struct http *h, unsigned char c)
{
    int digit = hex_digit(c);

    if (digit >= 0) {
        if (h->left >> 59)
            bad(h, "a chunk size is too large");
        h->left = h->left * 16 + (uint64_t)digit;
        h->has_digits = true;
        return 1;
    }
    if (!h->has_digits || (c != ';' && c != '\r' && c != '\n' && c != ' ' && c != '\t')) {
        bad(h, "a chunk size is not hexadecimal");
        return 1;
    }
    h->state = IN_CHUNK_EXT;
    return 0;
}

static size_t feed_chunk_ext(struct http *h, const unsigned char *bytes, size_t len)
{
    const unsigned char *lf = memchr(bytes, '\n', len);

    if (!lf)
        return len;
    h->state = h->left ? IN_CHUNK_DATA : IN_TRAILER;
    h->has_digits = false;
    return (size_t)(lf - bytes) + 1;
}

static size_t feed_chunk_end(struct http *h, unsigned char c)
{
    if (c == '\n')
        h->state = IN_CHUNK_SIZE;
    else if (c != '\r')
        bad(h, "a chunk is longer than its size says");
    return 1;
}

static enum status feed_body(struct http *h, const unsigned char *bytes, size_t len, int64_t t_ns, size_t *ret_n,
                             struct error *err)
{
    bool is_bounded = h->framing == HTTP_CHUNKED || h->framing == HTTP_LENGTH;
    size_t n = is_bounded && h->left < len ? (size_t)h->left : len;

    TRY(h->sink.on_body(h->sink.ctx, bytes, n, t_ns, err));
    h->body_len += n;
    if (is_bounded) {
        h->left -= n;
        if (h->left == 0)
            h->state = h->framing == HTTP_CHUNKED ? IN_CHUNK_END : AT_END;
    }
    *ret_n = n;
    return OK;
}

enum status http_feed(struct http *h, const unsigned char *bytes, size_t len, int64_t t_ns, struct error *err)
{
    while (len && h->state != AT_END) {
        size_t n = 0;

        if (h->state == IN_HEAD)
            n = feed_head(h, bytes, len);
        else if (h->state == IN_CHUNK_SIZE)
            n = feed_chunk_size(h, *bytes);
        else if (h->state == IN_CHUNK_EXT)
            n = feed_chunk_ext(h, bytes, len);
        else if (h->state == IN_CHUNK_END)
            n = feed_chunk_end(h, *bytes);
        else if (h->state == IN_TRAILER)
            n = feed_trailer(h, bytes, len);
        else
            TRY(feed_body(h, bytes, len, t_ns, &n, err));
        bytes += n;
        len -= n;
    }
    return buf_check(&h->fields, err);
}

bool http_is_whole(const struct http *h)
{
    return h->state == AT_END && !h->is_bad;
}
