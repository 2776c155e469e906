#include "core/client/chunk.h"

#include "core/base/scope.h"
#include "core/client/chunk_plain.h"
#include "core/client/repair.h"

#include <jansson.h>
#include <string.h>

/* A count of tokens above this is a mistake of the server's: no context is a hundredth as long. */
#define MAX_TOKENS ((int64_t)1000000000)

enum { MAX_WORDS = 4096 };

void chunk_done(struct chunk *c)
{
    buf_done(&c->content);
    buf_done(&c->finish_reason);
    buf_done(&c->model);
    buf_done(&c->error);
}

void chunk_clear(struct chunk *c)
{
    buf_clear(&c->content);
    buf_clear(&c->finish_reason);
    buf_clear(&c->model);
    buf_clear(&c->error);
    c->n_pieces = 0;
    c->prompt_tokens = c->completion_tokens = c->cached_tokens = c->reasoning_tokens = c->total_tokens = -1;
    c->n_tokens = -1;
    c->has_reasoning = c->has_tool_call = c->has_refusal = c->is_error = c->is_garbage = false;
}

void chunk_words(struct buf *ret, const char *text, size_t len, size_t max)
{
    AUTO(buf) clean = {0};
    size_t room = max > ret->len ? max - ret->len : 0;
    size_t n, i;

    /* A few bytes more than fit, so that a character cut in two falls off the end. */
    repair_utf8(&clean, text, len < max + 4 ? len : max + 4);
    n = clean.len < room ? clean.len : room;
    while (n && n < clean.len && ((unsigned char)clean.data[n] & 0xC0) == 0x80)
        n--;
    for (i = 0; i < n; i++) {
        unsigned char b = (unsigned char)clean.data[i];

        buf_putc(ret, (b < 0x20 && b != '\n') || b == 0x7F ? ' ' : (char)b);
    }
}

static bool is_text(const json_t *v)
{
    return json_is_string(v) && json_string_length(v) > 0;
}

static void put(struct buf *b, const json_t *text)
{
    buf_append(b, json_string_value(text), json_string_length(text));
}

static void set(struct buf *b, const json_t *text)
{
    if (!is_text(text))
        return;
    buf_clear(b);
    put(b, text);
}

/* Any value as words: a text as it is, all else as compact JSON. */
static void put_words(struct buf *b, const json_t *value)
{
    char text[MAX_WORDS] = {0};

    if (json_is_string(value)) {
        chunk_words(b, json_string_value(value), json_string_length(value), MAX_WORDS);
        return;
    }
    json_dumpb(value, text, sizeof text, JSON_COMPACT | JSON_ENCODE_ANY); /* what does not fit is left out */
    chunk_words(b, text, strnlen(text, sizeof text), MAX_WORDS);
}

/* null, false, "" and {} stand in replies of servers that always send the key. */
static bool says_error(const json_t *value)
{
    if (!value || json_is_null(value) || json_is_false(value))
        return false;
    if (json_is_string(value))
        return json_string_length(value) > 0;
    return !json_is_object(value) || json_object_size(value) > 0;
}

static void take_error(struct chunk *c, const json_t *value)
{
    const json_t *words = json_is_object(value) ? json_object_get(value, "message") : NULL;

    if (c->is_error)
        return;
    c->is_error = true;
    if (!is_text(words) && json_is_object(value))
        words = json_object_get(value, "detail");
    put_words(&c->error, says_error(words) ? words : value);
}

static bool is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

/* {"error": …}; {"object": "error", "message": …}; {"detail": …} and {"message": …} of proxies, without choices. */
static const json_t *find_error(const json_t *top)
{
    static const char *const keys[] = {"error", "errors", "detail"};
    bool is_reply =
        json_object_get(top, "choices") || json_object_get(top, "token") || json_object_get(top, "generated_text");
    size_t n = is_reply ? 2 : 3, i;

    for (i = 0; i < n; i++) {
        if (says_error(json_object_get(top, keys[i])))
            return json_object_get(top, keys[i]);
    }
    if (is_word(json_object_get(top, "object"), "error") || is_word(json_object_get(top, "type"), "error"))
        return top;
    return !is_reply && is_text(json_object_get(top, "message")) ? top : NULL;
}

static int64_t token_count(const json_t *usage, const char *key)
{
    const json_t *value = json_object_get(usage, key);
    double n;

    if (!json_is_number(value))
        return -1;
    n = json_number_value(value);
    if (!(n >= 0 && n <= (double)MAX_TOKENS) || n - (double)(int64_t)n > 0)
        return -1;
    return (int64_t)n;
}

