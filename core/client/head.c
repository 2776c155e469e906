#include "core/client/head.h"

#include "core/base/buf.h"
#include "core/base/scope.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void head_done(struct head *h)
{
    curl_slist_free_all(h->lines);
    memset(h, 0, sizeof *h);
}

static enum status add(struct head *h, const char *line, struct error *err)
{
    struct curl_slist *list = curl_slist_append(h->lines, line);

    if (!list)
        return error_set(err, ERR_MEMORY, "no memory for the headers of a request");
    h->lines = list;
    return OK;
}

/* Letters, digits and what else RFC 9110 allows in a name, then a colon. */
static size_t name_len(const char *line)
{
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~");

    return line[n] == ':' ? n : 0;
}

static bool carries_key(const char *line, size_t n)
{
    static const char *const names[] = {"authorization", "proxy-authorization", "api-key", "x-api-key",
                                        "cookie",        "x-goog-api-key"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (n == strlen(names[i]) && strncasecmp(line, names[i], n) == 0)
            return true;
    return false;
}

static enum status add_extra(struct head *h, const char *line, struct error *err)
{
    size_t n = name_len(line);

    if (n == 0 || strpbrk(line, "\r\n"))
        return error_set(err, ERR_USAGE, "--header '%.100s' is no header: write it as 'Name: value'", line);
    if (carries_key(line, n))
        return error_set(err, ERR_USAGE,
                         "--header '%.*s: …' would put a key on the command line: set TARE_API_KEY in the environment, "
                         "and --key-header where it does not go to 'Authorization'",
                         (int)n, line);
    return add(h, line, err);
}

static enum status add_key(struct head *h, const char *key_header, struct error *err)
{
    AUTO(buf) line = {0};
    const char *key = getenv("TARE_API_KEY");

    if (!key || !key[0])
        key = getenv("OPENAI_API_KEY");
    if (!key || !key[0])
        return OK;
    if (strpbrk(key, "\r\n"))
        return error_set(err, ERR_USAGE, "the API key in the environment holds a line end: set it without");
    h->secret = key;
    if (key_header)
        buf_printf(&line, "%s: %s", key_header, key);
    else
        buf_printf(&line, "Authorization: Bearer %s", key);
    TRY(buf_check(&line, err));
    return add(h, line.data, err);
}

enum status head_init(struct head *h, bool is_stream, const char *key_header, const char *const *extra, size_t n,
                      struct error *err)
{
    size_t i;

    memset(h, 0, sizeof *h);
    TRY(add(h, "Content-Type: application/json", err));
    TRY(add(h, is_stream ? "Accept: text/event-stream" : "Accept: application/json", err));
    TRY(add(h, "Expect:", err)); /* no "100-continue": it costs a round trip */
    for (i = 0; i < n; i++)
        TRY(add_extra(h, extra[i], err));
    return add_key(h, key_header, err);
}
