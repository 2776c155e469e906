#include "core/model/redact.h"

#include <stdbool.h>
#include <string.h>

/* Members whose texts are words that a person or a model said. */
static bool is_wordy(const char *key, size_t len)
{
    static const char *const names[] = {"content", "text",    "reasoning", "reasoning_content", "thinking", "arguments",
                                        "refusal", "summary", "prompt",    "generated_text",    "token"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (len == strlen(names[i]) && memcmp(key, names[i], len) == 0)
            return true;
    return false;
}

/* The closing quote of a text that begins at `at`; or the line's end, since no JSON text goes beyond it. */
static size_t end_of_text(const char *text, size_t len, size_t at)
{
    while (at < len && text[at] != '"' && text[at] != '\n')
        at += text[at] == '\\' ? 2 : 1;
    return at < len ? at : len;
}

static size_t skip_space(const char *text, size_t len, size_t at)
{
    while (at < len && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at;
}

/* Lists of numbers that spell the words: each becomes 0. */
static bool is_spelling(const char *key, size_t len)
{
    static const char *const names[] = {"bytes", "token_ids", "prompt_token_ids", "tokens"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (len == strlen(names[i]) && memcmp(key, names[i], len) == 0)
            return true;
    return false;
}

/* From the colon on: a flat list of numbers, if there is one. */
static void hide_numbers(char *text, size_t len, size_t at)
{
    bool is_inside = false;

    at = skip_space(text, len, at + 1);
    if (at == len || text[at] != '[')
        return;
    for (at++; at < len && strchr("0123456789-, \t", text[at]) && text[at]; at++) {
        bool is_digit = (text[at] >= '0' && text[at] <= '9') || text[at] == '-';

        if (is_digit)
            text[at] = is_inside ? ' ' : '0';
        is_inside = is_digit;
    }
}

void redact_json(char *text, size_t len)
{
    bool is_hidden = false; /* the value that comes next */
    size_t at = 0;

    while (at < len) {
        size_t start, end, after;

        if (text[at] != '"') {
            is_hidden = is_hidden && (text[at] == ' ' || text[at] == '\t' || text[at] == ':');
            at++;
            continue;
        }
        start = at + 1;
        end = end_of_text(text, len, start);
        after = skip_space(text, len, end + 1);
        if (is_hidden)
            memset(text + start, 'x', end - start);
        if (!is_hidden && after < len && text[after] == ':' && is_spelling(text + start, end - start))
            hide_numbers(text, len, after);
        is_hidden = !is_hidden && after < len && text[after] == ':' && is_wordy(text + start, end - start);
        at = end + 1;
    }
}

void redact_run(struct run *run, size_t keep)
{
    size_t i, k;

    for (i = keep; i < run->n_exchanges; i++) {
        struct exchange *x = &run->exchanges[i];
        const struct read_event *e = &run->events[x->first_event];
        size_t len = 0;

        for (k = 0; k < x->n_events; k++)
            len += (size_t)e[k].len;
        if (len > 0)
            redact_json((char *)run->bytes + e[0].offset, len);
        redact_json(x->request, strlen(x->request));
        x->is_redacted = true;
    }
}