/* Into *to when the server tells a believable count. */
static void take_count(int64_t *to, const json_t *usage, const char *key)
{
    int64_t n = token_count(usage, key);

    if (n >= 0)
        *to = n;
}

/* What a cache had of the prompt, and what of the answer was reasoning: servers have put it in several places. */
static void take_details(struct chunk *c, const json_t *usage)
{
    take_count(&c->cached_tokens, usage, "prompt_cache_hit_tokens");
    take_count(&c->cached_tokens, usage, "cached_tokens");
    take_count(&c->cached_tokens, json_object_get(usage, "prompt_tokens_details"), "cached_tokens");
    take_count(&c->reasoning_tokens, usage, "reasoning_tokens");
    take_count(&c->reasoning_tokens, json_object_get(usage, "completion_tokens_details"), "reasoning_tokens");
    take_count(&c->total_tokens, usage, "total_tokens");
}

static void take_usage(struct chunk *c, const json_t *usage, const char *prompt, const char *completion)
{
    int64_t n;

    if (!json_is_object(usage))
        return;
    take_details(c, usage);
    n = token_count(usage, prompt);
    if (n > 0) /* no model reads an empty prompt: 0 stands for "not counted" */
        c->prompt_tokens = n;
    take_count(&c->completion_tokens, usage, completion);
}

static void put_content(struct chunk *c, const json_t *text)
{
    if (c->half || c->has_stand_ins)
        repair_join(&c->content, &c->half, c->has_stand_ins, json_string_value(text), json_string_length(text));
    else
        put(&c->content, text);
}

/* `content` is a text, null, or a list of parts: texts, or objects with one. */
static void take_content(struct chunk *c, const json_t *content)
{
    const json_t *part;
    size_t i;

    if (json_is_string(content)) {
        put_content(c, content);
        return;
    }
    json_array_foreach (content, i, part) {
        const json_t *text = json_is_object(part) ? json_object_get(part, "text") : part;
        const json_t *type = json_is_object(part) ? json_object_get(part, "type") : NULL;
        const char *kind = json_is_string(type) ? json_string_value(type) : "text";

        if (strcmp(kind, "thinking") == 0 || strcmp(kind, "reasoning") == 0)
            c->has_reasoning = true;
        else if (is_text(text))
            put_content(c, text);
    }
}

static bool any_text(const json_t *object, const char *const *keys, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (is_text(json_object_get(object, keys[i])))
            return true;
    }
    return false;
}

static bool is_call_piece(const json_t *call)
{
    static const char *const own[] = {"id", "name", "arguments"};
    const json_t *function = json_object_get(call, "function");
    const json_t *arguments = json_object_get(function ? function : call, "arguments");

    return any_text(call, own, 3) || any_text(function, own, 3) || json_object_size(arguments) > 0;
}

static void take_calls(struct chunk *c, const json_t *message)
{
    const json_t *call;
    size_t i;

    json_array_foreach (json_object_get(message, "tool_calls"), i, call) {
        if (is_call_piece(call))
            c->has_tool_call = true;
    }
    if (is_call_piece(json_object_get(message, "function_call")))
        c->has_tool_call = true;
}

static void take_reasoning(struct chunk *c, const json_t *message)
{
    static const char *const keys[] = {
        "reasoning", "reasoning_content", "reasoning_text", "thinking", "text", "summary", "data"};
    enum { N_OWN = 4 };
    const json_t *detail;
    size_t i;

    if (any_text(message, keys, N_OWN))
        c->has_reasoning = true;
    json_array_foreach (json_object_get(message, "reasoning_details"), i, detail) {
        if (any_text(detail, keys + N_OWN, 3))
            c->has_reasoning = true;
    }
}

/* One id, or one log-probability, a token. */
static void take_token_list(struct chunk *c, const json_t *choice)
{
    const json_t *logprobs = json_object_get(choice, "logprobs");
    const json_t *list = json_object_get(choice, "token_ids");

    if (!json_is_array(list))
        list = json_object_get(logprobs, "content");
    if (!json_is_array(list))
        list = json_object_get(logprobs, "tokens");
    if (json_array_size(list))
        c->n_tokens = (c->n_tokens < 0 ? 0 : c->n_tokens) + (int64_t)json_array_size(list);
}

