#include "core/client/transfer.h"

#include <stdlib.h>
#include <string.h>

void transfer_reset(struct transfer *t)
{
    buf_clear(&t->bytes);
    buf_clear(&t->headers);
    buf_clear(&t->failure);
    t->n_events = 0;
    t->status = 0;
    t->retry_after_ns = -1;
    t->end = TRANSFER_WHOLE;
    t->started_ns = t->sent_ns = t->first_ns = t->last_ns = t->ended_ns = NS_UNKNOWN;
    t->connect_ns = 0;
    t->round = 0;
    t->waits_to_write = false;
}

void transfer_done(struct transfer *t)
{
    buf_done(&t->body);
    buf_done(&t->bytes);
    buf_done(&t->headers);
    buf_done(&t->failure);
    free(t->events);
    memset(t, 0, sizeof *t);
}

/* After `"key"`: white space, a colon, white space, and a text that is not empty. */
static bool has_text_after(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at == end || *at++ != ':')
        return false;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return end - at >= 2 && at[0] == '"' && at[1] != '"';
}

bool transfer_has_content(const char *bytes, size_t len)
{
    static const char *const keys[] = {"\"content\"",  "\"text\"",      "\"reasoning_content\"", "\"reasoning\"",
                                       "\"thinking\"", "\"arguments\"", "\"generated_text\"",    "\"name\""};
    const char *end = bytes + len;
    size_t i;

    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        const char *at = bytes;

        while ((at = memmem(at, (size_t)(end - at), keys[i], n)) != NULL) {
            at += n;
            if (has_text_after(at, end))
                return true;
        }
    }
    return false;
}
