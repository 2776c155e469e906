#include "core/client/scrub.h"

#include <stdbool.h>
#include <string.h>

/* Between two pieces of a text in a stream stands the rest of one event and the beginning of the next. */
enum { MAX_GAP = 16384 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What "\uXXXX" stands for, -1 when it is none. */
static int escaped_code(const char *at, const char *end)
{
    int code = 0, i;

    if (end - at < 6 || at[1] != 'u')
        return -1;
    for (i = 2; i < 6; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* A byte of a text, or the character that an escape of JSON stands for; `ret_len`: bytes that it takes. */
static int character(const char *at, const char *end, size_t *ret_len)
{
    int code;

    *ret_len = 1;
    if (*at != '\\' || end - at < 2)
        return (unsigned char)*at;
    code = escaped_code(at, end);
    if (code >= 0) {
        *ret_len = 6;
        return code;
    }
    if (!strchr("\"\\/", at[1]) || !at[1])
        return '\\';
    *ret_len = 2;
    return at[1];
}

/* Past white space of JSON, which an event stream may break into lines of data. */
static char *skip_space(char *at, char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        bool ends_line = *at == '\n' || *at == '\r';

        at++;
        if (ends_line && end - at >= 5 && memcmp(at, "data:", 5) == 0)
            at += 5;
    }
    return at;
}

/* The first byte of the next text that is not empty under `key`, which has its quotes. */
static char *text_under(char *at, char *end, const char *key)
{
    size_t n = strlen(key);

    while ((at = memmem(at, (size_t)(end - at), key, n)) != NULL) {
        at = skip_space(at + n, end);
        if (at == end || *at != ':')
            continue;
        at = skip_space(at + 1, end);
        if (end - at >= 2 && at[0] == '"' && at[1] != '"')
            return at + 1;
    }
    return NULL;
}

/* Whether the secret stands at `at`; with a key, what is missing at a text's end may follow in the next ones under it.
 */
static bool follow(char *at, char *end, const char *secret, const char *key, bool masks)
{
    for (; *secret; secret++) {
        size_t len;

        if (key && at < end && *at == '"')
            at = text_under(at + 1, end - at > MAX_GAP ? at + MAX_GAP : end, key);
        if (!at || at >= end || character(at, end, &len) != (unsigned char)*secret)
            return false;
        if (masks)
            memset(at, '*', len);
        at += len;
    }
    return true;
}

static void mask_if_there(char *at, char *end, const char *secret, const char *key)
{
    if (follow(at, end, secret, key, false))
        follow(at, end, secret, key, true);
}

static void scrub_whole(char *at, char *end, const char *secret)
{
    for (; at < end; at++)
        if (*at == *secret || *at == '\\')
            mask_if_there(at, end, secret, NULL);
}

static void scrub_pieces(char *at, char *end, const char *secret, const char *key)
{
    at = text_under(at, end, key);
    while (at && at < end) {
        size_t len;

        if (*at == '"') {
            at = text_under(at + 1, end, key);
            continue;
        }
        if (character(at, end, &len) == (unsigned char)*secret)
            mask_if_there(at, end, secret, key);
        at += len;
    }
}

void scrub(struct buf *b, const char *secret)
{
    static const char *const keys[] = {"\"content\"",   "\"text\"",     "\"reasoning_content\"", "\"reasoning\"",
                                       "\"token\"",     "\"thinking\"", "\"generated_text\"",    "\"name\"",
                                       "\"arguments\"", "\"refusal\"",  "\"reasoning_text\""};
    size_t i;

    if (!secret || strlen(secret) < SCRUB_MIN || b->len == 0)
        return;
    scrub_whole(b->data, b->data + b->len, secret);
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        scrub_pieces(b->data, b->data + b->len, secret, keys[i]);
}