static void take_message(struct chunk *c, const json_t *message)
{
    take_content(c, json_object_get(message, "content"));
    take_content(c, json_object_get(message, "refusal"));
    c->has_refusal |= is_text(json_object_get(message, "refusal"));
    take_reasoning(c, message);
    take_calls(c, message);
}

static void take_choice(struct chunk *c, const json_t *choice)
{
    const json_t *index = json_object_get(choice, "index");

    if (json_is_number(index) && json_number_value(index) > 0)
        return;
    if (says_error(json_object_get(choice, "error")))
        take_error(c, json_object_get(choice, "error"));
    take_message(c, json_object_get(choice, "delta"));
    take_message(c, json_object_get(choice, "message"));
    take_content(c, json_object_get(choice, "text"));
    take_reasoning(c, choice);
    take_token_list(c, choice);
    set(&c->finish_reason, json_object_get(choice, "finish_reason"));
}

/* {"token": {"text", "special"}, "generated_text": null or the whole, "details": null or the end}; without a stream
 * generated_text alone brings the text. */
static void take_generation(struct chunk *c, const json_t *top)
{
    const json_t *token = json_object_get(top, "token");
    const json_t *details = json_object_get(top, "details");

    if (!token)
        take_content(c, json_object_get(top, "generated_text"));
    else if (!json_is_true(json_object_get(token, "special")))
        take_content(c, json_object_get(token, "text"));
    set(&c->finish_reason, json_object_get(details, "finish_reason"));
    take_usage(c, details, "input_length", "generated_tokens");
}

static void take_object(struct chunk *c, const json_t *top)
{
    const json_t *choices = json_object_get(top, "choices");
    const json_t *choice;
    size_t before = c->content.len, i;
    bool had_reasoning = c->has_reasoning, had_call = c->has_tool_call;

    c->has_reasoning = c->has_tool_call = false;
    json_array_foreach (choices, i, choice)
        take_choice(c, choice);
    if (!choices)
        take_generation(c, top);
    take_usage(c, json_object_get(json_object_get(top, "x_groq"), "usage"), "prompt_tokens", "completion_tokens");
    take_usage(c, json_object_get(top, "usage"), "prompt_tokens", "completion_tokens");
    take_count(&c->cached_tokens, json_object_get(top, "timings"), "cache_n");
    set(&c->model, json_object_get(top, "model"));
    if (find_error(top))
        take_error(c, find_error(top));
    if (c->content.len > before || (c->half && c->has_stand_ins) || c->has_reasoning || c->has_tool_call)
        c->n_pieces++;
    c->has_reasoning |= had_reasoning;
    c->has_tool_call |= had_call;
}

static void take_value(struct chunk *c, const json_t *value)
{
    const json_t *item;
    size_t i;

    if (json_is_object(value)) {
        take_object(c, value);
        return;
    }
    if (!json_is_array(value)) {
        c->is_garbage = true;
        return;
    }
    json_array_foreach (value, i, item) { /* [{"generated_text": …}], [{"error": …}] */
        if (json_is_object(item))
            take_object(c, item);
    }
}

static size_t skip_space(const char *text, size_t len, size_t at)
{
    while (at < len && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at;
}

/* Reads values until the text or its sense ends; returns how far it came. */
static size_t read_values(struct chunk *c, const char *text, size_t len, size_t flags)
{
    size_t at = skip_space(text, len, 0);

    while (at < len) {
        json_error_t je;
        json_t *value = json_loadb(text + at, len - at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL | flags, &je);

        if (!value)
            break;
        take_value(c, value);
        json_decref(value);
        at = skip_space(text, len, at + (size_t)je.position);
    }
    return at;
}

enum status chunk_read(struct chunk *c, const char *text, size_t len, struct error *err)
{
    size_t at = chunk_plain(c, text, len) ? len : read_values(c, text, len, 0);

    if (at < len) { /* what jansson refuses but servers send: cut pairs, stray bytes, counts beyond 64 bits */
        AUTO(buf) better = {0};

        repair_json(&better, text + at, len - at);
        TRY(buf_check(&better, err));
        c->has_stand_ins = true;
        at = read_values(c, buf_text(&better), better.len, JSON_DECODE_INT_AS_REAL);
        c->has_stand_ins = false;
        if (at < better.len)
            c->is_garbage = true;
    }
    TRY(buf_check(&c->content, err));
    TRY(buf_check(&c->model, err));
    TRY(buf_check(&c->finish_reason, err));
    return buf_check(&c->error, err);
}
