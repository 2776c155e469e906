#include "core/client/probe.h"

#include "core/base/scope.h"
#include "core/client/asker.h"
#include "core/client/chunk.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

enum { MAX_MODELS = 1000, MAX_WORDS = 200 };

void probe_done(struct probe *p)
{
    arena_done(&p->arena);
    memset(p, 0, sizeof *p);
}

/* The value of the first of `keys` that is a whole number above 0; else 0. */
static int64_t number_of(const json_t *object, const char *const *keys, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        json_t *v = json_object_get(object, keys[i]);

        if (json_is_integer(v) && json_integer_value(v) > 0)
            return json_integer_value(v);
    }
    return 0;
}

static int64_t limit_of(const json_t *object)
{
    static const char *const keys[] = {"max_model_len", "context_length", "context_window", "n_ctx"};
    int64_t n = number_of(object, keys, 4);

    return n ? n : number_of(json_object_get(object, "meta"), keys, 4);
}

static enum status keep_words(struct probe *p, char **ret, const char *text, size_t len, struct error *err)
{
    AUTO(buf) words = {0};

    chunk_words(&words, text, len, MAX_WORDS);
    TRY(buf_check(&words, err));
    return arena_strdup(&p->arena, buf_text(&words), ret, err);
}

/* Gateways list a model once for each server that has it. */
static enum status keep_model(struct probe *p, const json_t *id, struct error *err)
{
    size_t i;

    TRY(keep_words(p, &p->models[p->n_models], json_string_value(id), json_string_length(id), err));
    for (i = 0; i < p->n_models; i++)
        if (strcmp(p->models[i], p->models[p->n_models]) == 0)
            return OK;
    p->n_models++;
    return OK;
}

/* {"data": [{"id", "owned_by", "max_model_len"}]} */
static enum status take_models(struct probe *p, const json_t *top, const char *asked, struct error *err)
{
    const json_t *list = json_object_get(top, "data"), *item;
    size_t i;

    TRY(arena_new(&p->arena, MAX_MODELS, sizeof *p->models, &p->models, err));
    json_array_foreach (list, i, item) {
        json_t *id = json_object_get(item, "id"), *owner = json_object_get(item, "owned_by");

        if (json_string_length(id) == 0 || p->n_models == MAX_MODELS)
            continue;
        TRY(keep_model(p, id, err));
        if (asked && strcmp(json_string_value(id), asked) != 0 && json_array_size(list) > 1)
            continue;
        p->context_limit = limit_of(item);
        if (json_is_string(owner) && !p->server[0])
            TRY(keep_words(p, &p->server, json_string_value(owner), json_string_length(owner), err));
    }
    return OK;
}

/* The line "server: …" of the headers. */
static enum status take_server_line(struct probe *p, const struct transfer *x, struct error *err)
{
    const char *at = buf_text(&x->headers);

    while (*at) {
        size_t len = strcspn(at, "\n");

        if (strncasecmp(at, "server:", 7) == 0) {
            size_t skip = 7 + strspn(at + 7, " \t");

            return skip < len ? keep_words(p, &p->server, at + skip, len - skip, err) : OK;
        }
        at += len + (at[len] == '\n');
    }
    return OK;
}

static enum status ask_models(struct probe *p, struct asker *a, const struct address *e, const char *asked,
                              struct error *err)
{
    json_t *top = NULL;
    enum status st;

    TRY(arena_strdup(&p->arena, "", &p->server, err));
    TRY(asker_ask(a, e->models, NULL, &top, err));
    st = take_models(p, top, asked, err);
    json_decref(top);
    return st;
}

enum status probe_models(struct probe *p, const struct transport_options *o, const struct address *e,
                         const struct head *head, struct error *err)
{
    AUTO(asker) a = {0};

    TRY(asker_init(&a, o, head, err));
    TRY(ask_models(p, &a, e, NULL, err));
    if (a.transfer.status == 0)
        return error_set(err, ERR_IO, "'%s' cannot be reached: %s: is the server running?", e->models,
                         a.transfer.failure.len ? buf_text(&a.transfer.failure) : "no answer");
    p->status = a.transfer.status;
    return OK;
}

static enum status ask(struct asker *a, const struct address *e, const char *route, json_t **ret, struct error *err)
{
    AUTO(buf) url = {0};

    buf_printf(&url, "%s%s", e->root, route);
    TRY(buf_check(&url, err));
    return asker_ask(a, buf_text(&url), NULL, ret, err);
}

/* A word more about the software: "vllm 0.6.1". */
static enum status add_server(struct probe *p, const json_t *word, struct error *err)
{
    AUTO(buf) text = {0};

    if (!json_is_string(word))
        return OK;
    buf_printf(&text, "%s%s", p->server, p->server[0] ? " " : "");
    chunk_words(&text, json_string_value(word), json_string_length(word), MAX_WORDS);
    TRY(buf_check(&text, err));
    return arena_strdup(&p->arena, buf_text(&text), &p->server, err);
}

/* vLLM and others: {"version": "0.6.1"} */
static enum status ask_version(struct probe *p, struct asker *a, const struct address *e, struct error *err)
{
    json_t *top = NULL;
    enum status st;

    TRY(ask(a, e, "/version", &top, err));
    st = add_server(p, json_object_get(top, "version"), err);
    json_decref(top);
    return st;
}

/* llama.cpp: {"default_generation_settings": {"n_ctx"}, "build_info"} */
static enum status ask_props(struct probe *p, struct asker *a, const struct address *e, struct error *err)
{
    json_t *top = NULL;
    enum status st;
    int64_t limit;

    TRY(ask(a, e, "/props", &top, err));
    limit = limit_of(json_object_get(top, "default_generation_settings"));
    if (!limit)
        limit = limit_of(top);
    if (limit)
        p->context_limit = limit;
    st = add_server(p, json_object_get(top, "build_info"), err);
    json_decref(top);
    return st;
}

enum status probe_server(struct probe *p, const struct transport_options *o, const struct address *e,
                         const struct head *head, const char *model, struct error *err)
{
    AUTO(asker) a = {0};

    TRY(asker_init(&a, o, head, err));
    TRY(ask_models(p, &a, e, model, err));
    if (a.transfer.status == 0)
        return OK; /* it is gone */
    if (!p->server[0])
        TRY(take_server_line(p, &a.transfer, err));
    TRY(ask_version(p, &a, e, err));
    return ask_props(p, &a, e, err);
}
