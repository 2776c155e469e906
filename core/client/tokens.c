#include "core/client/tokens.h"

#include "core/base/clock.h"
#include "core/base/scope.h"
#include "core/client/asker.h"

#include <stdlib.h>
#include <string.h>

/* A JSON value owned for a scope. */
struct document_json {
    json_t *json;
};

static void document_json_done(struct document_json *d)
{
    json_decref(d->json);
}

/* Forms of the question, tried in this order until one is answered. */
enum form {
    FORM_VLLM,   /* POST /tokenize {"model", "prompt" or "messages"}: {"count"}; other servers answer with "tokens" */
    FORM_LLAMA,  /* POST /tokenize {"content"}: {"tokens": […]}; of a chat after POST /apply-template               */
    FORM_PYTHON, /* llama-cpp-python, POST /extras/tokenize/count {"input"}: {"count"}                              */
    N_FORMS
};

struct counter {
    struct asker asker;
    const struct address *address; /* borrowed */
    enum form form;
};

static void counter_done(struct counter *c)
{
    asker_done(&c->asker);
}

int64_t tokens_estimate(const char *text)
{
    size_t n_ascii = 0, n_other = 0;

    for (; *text; text++) {
        unsigned char b = (unsigned char)*text;

        n_ascii += b < 0x80;
        n_other += b >= 0xC0;
    }
    return (int64_t)((n_ascii + 3) / 4 + n_other);
}

/* The whole text of a request: its prompt, or its messages' contents. */
static int64_t estimate(const json_t *request)
{
    const json_t *prompt = json_object_get(request, "prompt"), *message;
    int64_t n = 0;
    size_t i;

    if (json_is_string(prompt))
        return tokens_estimate(json_string_value(prompt));
    json_array_foreach (json_object_get(request, "messages"), i, message) {
        const json_t *content = json_object_get(message, "content");

        n += 4 + (json_is_string(content) ? tokens_estimate(json_string_value(content)) : 0);
    }
    return n;
}

static enum status post(struct counter *c, const char *route, json_t *body, json_t **ret, struct error *err)
{
    AUTO(document_json) owned = {body};
    AUTO(buf) url = {0};
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    enum status st;

    (void)owned; /* freed at the end */
    buf_printf(&url, "%s%s", c->address->root, route);
    st = text ? buf_check(&url, err) : error_set(err, ERR_MEMORY, "no memory for a question to the server");
    if (st == OK)
        st = asker_ask(&c->asker, buf_text(&url), text, ret, err);
    free(text);
    return st;
}

/* {"count": n}, or {"tokens": […]}; 0 for neither. */
static int64_t count_of(const json_t *answer)
{
    const json_t *count = json_object_get(answer, "count");

    if (json_is_integer(count) && json_integer_value(count) > 0 && json_integer_value(count) < INT32_MAX)
        return json_integer_value(count);
    return (int64_t)json_array_size(json_object_get(answer, "tokens"));
}

static enum status ask_vllm(struct counter *c, const json_t *request, int64_t *ret, struct error *err)
{
    AUTO(document_json) answer = {0};
    const char *key = json_object_get(request, "messages") ? "messages" : "prompt";
    json_t *body =
        json_pack("{s:O?, s:O?}", "model", json_object_get(request, "model"), key, json_object_get(request, key));

    TRY(post(c, "/tokenize", body, &answer.json, err));
    *ret = count_of(answer.json);
    return OK;
}

static enum status ask_llama(struct counter *c, const json_t *request, int64_t *ret, struct error *err)
{
    AUTO(document_json) rendered = {0};
    AUTO(document_json) answer = {0};
    json_t *messages = json_object_get(request, "messages"), *prompt = json_object_get(request, "prompt");

    if (messages) {
        TRY(post(c, "/apply-template", json_pack("{s:O}", "messages", messages), &rendered.json, err));
        prompt = json_object_get(rendered.json, "prompt");
    }
    if (!json_is_string(prompt))
        return OK;
    TRY(post(c, "/tokenize", json_pack("{s:O, s:b, s:b}", "content", prompt, "add_special", 1, "parse_special", 1),
             &answer.json, err));
    *ret = count_of(answer.json);
    return OK;
}

/* It has no route that applies a template, so chats are left to the estimate. */
static enum status ask_python(struct counter *c, const json_t *request, int64_t *ret, struct error *err)
{
    AUTO(document_json) answer = {0};
    json_t *prompt = json_object_get(request, "prompt");

    if (!json_is_string(prompt))
        return OK;
    TRY(post(c, "/extras/tokenize/count", json_pack("{s:O}", "input", prompt), &answer.json, err));
    *ret = count_of(answer.json);
    return OK;
}

/* 0 when no form is answered; then none is tried again. */
static enum status ask(struct counter *c, const json_t *request, int64_t *ret, struct error *err)
{
    *ret = 0;
    while (c->form < N_FORMS) {
        if (c->form == FORM_VLLM)
            TRY(ask_vllm(c, request, ret, err));
        else if (c->form == FORM_LLAMA)
            TRY(ask_llama(c, request, ret, err));
        else
            TRY(ask_python(c, request, ret, err));
        if (*ret > 0)
            return OK;
        c->form++;
    }
    return OK;
}

static enum status count_one(struct counter *c, const struct tokens_options *o, struct exchange *x, int64_t until_ns,
                             struct error *err)
{
    AUTO(document_json) request = {json_loads(x->request, 0, NULL)};

    if (!json_is_object(request.json))
        return OK;
    if (o->asks_server && clock_ns() < until_ns)
        TRY(ask(c, request.json, &x->tokens_sent, err));
    if (x->tokens_sent > 0 || !o->estimates)
        return OK;
    x->tokens_sent = estimate(request.json);
    x->tokens_sent_is_estimate = true;
    return OK;
}

enum status tokens_count(struct run *run, const struct tokens_options *o, const struct transport_options *t,
                         const struct address *e, const struct head *head, struct error *err)
{
    int64_t until_ns = clock_ns() + o->patience_ns;
    AUTO(counter) c = {.address = e};
    size_t i;

    TRY(asker_init(&c.asker, t, head, err));
    for (i = 0; i < run->n_exchanges; i++)
        if (run->exchanges[i].tokens_sent == 0 && run->exchanges[i].request[0])
            TRY(count_one(&c, o, &run->exchanges[i], until_ns, err));
    return OK;
}
