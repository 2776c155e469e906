#include "core/client/probe.h"

#include "core/base/clock.h"
#include "core/base/scope.h"
#include "core/client/chunk.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

/* A question that only informs must not hold anything up. */
#define PATIENCE_NS ((int64_t)5000000000)

enum { MAX_MODELS = 1000, MAX_WORDS = 200 };

void probe_done(struct probe *p)
{
    arena_done(&p->arena);
    memset(p, 0, sizeof *p);
}

static void on_end(void *ctx, struct transfer *x)
{
    bool *is_over = ctx;

    (void)x;
    *is_over = true;
}

/* One GET, waited for. */
static enum status get(struct transfer *x, const struct transport_options *o, const char *url, const struct head *head,
                       struct error *err)
{
    bool is_over = false;
    struct transport_sink sink = {.on_end = on_end, .ctx = &is_over};
    AUTO(transport) t = {0};
    enum status st = OK;

    TRY(transport_init(&t, o, sink, err));
    x->url = url;
    x->lines = head->lines;
    x->secret = head->secret;
    x->is_get = true;
    x->total_timeout_ns = PATIENCE_NS;
    TRY(transport_start(&t, x, err));
    while (st == OK && !is_over)
        st = transport_wait(&t, clock_ns() + PATIENCE_NS, err);
    if (!is_over)
        transport_stop(&t, x, "given up");
    return st;
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

/* {"data": [{"id", "owned_by", "max_model_len"}]} */
static enum status take_models(struct probe *p, const json_t *top, const char *asked, struct error *err)
{
    const json_t *list = json_object_get(top, "data"), *item;
    size_t i;

    TRY(arena_new(&p->arena, MAX_MODELS, sizeof *p->models, &p->models, err));
    json_array_foreach (list, i, item) {
        json_t *id = json_object_get(item, "id"), *owner = json_object_get(item, "owned_by");

        if (!json_is_string(id) || p->n_models == MAX_MODELS)
            continue;
        TRY(keep_words(p, &p->models[p->n_models++], json_string_value(id), json_string_length(id), err));
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

static json_t *json_of(const struct transfer *x)
{
    if (x->end != TRANSFER_WHOLE || x->status != 200)
        return NULL;
    return json_loadb(buf_text(&x->bytes), x->bytes.len, JSON_ALLOW_NUL, NULL);
}

static enum status ask_models(struct probe *p, struct transfer *x, const struct transport_options *o,
                              const struct address *e, const struct head *head, const char *asked, struct error *err)
{
    json_t *top;
    enum status st;

    TRY(arena_strdup(&p->arena, "", &p->server, err));
    TRY(get(x, o, e->models, head, err));
    top = json_of(x);
    st = take_models(p, top, asked, err);
    json_decref(top);
    return st;
}

enum status probe_models(struct probe *p, const struct transport_options *o, const struct address *e,
                         const struct head *head, struct error *err)
{
    AUTO(transfer) x = {0};

    TRY(ask_models(p, &x, o, e, head, NULL, err));
    if (x.status == 0)
        return error_set(err, ERR_IO, "'%s' cannot be reached: %s: is the server running?", e->models,
                         x.failure.len ? buf_text(&x.failure) : "no answer");
    return OK;
}

static enum status ask(struct transfer *x, const struct transport_options *o, const struct address *e,
                       const char *route, const struct head *head, json_t **ret, struct error *err)
{
    AUTO(buf) url = {0};

    buf_printf(&url, "%s%s", e->root, route);
    TRY(buf_check(&url, err));
    TRY(get(x, o, buf_text(&url), head, err));
    *ret = json_of(x);
    return OK;
}

/* vLLM and others: {"version": "0.6.1"} */
static enum status ask_version(struct probe *p, const struct transport_options *o, const struct address *e,
                               const struct head *head, struct error *err)
{
    AUTO(transfer) x = {0};
    json_t *top = NULL, *version;
    enum status st = OK;

    TRY(ask(&x, o, e, "/version", head, &top, err));
    version = json_object_get(top, "version");
    if (json_is_string(version))
        st = arena_printf(&p->arena, &p->server, err, "%s %.80s", p->server, json_string_value(version));
    json_decref(top);
    return st;
}

/* llama.cpp: {"default_generation_settings": {"n_ctx"}, "build_info"} */
static enum status ask_props(struct probe *p, const struct transport_options *o, const struct address *e,
                             const struct head *head, struct error *err)
{
    AUTO(transfer) x = {0};
    json_t *top = NULL, *build;
    enum status st = OK;
    int64_t limit;

    TRY(ask(&x, o, e, "/props", head, &top, err));
    limit = limit_of(json_object_get(top, "default_generation_settings"));
    if (!limit)
        limit = limit_of(top);
    if (limit)
        p->context_limit = limit;
    build = json_object_get(top, "build_info");
    if (json_is_string(build))
        st = arena_printf(&p->arena, &p->server, err, "%s %.80s", p->server, json_string_value(build));
    json_decref(top);
    return st;
}

enum status probe_server(struct probe *p, const struct transport_options *o, const struct address *e,
                         const struct head *head, const char *model, struct error *err)
{
    AUTO(transfer) x = {0};

    TRY(ask_models(p, &x, o, e, head, model, err));
    if (x.status == 0)
        return OK; /* it is gone */
    if (!p->server[0])
        TRY(take_server_line(p, &x, err));
    TRY(ask_version(p, o, e, head, err));
    return ask_props(p, o, e, head, err);
}
